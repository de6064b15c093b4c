"""The rules by which a claim is decided: numbers in, numbers out.

In the order in which they are asked: how far two samples lie apart (Welch's t, or the paired t), whether that is within
a margin (two one-sided tests), whether two orders agree (Kendall's tau), Holm's adjustment over a family, what a test
can find, and how large a difference is in standard deviations.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, nctdtrinc, stdtr, stdtrit

FEWEST = 3  # values of a sample that is tested: of two, a gap of ten deviations is found in half of all cases
POWER = 0.8
EPS = float(np.finfo(float).eps)


# -------------------------------------------------------------------------------------------------------- Differences


@dataclass(frozen=True)
class Sample:
    """A sample's mean, standard deviation (n - 1) and number of values.

    Attributes:
        overlap: n_test / n_train, where the values are of random parts of the same data; else 0. What the parts share
            adds to the variance of the mean: s^2 (1 / n + overlap) (Nadeau and Bengio, Machine Learning 52, 2003).
    """

    mean: float
    std: float
    n: float
    overlap: float = 0.0

    @classmethod
    def of(cls, values: ArrayLike, overlap: float = 0.0) -> "Sample":
        """Of two values or more, (n,)."""
        array = np.asarray(values, dtype=np.float64)
        return cls(float(array.mean()), float(array.std(ddof=1)), array.size, overlap)

    @property
    def variance(self) -> float:
        """Of the mean."""
        return self.std**2 * (1 / self.n + self.overlap)


@dataclass(frozen=True)
class Estimate:
    """A weighted sum of means, its standard error, and its whole degrees of freedom."""

    value: float
    error: float
    degrees: float

    def t(self, null: float = 0.0) -> float:
        return (self.value - null) / self.error

    def p(self, null: float = 0.0) -> float:
        """Two-sided."""
        return float(2 * stdtr(self.degrees, -abs(self.t(null))))

    def p_above(self) -> float:
        """One-sided, of a value that is not above 0."""
        return float(stdtr(self.degrees, -self.t()))

    def interval(self, level: float) -> tuple[float, float]:
        half = float(stdtrit(self.degrees, (1 + level) / 2)) * self.error
        return self.value - half, self.value + half


def welch(samples: Sequence[Sample], weights: Sequence[float] = (1, -1)) -> Estimate | None:
    """The weighted sum of independent means; None where there is no spread to hold it to.

    The degrees of freedom are Satterthwaite's (1946), rounded down; where the samples differ in size, those of the
    smallest alone. Fractional ones call 6 % of true zeros a difference with two or three values a side, and Welch's
    own, with two against five, 8 times as many as a small level allows. A number without error has infinite n.
    """
    variances = [weight**2 * sample.variance for weight, sample in zip(weights, samples, strict=True)]
    largest = max(abs(weight * sample.mean) for weight, sample in zip(weights, samples, strict=True))
    variance = sum(variances)
    if not variance > (EPS * max(largest, 1e-300)) ** 2:
        return None
    sizes = [sample.n for sample in samples if math.isfinite(sample.n)]
    degrees = float(satterthwaite(variances, sizes[0])) if len(set(sizes)) == 1 else min(sizes) - 1
    value = sum(weight * sample.mean for weight, sample in zip(weights, samples, strict=True))
    return Estimate(value, math.sqrt(variance), degrees)


def satterthwaite(variances: Sequence[ArrayLike], n: float) -> NDArray:
    """The degrees of freedom of a sum of variances, each from n values, rounded down; of arrays one by one."""
    each = [np.asarray(variance, dtype=np.float64) for variance in variances]
    degrees = (n - 1) * sum(each) ** 2 / sum(variance**2 for variance in each)
    return np.maximum(1.0, np.floor(degrees + 1e-9))  # but for what rounding errors take from a whole number


def paired(values: Sequence[ArrayLike], weights: Sequence[float] = (1, -1), overlap: float = 0.0) -> Estimate | None:
    """The mean of the weighted sums seed by seed; None where all are one number.

    Args:
        values: of each sample, (seeds,), of the same seeds in the same order.
    """
    sums = sum(weight * np.asarray(each, dtype=np.float64) for weight, each in zip(weights, values, strict=True))
    sample = Sample.of(sums, overlap)
    scale = float(np.abs(np.asarray(values)).max())  # what rounding leaves of equal sums is no spread
    if not sample.std > 4 * EPS * max(scale, 1e-300):
        return None
    return Estimate(sample.mean, math.sqrt(sample.variance), sample.n - 1)


def equivalence(estimate: Estimate, margin: float) -> tuple[bool, float]:
    """(whether the estimate is within the margin, p of the test of that side).

    Within: two one-sided tests (Schuirmann 1987); p is the larger of theirs, not doubled. A true difference of the
    margin or more is called within it with a chance of the level at most. Outside: the smaller p, doubled, because
    either end of the margin may be passed; as the margin goes to 0, this is the two-sided t test of 0.

    Args:
        margin: in the units of the estimate, above 0.
    """
    inner = (abs(estimate.value) - margin) / estimate.error
    if inner < 0:
        return True, float(stdtr(estimate.degrees, inner))
    return False, float(2 * stdtr(estimate.degrees, -inner))


def hedges_g(value: float, samples: Sequence[Sample]) -> float:
    """A difference in the samples' pooled standard deviations, without the bias of few values; nan without spread.

    g = value / s J(m), J(m) = Gamma(m/2) / (sqrt(m/2) Gamma((m-1)/2)), m the degrees of freedom (Hedges 1981).
    """
    degrees = sum(sample.n - 1 for sample in samples)
    squares = sum((sample.n - 1) * sample.std**2 for sample in samples)
    if degrees < 2 or not squares:
        return math.nan
    correction = math.exp(gammaln(degrees / 2) - gammaln((degrees - 1) / 2)) / math.sqrt(degrees / 2)
    return value / math.sqrt(squares / degrees) * correction


# ------------------------------------------------------------------------------------------------------------- Orders

Ties = tuple[int, ...]  # how many things share a value, value by value


def kendall(strata: Sequence[tuple[Sequence[float], Sequence[float]]]) -> tuple[float, float]:
    """(tau, two-sided p): concordant less discordant pairs, of all pairs, and how often chance orders as well.

    Pairs are of two things in one stratum. In tau, tied pairs count as neither. p is the share, of all orders of the
    printed numbers within the strata, of those whose |score| is as large (Kendall 1938); what ties in ours is taken in
    the order that agrees least, so that p is at most too large. (nan, 1.0) where there is no pair.

    Args:
        strata: of each, two equally long sequences: our numbers, and the printed ones.
    """
    pairs = sum(math.comb(len(ours), 2) for ours, _ in strata)
    if not pairs:
        return math.nan, 1.0
    score = unsure = 0
    for ours, printed in strata:
        for (a, c), (b, d) in combinations(list(zip(ours, printed, strict=True)), 2):
            score += int(np.sign(a - b) * np.sign(c - d))
            unsure += a == b and c != d
    discordant = reduce(np.convolve, (_inversions(tuple(Counter(printed).values())) for _, printed in strata))
    scores = discordant.size - 1 - 2 * np.arange(discordant.size)
    p = float(discordant[np.abs(scores) >= abs(score) - unsure].sum()) * (1 + 1e-12)  # 0.05 is not to come out below
    return score / pairs, min(1.0, p)


@cache
def _inversions(ties: Ties) -> NDArray:
    """The share of the orders of things that have 0, 1, 2, ... inversions; of things that tie, none is one."""
    before = np.cumsum((0, *ties))
    return reduce(np.convolve, (_mixed(int(m), n) for m, n in zip(before, ties, strict=False)), np.ones(1))


@cache
def _mixed(m: int, n: int) -> NDArray:
    """(m n + 1,): the share of the orders of m and n alike things with 0, 1, ... inversions (Mann and Whitney 1947)."""
    if not m or not n:
        return np.ones(1)
    counts = np.zeros(m * n + 1)
    counts[n:] += m / (m + n) * _mixed(m - 1, n)  # the last is one of the m, behind all n
    counts[: m * (n - 1) + 1] += n / (m + n) * _mixed(m, n - 1)
    return counts


# ----------------------------------------------------------------------------------------------------------- Families


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted p, in the order given (Holm 1979)."""
    adjusted, largest = [0.0] * len(p), 0.0
    for rank, index in enumerate(sorted(range(len(p)), key=lambda index: p[index])):
        largest = max(largest, min(1.0, (len(p) - rank) * p[index]))
        adjusted[index] = largest
    return adjusted


# -------------------------------------------------------------------------------------------------------------- Power


def detectable(estimate: Estimate, alpha: float, power: float = POWER) -> float:
    """The smallest true difference that the t test would have found, at this error."""
    critical = stdtrit(estimate.degrees, 1 - alpha / 2)
    return estimate.error * float(nctdtrinc(estimate.degrees, 1 - power, critical))


def detectable_within(estimate: Estimate, alpha: float, power: float = POWER) -> float:
    """The smallest margin within which a true difference of 0 would have been shown to lie, at this error."""
    return estimate.error * float(stdtrit(estimate.degrees, 1 - alpha) + stdtrit(estimate.degrees, (1 + power) / 2))


# ------------------------------------------------------------------------------------------------------- The test set


def error_of_share(share: float, n: int) -> float:
    """The standard error of a share (an accuracy) on n independent test samples."""
    return math.sqrt(max(share * (1 - share), 0.0) / n)


def error_of_auc(auc: float, positive: int, negative: int) -> float:
    """The standard error of the area under a ROC curve (Hanley and McNeil 1982)."""
    q1, q2 = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    variance = auc * (1 - auc) + (positive - 1) * (q1 - auc**2) + (negative - 1) * (q2 - auc**2)
    return math.sqrt(max(variance, 0.0) / (positive * negative))
