"""The schedule of a run: its iterations, their epochs and examples, its evaluations."""

import functools
import math
from bisect import bisect_right
from itertools import accumulate
from typing import Any

import numpy as np

from hidden_dynamics.configuration.spec import Training
from hidden_dynamics.data.streams import generator
from hidden_dynamics.errors import UserError

# Of AWD-LSTM's segments (facts of the released code, which builds on it).
HALVED = 0.05  # how often the mean length is half of what it is otherwise
DEVIATION, SHORTEST = 5, 5  # steps


class Schedule:
    """Batches of examples in an order drawn anew for each epoch, or always the same, or of data drawn without end.

    Every schedule is a class of this module.

    Args:
        training: `epochs`, `batch_size`, and for endless data `iterations_per_epoch`; `evaluate_every` iterations
            (default: an epoch's); `drop_last`, whether an epoch leaves out the examples that fill no batch;
            `fixed_batches`, whether all epochs take the examples in the task's own order; `rates`: the learning rates
            are multiplied by `scale`, by `factor` after each of the epochs `drops`, and by `decay` in every iteration,
            the first one included, until `floor` is left of them by that; no more than `until` epochs, which may be a
            fraction, are trained (one iteration at least).
        train_size: examples in an epoch, or None for endless data. The last batch of an epoch may be smaller.

    Attributes:
        iterations: of the whole training.
        samples_per_epoch: sequences that an epoch trains on.
        total_work: of the whole training, in the units of `work`.
    """

    def __init__(self, training: Training, train_size: int | None, seed: int):
        self.batch_size, self.train_size, self.seed = training["batch_size"], train_size, seed
        self.per_epoch = _batches(training, train_size)
        self.rates: dict[str, Any] = training.get("rates", {})
        self.fixed = training.get("fixed_batches", False)
        epochs = min(training["epochs"], self.rates.get("until", math.inf))
        self.iterations = max(1, math.floor(epochs * self.per_epoch))
        self.evaluate_every = training.get("evaluate_every") or self.per_epoch
        whole = None if training.get("drop_last") else train_size
        self.samples_per_epoch = self.per_epoch * self.batch_size if whole is None else whole
        self.total_work = self.iterations

    def indices(self, iteration: int) -> tuple[int, tuple[int, int] | np.ndarray]:
        """The epoch of an iteration (both from 0), and what the task's `batch` takes for it."""
        epoch, position = divmod(iteration, self.per_epoch)
        if self.train_size is None:
            return epoch, (iteration, self.batch_size)
        order = np.arange(self.train_size) if self.fixed else _order(self.seed, epoch, self.train_size)
        return epoch, order[position * self.batch_size : (position + 1) * self.batch_size]

    def evaluates(self, iteration: int) -> bool:
        """True where an evaluation follows the first `iteration` iterations."""
        return iteration > 0 and (iteration % self.evaluate_every == 0 or iteration == self.iterations)

    def epochs(self, iteration: int) -> float:
        """The number of epochs in the first `iteration` iterations."""
        return iteration / self.per_epoch

    def rate(self, iteration: int) -> float:
        """The factor on the learning rates of an iteration."""
        drops = sum(iteration >= epoch * self.per_epoch for epoch in self.rates.get("drops", []))
        decayed = max(self.rates.get("floor", 0.0), self.rates.get("decay", 1.0) ** (iteration + 1))
        return self.rates.get("scale", 1.0) * self.rates.get("factor", 1.0) ** drops * decayed

    def work(self, iteration: int) -> int:
        """The measure with which an iteration's time grows: here all are alike."""
        return 1


def _batches(training: Training, train_size: int | None) -> int:
    """The iterations of an epoch."""
    if train_size is None:
        return training.get("iterations_per_epoch", 1)
    if not training.get("drop_last"):
        return math.ceil(train_size / training["batch_size"])
    if train_size < training["batch_size"]:
        raise UserError(f"drop_last: {train_size} examples do not fill a batch of {training['batch_size']}.")
    return train_size // training["batch_size"]


class SegmentSchedule:
    """Consecutive segments of a text for truncated backpropagation, their lengths drawn anew for each epoch (AWD-LSTM,
    Merity, Keskar and Socher 2018, Section 4.1). The learning rates are multiplied by length / bptt;
    the last segment of an epoch, which the end of the text cuts short, keeps the rate of its drawn length, as there.

    Args:
        training: `epochs` and `batch_size`; `evaluate_every` iterations (default: after each epoch).
        bptt: mean length of a segment, in words; half of it for one segment in twenty.
    """

    def __init__(self, training: Training, words: int, bptt: int, seed: int):
        unknown = {"rates", "drop_last", "fixed_batches"} & set(training)
        if unknown:
            raise UserError(f"training.{min(unknown)}: it is for batches of examples, not for segments of a text.")
        self.batch_size, self.bptt, self.seed = training["batch_size"], bptt, seed
        self.rows = words // self.batch_size
        if self.rows < 3:
            raise UserError(f"a training text of {words} words is too short for a batch_size of {self.batch_size}.")
        counts = [len(_segments(self.rows, bptt, seed, epoch)) for epoch in range(training["epochs"])]
        self.starts = [0, *accumulate(counts)]
        self.iterations = self.starts[-1]
        self.every = training.get("evaluate_every")
        self.samples_per_epoch = counts[0] * self.batch_size
        self.total_work = (self.rows - 1) * len(counts)

    def indices(self, iteration: int) -> tuple[int, tuple[int, int, int]]:
        """The epoch of an iteration, and (first row, rows, batch size) of its segment; a row is a word of each text
        of the batch."""
        epoch, position = self._place(iteration)
        start, length, _ = _segments(self.rows, self.bptt, self.seed, epoch)[position]
        return epoch, (start, length, self.batch_size)

    def evaluates(self, iteration: int) -> bool:
        if self.every is None:
            return iteration > 0 and self._place(iteration)[1] == 0
        return iteration > 0 and (iteration % self.every == 0 or iteration == self.iterations)

    def epochs(self, iteration: int) -> float:
        epoch, position = self._place(iteration)
        return epoch + (position / (self.starts[epoch + 1] - self.starts[epoch]) if position else 0)

    def rate(self, iteration: int) -> float:
        epoch, position = self._place(iteration)
        return _segments(self.rows, self.bptt, self.seed, epoch)[position][2] / self.bptt

    def work(self, iteration: int) -> int:
        """The rows of an iteration's segment."""
        return self.indices(iteration)[1][1]

    def _place(self, iteration: int) -> tuple[int, int]:
        """The epoch and the position in it; after the last iteration, the epoch after the last and 0."""
        epoch = bisect_right(self.starts, iteration) - 1
        return epoch, iteration - self.starts[epoch]


AnySchedule = Schedule | SegmentSchedule


@functools.lru_cache(maxsize=1)  # every iteration of an epoch asks for it, and drawing it takes a millisecond on MNIST
def _order(seed: int, epoch: int, size: int) -> np.ndarray:
    """The order in which an epoch goes through the training set: (size,), int64."""
    return generator(seed, "order", epoch).permutation(size)


@functools.lru_cache(maxsize=2)
def _segments(rows: int, bptt: int, seed: int, epoch: int) -> list[tuple[int, int, int]]:
    """(first row, rows, rows as drawn) of the segments of an epoch: of at least two rows, between which temporal
    regularisation is taken. They cover all rows but the last, which is a target alone, and at times one more."""
    random = generator(seed, "segments", epoch)
    draws = rows // SHORTEST + 1
    means = np.where(random.random(draws) < HALVED, bptt / 2, bptt)
    lengths = np.maximum(SHORTEST, random.normal(means, DEVIATION).astype(np.int64))
    ends = lengths.cumsum()
    starts = np.concatenate([[0], ends[ends < rows - 2]])
    return [
        (int(start), min(int(drawn), rows - 1 - int(start)), int(drawn))
        for start, drawn in zip(starts, lengths, strict=False)
    ]
