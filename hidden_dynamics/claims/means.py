"""Means: the t of their difference, paired or not, whether it is within a margin, and Hedges' g.

Welch (1947) lets the variances differ; the degrees of freedom are Satterthwaite's. Equivalence is two one-sided tests
(Schuirmann 1987). Hedges' g (1981) is the difference in standard deviations, without the bias of few values.

Where values are of random parts of the same data, which are trained and tested on anew, what the parts share adds to
the variance of their mean: s^2 / n becomes s^2 (1 / n + n_test / n_train), with n - 1 degrees of freedom (the corrected
resampled t test: Nadeau and Bengio, Machine Learning 52, 2003).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import gammaln, stdtr, stdtrit

ROUNDING = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Difference:
    """Mean of the subject less that of the reference, or a sum of means; its standard error, its degrees of freedom.

    Attributes:
        safe_degrees: those where every sample has as few values as the smallest; None where they are no others.
    """

    estimate: float
    error: float
    degrees: float
    safe_degrees: float | None = None

    @property
    def p(self) -> float:
        """Two-sided, for a difference of 0."""
        return float(2 * stdtr(self.degrees, -abs(self.estimate) / self.error))

    def p_beyond(self, sign: int) -> float:
        """One-sided, for a difference on this side of 0."""
        return float(stdtr(self.degrees, -sign * self.estimate / self.error))

    def cautious(self) -> "Difference":
        """With whole degrees of freedom, rounded down, as if every sample had as few values as the smallest.

        With two or three values a side, fractional degrees call 6 % of true zeros a difference, where 5 % are asked
        for and the standard deviations differ tenfold; whole ones keep within 5 %. With two values against five,
        Welch's degrees call 8 times as many true zeros a difference as a small level allows; these keep within it
        (tests/test_claims_statistics.py).
        """
        degrees = self.degrees if self.safe_degrees is None else self.safe_degrees
        return Difference(self.estimate, self.error, whole(degrees))

    def less(self, amount: float) -> "Difference":
        """The difference less a constant."""
        return replace(self, estimate=self.estimate - amount)

    def interval(self, level: float) -> tuple[float, float]:
        """The confidence interval of the difference."""
        half = float(stdtrit(self.degrees, (1 + level) / 2)) * self.error
        return self.estimate - half, self.estimate + half


@dataclass(frozen=True)
class Sample:
    """A sample's summary: mean, standard deviation (n - 1) and number of values.

    Attributes:
        resampled: n_test / n_train, where the values are of random parts of the same data; else 0.
    """

    mean: float
    std: float
    n: int
    resampled: float = 0.0

    @classmethod
    def of(cls, values: Sequence[float], resampled: float = 0.0) -> "Sample":
        values = np.asarray(values, dtype=np.float64)
        return cls(float(values.mean()), float(values.std(ddof=1)), values.size, resampled)

    @property
    def share(self) -> float:
        """The variance of the mean, in those of a value."""
        return 1 / self.n + self.resampled


def welch(subject: Sample, reference: Sample) -> Difference | None:
    """The difference of the means, or None where there is no spread to hold it to.

    A constant is a `Sample` of infinite n and no deviation: the t is then that of one sample (`against`).

    Raises:
        ValueError: a side has fewer than two values.
    """
    return combination([(1, subject), (-1, reference)])


def against(sample: Sample, number: float) -> Difference | None:
    """The difference of a mean from a number, with n - 1 degrees of freedom; None where there is no spread."""
    return welch(sample, Sample(number, 0.0, math.inf))


def combination(parts: Sequence[tuple[float, Sample]]) -> Difference | None:
    """The sum of weight x mean over independent samples, or None where there is no spread to hold it to.

    The degrees of freedom are Satterthwaite's (1946). With the weights (1, -1) it is Welch's t; with (1, -1, -1, 1) it
    says whether one gain is larger than another.

    Raises:
        ValueError: a sample has fewer than two values.
    """
    sizes = [sample.n for _, sample in parts]
    if min(sizes) < 2:
        raise ValueError(f"two values on each side are needed, found {' and '.join(map(str, sizes))}")
    variances = [weight**2 * sample.std**2 * sample.share for weight, sample in parts]
    largest = max(abs(weight * sample.mean) for weight, sample in parts)
    variance = sum(variances)
    if not variance > (ROUNDING * max(largest, 1e-300)) ** 2:
        return None
    estimate = sum(weight * sample.mean for weight, sample in parts)
    degrees = satterthwaite(variances, [size - 1 for size in sizes])
    fewest = min(sizes)
    safe = None if fewest == max(sizes) else satterthwaite(variances, [fewest - 1] * len(sizes))
    return Difference(estimate, math.sqrt(variance), degrees, safe)


def satterthwaite(variances: Sequence[Any], degrees: Sequence[float]) -> Any:
    """The degrees of freedom of a sum of variances, each with its own; numbers, or arrays of them."""
    return sum(variances) ** 2 / sum(one**2 / own for one, own in zip(variances, degrees, strict=True))


def whole(degrees: Any) -> Any:
    """Rounded down, but for what rounding errors take from a whole number; at least 1; a number, or an array."""
    if isinstance(degrees, np.ndarray):
        return np.maximum(1.0, np.floor(degrees + 1e-9))
    return max(1.0, math.floor(degrees + 1e-9))


def paired(subject: Sequence[float], reference: Sequence[float], resampled: float = 0.0) -> Difference | None:
    """The mean of the differences seed by seed, n - 1 degrees of freedom; None where all are one number.

    Args:
        subject, reference: of the same seeds, in the same order.
        resampled: as of a `Sample`.

    Raises:
        ValueError: the numbers of seeds differ, or are fewer than two.
    """
    if len(subject) != len(reference) or len(subject) < 2:
        raise ValueError(f"two pairs or more are needed, found {len(subject)} and {len(reference)} values")
    differences = Sample.of(np.subtract(subject, reference), resampled)
    scale = float(np.abs([subject, reference]).max())  # what rounding leaves of equal differences is no spread
    if not differences.std > 4 * ROUNDING * max(scale, 1e-300):
        return None
    return Difference(differences.mean, differences.std * math.sqrt(differences.share), differences.n - 1)


@dataclass(frozen=True)
class Equivalence:
    """`within` says on which side of the margin the estimate is; `p` is that of the test for this side."""

    within: bool
    p: float


def equivalence(difference: Difference, margin: float) -> Equivalence:
    """Test |difference| < margin where the estimate is within the margin, |difference| > margin where it is not.

    Within: two one-sided tests, p is the larger of theirs, not doubled. The test rejects where estimate +- t(1 - a)
    errors are both within the margin, t(q) being the quantile. For a true difference of +margin or more that needs
    (estimate - true) / error < -t(1 - a), which has a chance of a; likewise for -margin or less. So "within" is false
    with a chance of a at most, and it is a where the truth is the margin and the error is small.

    Outside: the smaller p of the two tests, doubled. The test rejects where the estimate is t(1 - a/2) errors beyond
    one of the margin's two ends. For a true difference within the margin either end is that far off with a chance of
    a/2 at most, so "outside" is false with a chance of a at most: a/2 at the margin where the error is small, a where
    the margin goes to 0, where this is the two-sided t test of 0. Not doubled, it would be 2a there.

    Args:
        margin: in the units of the difference, above 0.
    """
    inner = (abs(difference.estimate) - margin) / difference.error
    if inner < 0:  # the nearer end of the margin has the larger p
        return Equivalence(True, float(stdtr(difference.degrees, inner)))
    return Equivalence(False, float(2 * stdtr(difference.degrees, -inner)))


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
