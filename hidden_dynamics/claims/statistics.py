"""The rules by which a claim is decided, numbers in, numbers out: how far two samples lie apart (Welch's t, or the
paired t), the adjustment over a family."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are imported where they are first used
from numpy.typing import ArrayLike

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Sample:
    """A sample's mean, standard deviation (n - 1) and number of values.

    Attributes:
        overlap: n_test / n_train, where the values are of random parts of the same data; else 0. What the parts share
            adds to the variance of the mean: s^2 (1 / n + overlap) (Nadeau and Bengio, Machine Learning 52, 2003).
    """

    mean: float
    std: float
    n: int
    overlap: float = 0.0

    @classmethod
    def of(cls, values: ArrayLike, overlap: float = 0.0) -> "Sample":
        """The sample of two values or more, (n,)."""
        array = np.asarray(values, dtype=np.float64)
        return cls(float(array.mean()), float(array.std(ddof=1)), array.size, overlap)

    @property
    def variance(self) -> float:
        """The variance of the mean."""
        return self.std**2 * (1 / self.n + self.overlap)


@dataclass(frozen=True)
class Estimate:
    """A mean, or a difference of means, its standard error, and its whole degrees of freedom."""

    value: float
    error: float
    degrees: float

    def p(self) -> float:
        """Two-sided."""
        return float(2 * scipy.special.stdtr(self.degrees, -abs(self.value / self.error)))

    def p_above(self) -> float:
        """One-sided, of a value that is not above 0."""
        return float(scipy.special.stdtr(self.degrees, -self.value / self.error))

    def interval(self, level: float) -> tuple[float, float]:
        half = float(scipy.special.stdtrit(self.degrees, (1 + level) / 2)) * self.error
        return self.value - half, self.value + half


def welch(one: Sample, other: Sample) -> Estimate | None:
    """The first mean less the second, which is independent of it; None where there is no spread to hold it to.

    The degrees of freedom are Satterthwaite's (1946), rounded down; where the samples differ in size, those of the
    smaller alone. Fractional ones call 6 % of true zeros a difference with two or three values a side, and Welch's
    own, with two against five, 8 times as many as a small level allows.
    """
    variance, largest = one.variance + other.variance, max(abs(one.mean), abs(other.mean))
    if not variance > (EPS * max(largest, 1e-300)) ** 2:
        return None
    degrees = min(one.n, other.n) - 1
    if one.n == other.n:
        satterthwaite = degrees * variance**2 / (one.variance**2 + other.variance**2)
        degrees = max(1, math.floor(satterthwaite + 1e-9))  # but for what rounding takes from a whole number
    return Estimate(one.mean - other.mean, math.sqrt(variance), degrees)


def paired(one: ArrayLike, other: ArrayLike, overlap: float = 0.0) -> Estimate | None:
    """The mean of the differences seed by seed; None where all are one number.

    Args:
        one, other: (seeds,), of the same seeds in the same order; the second may be one number.
    """
    arrays = [np.asarray(values, dtype=np.float64) for values in (one, other)]
    sample = Sample.of(arrays[0] - arrays[1], overlap)
    largest = max(float(np.abs(array).max()) for array in arrays)
    if not sample.std > 4 * EPS * max(largest, 1e-300):  # what rounding leaves is no spread
        return None
    return Estimate(sample.mean, math.sqrt(sample.variance), sample.n - 1)


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted p, in the order given (Holm 1979)."""
    adjusted, largest = [0.0] * len(p), 0.0
    for rank, index in enumerate(sorted(range(len(p)), key=lambda index: p[index])):
        largest = max(largest, min(1.0, (len(p) - rank) * p[index]))
        adjusted[index] = largest
    return adjusted
