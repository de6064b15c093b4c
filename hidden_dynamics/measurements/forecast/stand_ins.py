"""Random arrays of the shapes of what is downloaded: the forecast measures on them where data are not prepared."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hidden_dynamics.configuration.schema import Dataset
from hidden_dynamics.data.preparing import module_of
from hidden_dynamics.data.speech import BINS, HOP, RATE
from hidden_dynamics.data.streams import generator
from hidden_dynamics.errors import UserError

Arrays = dict[str, np.ndarray]


def stand_in(name: str, dataset: Dataset, settings: Mapping[str, object]) -> Arrays:
    """Arrays of a dataset's names, types and shapes; of what needs no download, the arrays. A `UserError` where no
    shapes of it stand here."""
    if not (dataset.files or dataset.own_copy):
        return module_of(name, dataset).prepare(Path(), settings)
    if name not in SHAPES:
        raise UserError(f"{dataset.title} has to be prepared before it can be measured on.", key=name)
    return SHAPES[name](settings)


def images(train: int, test: int, side: int, channels: int) -> Arrays:
    """Images in squares of 4 x 4 equal pixels (something smooth for a solver to see), and labels in ten classes."""
    random, blocks = generator(0, "stand-in"), -(-side // 4)
    different = random.integers(0, 256, (256, blocks, blocks, channels), np.uint8)
    different = different.repeat(4, 1).repeat(4, 2)[:, :side, :side]
    different = different.reshape(256, side * side) if channels == 1 else np.ascontiguousarray(different)
    arrays: Arrays = {"levels": np.array(255, np.float32)}
    for split, count in {"train": train, "test": test}.items():
        arrays[f"{split}_images"] = np.resize(different, (count, *different.shape[1:]))
        arrays[f"{split}_labels"] = random.integers(0, 10, count).astype(np.uint8)
    return arrays


def utterances(train: int, validation: int, test: int, median: float, deviation: float) -> Arrays:
    """Frames of noise; the durations in seconds are log-normal, `deviation` that of their logarithm.

    A batch is as long as its longest utterance, so the durations decide what it costs.
    """
    random = generator(0, "stand-in")
    noise = random.normal(0.0, 20.0, (RATE // HOP, BINS)).astype(np.float32)  # a second of it, again and again
    arrays = {}
    for split, count in {"train": train, "validation": validation, "test": test}.items():
        lengths = np.ceil(random.lognormal(math.log(median), deviation, count) * RATE / HOP) + 3
        arrays[f"{split}_frames"] = np.resize(noise, (int(lengths.sum()), BINS))
        arrays[f"{split}_lengths"] = lengths.astype(np.int64)
    return arrays


def words(train: int, validation: int, test: int, vocabulary: int) -> Arrays:
    """Words that are all equally likely."""
    random, counts = generator(0, "stand-in"), {"train": train, "validation": validation, "test": test}
    arrays = {split: random.integers(0, vocabulary, count).astype(np.int32) for split, count in counts.items()}
    return arrays | {"vocabulary": np.array([f"word{index}" for index in range(vocabulary)])}


def series(count: int, rows: int, features: int, end: float, tick: float = 0.1, share: float = 0.025) -> Arrays:
    """Irregular series, each with `rows` of the times that are multiples of a tick up to `end`.

    Args:
        share: of the features that are observed in a row, beside one.
    """
    random, grid = generator(0, "stand-in"), round(end / tick) + 1
    length = min(rows, grid)
    ticks = np.sort(random.permuted(np.tile(np.arange(grid), (count, 1)), axis=1)[:, :length], axis=1)
    mask = random.random((count * length, features)) < share
    mask[np.arange(len(mask)), random.integers(0, features, len(mask))] = True
    return {
        "times": (ticks.reshape(-1) * tick).astype(np.float32),
        "values": np.where(mask, random.standard_normal(mask.shape), 0).astype(np.float32),
        "mask": mask,
        "lengths": np.full(count, length, np.int64),
        "ids": np.arange(count, dtype=np.int64),
    }


def _stays(settings: Mapping[str, Any]) -> Arrays:
    stays = 4000 * len(settings.get("sets", ["a"]))
    arrays = series(stays, 75, 41, 48.0, settings.get("quantisation", 0.016), share=0.12)
    return arrays | {"died": np.arange(stays) % 7 == 0}


def _movements(settings: Mapping[str, Any]) -> Arrays:
    arrays = series(25, 6594, 12, 165.0, 0.01, share=0.18)
    labels = np.arange(len(arrays["times"])) // 200 % 7
    return arrays | {"labels": labels, "lowest": labels.copy()}


SHAPES: dict[str, Callable[[Mapping[str, Any]], Arrays]] = {
    "mnist": lambda settings: images(60_000, 10_000, settings.get("side", 28), channels=1),
    "cifar10": lambda settings: images(50_000, 10_000, settings.get("side", 32), channels=3),
    "svhn": lambda settings: images(73_257, 26_032, settings.get("side", 32), channels=3),
    "timit": lambda settings: utterances(3640, 192, 400, median=2.93, deviation=0.28),
    "fsdd": lambda settings: utterances(2400, 300, 300, median=0.41, deviation=0.36),
    "ptb": lambda settings: words(settings.get("words", 929_589), 73_760, 82_430, vocabulary=10_000),
    "physionet2012": _stays,
    "human_activity": _movements,
    "ushcn": lambda settings: series(1114, 315, 5, 200.0),
}
