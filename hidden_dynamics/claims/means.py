"""Two means: Welch's t of their difference, whether it is within a margin, and Hedges' g.

Welch (1947) lets the variances differ; the degrees of freedom are Satterthwaite's. Equivalence is two one-sided tests
(Schuirmann 1987), both ways. Hedges' g (1981) is the difference in standard deviations, without the bias of few values.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, stdtr, stdtrit


@dataclass(frozen=True)
class Difference:
    """Mean of the subject less that of the reference, its standard error and its degrees of freedom."""

    estimate: float
    error: float
    degrees: float

    @property
    def p(self) -> float:
        """Two-sided, for a difference of 0."""
        return float(2 * stdtr(self.degrees, -abs(self.estimate) / self.error))

    def cautious(self) -> "Difference":
        """With whole degrees of freedom, rounded down.

        With two or three values a side, fractional degrees call 6 % of true zeros a difference, where 5 % are asked
        for and the standard deviations differ tenfold; whole ones keep within 5 % (tests/test_claims_statistics.py).
        """
        return Difference(self.estimate, self.error, max(1.0, math.floor(self.degrees + 1e-9)))

    def less(self, amount: float) -> "Difference":
        """The difference less a constant."""
        return Difference(self.estimate - amount, self.error, self.degrees)

    def interval(self, level: float) -> tuple[float, float]:
        """The confidence interval of the difference."""
        half = float(stdtrit(self.degrees, (1 + level) / 2)) * self.error
        return self.estimate - half, self.estimate + half


@dataclass(frozen=True)
class Sample:
    """A sample's summary: mean, standard deviation (n - 1) and number of values."""

    mean: float
    std: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Sample":
        values = np.asarray(values, dtype=np.float64)
        return cls(float(values.mean()), float(values.std(ddof=1)), values.size)


def welch(subject: Sample, reference: Sample) -> Difference | None:
    """The difference of the means, or None where there is no spread to hold it to.

    A published number without a standard deviation is a `Sample` of infinite n: the t is then that of one sample.

    Raises:
        ValueError: a side has fewer than two values.
    """
    if min(subject.n, reference.n) < 2:
        raise ValueError(f"two values on each side are needed, found {subject.n} and {reference.n}")
    parts = [side.std**2 / side.n for side in (subject, reference)]
    variance = sum(parts)
    if not variance > np.finfo(float).eps ** 2 * max(abs(subject.mean), abs(reference.mean), 1e-300) ** 2:
        return None
    weights = [(part / variance) ** 2 / (side.n - 1) for part, side in zip(parts, (subject, reference), strict=True)]
    error, degrees = math.sqrt(variance), 1 / sum(weights)
    return Difference(subject.mean - reference.mean, error, degrees)


@dataclass(frozen=True)
class Equivalence:
    """`within` says which of the two is the better supported; `p` is twice the smaller p of the two, at most 1.

    So each of the two errors (calling within what is outside, and outside what is within) has at most the level of p.
    """

    within: bool
    p: float


def equivalence(difference: Difference, margin: float) -> Equivalence:
    """Test |difference| < margin against |difference| > margin.

    Args:
        margin: in the units of the difference, above 0.
    """
    above = stdtr(
        difference.degrees, (difference.estimate - margin) / difference.error
    )  # against: it is +margin or more
    below = stdtr(difference.degrees, (-margin - difference.estimate) / difference.error)  # against: -margin or less
    inside, outside = max(above, below), min(1 - above, 1 - below)
    return Equivalence(bool(inside <= outside), min(1.0, 2 * float(min(inside, outside))))


def hedges_g(subject: Sequence[float], reference: Sequence[float]) -> float:
    """(mean of the subject - mean of the reference) / pooled standard deviation x J(degrees); nan without spread."""
    degrees = len(subject) + len(reference) - 2
    squares = sum((len(values) - 1) * np.var(values, ddof=1) for values in (subject, reference))
    if degrees < 2 or squares == 0:
        return math.nan
    pooled = math.sqrt(squares / degrees)
    return float((np.mean(subject) - np.mean(reference)) / pooled * correction(degrees))


def correction(degrees: int) -> float:
    """J(m) = Gamma(m/2) / (sqrt(m/2) Gamma((m-1)/2)), exactly."""
    return math.exp(gammaln(degrees / 2) - gammaln((degrees - 1) / 2)) / math.sqrt(degrees / 2)
