"""Arrays with the shapes of each dataset, for timing where the data itself is not there: nothing is downloaded.

Their content is random: images are blocks of 4 x 4 equal pixels, so that a solver has something smooth to see; words
are equally likely. The counts are those that the modules in hidden_dynamics.data hold their files to.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hidden_dynamics.data import adding, copying
from hidden_dynamics.data.speech import BINS, HOP, RATE
from hidden_dynamics.data.streams import generator
from hidden_dynamics.errors import UserError

Arrays = dict[str, np.ndarray]

# (training, test) images, side, channels, levels. Of digits, the side is multiplied by `enlarge`.
IMAGES = {
    "mnist": (60_000, 10_000, 28, 1, 255),
    "digits": (1_437, 360, 8, 1, 16),
    "svhn": (73_257, 26_032, 32, 3, 255),
    "cifar10": (50_000, 10_000, 32, 3, 255),
}
# Utterances of each split, and the range of their lengths in milliseconds, which are drawn evenly from it. The means
# are those of the corpora: 3.05 s (TIMIT's training set is 3.14 hours without SA1 and SA2), 0.44 s.
SPEECH = {"timit": ((3640, 192, 400), (1500, 4600)), "fsdd": ((2400, 300, 300), (240, 640))}
# Words of train, validation and test, and the vocabulary; python_topics as Python 3.11 has them, at most `vocabulary`.
TEXTS = {"ptb": ((929_589, 73_760, 82_430), 10_000), "python_topics": ((36_065, 4_173, 4_182), 1_000)}
DIFFERENT = 256  # images and utterances that are drawn; the others are copies


def arrays_like(dataset: str, settings: Mapping[str, Any]) -> Arrays:
    """Random arrays of a dataset's names, types and shapes.

    Raises:
        UserError: the shapes of this dataset are not known.
    """
    random = generator(0, "stand-in", dataset)
    if dataset == "copying":
        return copying.prepare(None, dict(settings))
    if dataset == "adding":
        return adding.prepare(None, dict(settings))
    if dataset in IMAGES:
        return _images(random, *IMAGES[dataset], settings.get("enlarge", 1))
    if dataset in TEXTS:
        splits, words = TEXTS[dataset]
        return _texts(random, splits, min(words, settings.get("vocabulary", words)))
    if dataset in SPEECH:
        return _speech(random, *SPEECH[dataset])
    if dataset == "synthetic_speech":
        splits = tuple(settings[split] for split in ("train", "validation", "test"))
        return _speech(random, splits, (settings["shortest"], settings["longest"]))
    raise UserError(
        f"the shapes of the dataset {dataset} are not known before it is prepared: make its file first "
        "(snakemake --cores 1 data/prepared/<name>.npz), or add them to hidden_dynamics/forecast/stand_ins.py."
    )


def _images(
    random: np.random.Generator, train: int, test: int, side: int, channels: int, levels: int, n: int
) -> Arrays:
    side *= n
    blocks = random.integers(0, levels + 1, (DIFFERENT, -(-side // 4), -(-side // 4), channels), np.uint8)
    images = blocks.repeat(4, 1).repeat(4, 2)[:, :side, :side]
    images = images.reshape(DIFFERENT, side * side) if channels == 1 else np.ascontiguousarray(images)
    arrays: Arrays = {"levels": np.array(levels, np.float32)}
    for split, count in (("train", train), ("test", test)):
        arrays[f"{split}_images"] = np.resize(images, (count, *images.shape[1:]))
        arrays[f"{split}_labels"] = random.integers(0, 10, count).astype(np.uint8)
    return arrays


def _texts(random: np.random.Generator, words: tuple[int, ...], vocabulary: int) -> Arrays:
    splits = zip(("train", "validation", "test"), words, strict=True)
    arrays = {split: random.integers(0, vocabulary, count).astype(np.int32) for split, count in splits}
    return arrays | {"vocabulary": np.array([f"word{index}" for index in range(vocabulary)])}


def _speech(random: np.random.Generator, counts: tuple[int, ...], milliseconds: tuple[int, int]) -> Arrays:
    arrays: Arrays = {}
    spectrum = random.normal(0.0, 20.0, (DIFFERENT, BINS)).astype(np.float32)
    for split, count in zip(("train", "validation", "test"), counts, strict=True):
        samples = random.integers(milliseconds[0], milliseconds[1] + 1, count) * RATE // 1000
        lengths = -(-samples // HOP) + 3
        arrays[f"{split}_frames"] = np.resize(spectrum, (int(lengths.sum()), BINS))
        arrays[f"{split}_lengths"] = lengths.astype(np.int64)
    return arrays
