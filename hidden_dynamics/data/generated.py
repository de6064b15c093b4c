"""Generated stand-ins: arrays of the names, types and shapes of datasets, with something in them that can be learned.

Every row, frame or image has a kind, which holds for a while; what is observed is what is usual of its kind, and noise.
Small ones are datasets of their own; `LIKE` has the sizes of downloads, for a forecast of costs without them.
"""

import math
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from hidden_dynamics.configuration.entries import Entry
from hidden_dynamics.configuration.schema import Seed, Whole
from hidden_dynamics.data.speech import BINS, HOP, RATE

Above0 = Annotated[float, Field(gt=0)]
Arrays = dict[str, np.ndarray]
NOISE = 0.5  # standard deviation; that between kinds is 1
KINDS, LASTING = 8, 8  # of a frame, and how many frames each holds, on average
UNKNOWN = 0.1  # share of the descriptors of a patient of which is said that they are not known, by -1


class Images(Entry):
    """Squares of 4 x 4 equal pixels (something smooth for a solver to see), the same for all images of a class."""

    train: Whole
    test: Whole
    side: Whole
    channels: Literal[1, 3]

    def drawn(self, random: np.random.Generator) -> Arrays:
        blocks = math.ceil(self.side / 4)
        classes = random.integers(0, 256, (10, blocks, blocks, self.channels), np.uint8)
        classes = classes.repeat(4, 1).repeat(4, 2)[:, : self.side, : self.side]
        classes = classes.reshape(10, -1) if self.channels == 1 else classes
        arrays: Arrays = {"levels": np.array(255, np.float32)}
        for split in ("train", "test"):
            labels = random.integers(0, 10, getattr(self, split), np.uint8)
            arrays |= {f"{split}_images": classes[labels], f"{split}_labels": labels}
        return arrays


class Utterances(Entry):
    """Frames in dB; the durations are uniform from `shortest` to `longest`, in milliseconds."""

    train: Whole
    validation: Whole
    test: Whole
    shortest: Whole
    longest: Whole
    seed: Seed = 0

    @model_validator(mode="after")
    def _in_order(self) -> "Utterances":
        if self.longest < self.shortest:
            raise ValueError("expected longest to be at least shortest")
        return self

    def drawn(self, random: np.random.Generator) -> Arrays:
        usual, arrays = random.standard_normal((KINDS, BINS), np.float32), Arrays()
        for split in ("train", "validation", "test"):
            samples = random.integers(self.shortest, self.longest + 1, getattr(self, split)) * RATE // 1000
            lengths = -(-samples // HOP) + 3
            kinds = held(random, random.random(lengths.sum()) < 1 / LASTING, KINDS)
            frames = usual[kinds] + NOISE * random.standard_normal((len(kinds), BINS), np.float32)
            arrays |= {f"{split}_frames": 12 * frames - 33, f"{split}_lengths": lengths}  # the levels of speech
        return arrays


class Words(Entry):
    """A text of `train` words; within a run of some, each is the one that follows in the vocabulary."""

    train: Whole
    validation: Whole
    test: Whole
    vocabulary: Whole
    seed: Seed = 0

    def drawn(self, random: np.random.Generator) -> Arrays:
        arrays = Arrays(vocabulary=np.array([f"word{number}" for number in range(self.vocabulary)]))
        for split in ("train", "validation", "test"):
            places = np.arange(getattr(self, split))
            begun = held(random, random.random(len(places)) < 1 / LASTING, self.vocabulary)
            arrays[split] = ((begun + places) % self.vocabulary).astype(np.int32)
        return arrays


class Series(Entry):
    """Irregular series, as hidden_dynamics.data.ragged has them.

    Attributes:
        rows: of a series, on average, the first at time 0.
        tick, end: times are multiples of the one up to the other.
        share: of the features that are observed in a row, beside one.
        kinds: of a row, each of which holds for so many rows on average as `lasting` says; None: for the whole series.
        labels: "died", of each series, those of one kind, where the first five features are descriptors, some of them
            -1; or "rows", the kind of each row, of which some are unread.
    """

    series: Whole
    rows: Whole
    features: Whole
    tick: Above0
    end: Above0
    share: Annotated[float, Field(ge=0, le=1)]
    kinds: Whole = 1
    lasting: Whole | None = None
    labels: Literal["died", "rows"] | None = None

    def drawn(self, random: np.random.Generator) -> Arrays:
        grid = round(self.end / self.tick) + 1
        there = random.random((self.series, grid)) < self.rows / grid
        there[:, 0] = True
        series, ticks = np.nonzero(there)
        shape = len(ticks), self.features
        kinds = held(random, (ticks == 0) | (random.random(len(ticks)) < 1 / (self.lasting or math.inf)), self.kinds)
        mask = random.random(shape) < self.share
        mask[np.arange(len(mask)), random.integers(0, self.features, len(mask))] = True
        usual, of_series = (random.standard_normal((count, self.features)) for count in (self.kinds, self.series))
        values = usual[kinds] + NOISE * (of_series[series] + random.standard_normal(shape))
        labels = {}
        if self.labels == "died":
            values[:, :5][random.random((len(values), 5)) < UNKNOWN] = -1
            labels = {"died": kinds[ticks == 0] == 0}
        elif self.labels == "rows":
            labels = {"labels": kinds, "lowest": np.where(random.random(len(kinds)) < NOISE / 25, -1, kinds)}
        return labels | {
            "times": (ticks * self.tick).astype(np.float32),
            "values": np.where(mask, values, 0).astype(np.float32),
            "mask": mask,
            "lengths": there.sum(1),
            "ids": 1 + np.arange(self.series),
        }


def held(random: np.random.Generator, new: np.ndarray, kinds: int) -> np.ndarray:
    """A kind for each of n rows, 0 to kinds - 1, drawn where a row is `new` (n,), and else that of the row before."""
    return random.integers(kinds, size=int(new.sum()) + 1)[np.cumsum(new)]


STAYS: dict[str, Any] = {"features": 41, "end": 48.0, "share": 0.12, "kinds": 4, "labels": "died"}
MOVEMENTS: dict[str, Any] = {"features": 12, "share": 0.18, "kinds": 7, "labels": "rows"}
LIKE: dict[str, Images | Utterances | Words | Series] = {
    "mnist": Images(train=60_000, test=10_000, side=28, channels=1),
    "cifar10": Images(train=50_000, test=10_000, side=32, channels=3),
    "svhn": Images(train=73_257, test=26_032, side=32, channels=3),
    # A batch is as long as its longest utterance, so durations decide what it costs.
    "timit": Utterances(train=3640, validation=192, test=400, shortest=730, longest=5370),
    "fsdd": Utterances(train=2400, validation=300, test=300, shortest=1, longest=879),
    "ptb": Words(train=929_589, validation=73_760, test=82_430, vocabulary=10_000),
    "ushcn": Series(series=1114, rows=315, features=5, tick=0.1, end=200.0, share=0.025),
    "physionet2012": Series(series=4000, rows=74, tick=0.016, **STAYS),
    "human_activity": Series(series=25, rows=6594, tick=0.01, end=165.0, lasting=300, **MOVEMENTS),
}
