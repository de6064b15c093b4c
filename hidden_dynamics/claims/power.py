"""What a test can find: the smallest effect that it would have found, and the number of seeds that an effect takes.

"Found" is a verdict on the right side. Chances are exact for normal values; that of Welch's t, whose degrees of freedom
depend on the data, is integrated over both sample variances.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv, nctdtr, nctdtrinc, ndtr, stdtrit

from hidden_dynamics.claims.means import Difference, Sample, satterthwaite, whole
from hidden_dynamics.claims.spread import FEWEST, deviations

POWER = 0.8
MOST = 1000  # seeds
NODES = 48  # of the integral over a sample variance
DRAWS = 8000  # of a simulated power: it is right to 0.5 %
LARGEST_RATIO = 1000.0  # of spreads


def detectable(difference: Difference, alpha: float, power: float = POWER) -> float:
    """The smallest true difference that a t test with this error and these degrees of freedom would have found.

    Args:
        alpha: two-sided; the level divided by the number of tests in a family, for the first step of Holm's.
    """
    t = stdtrit(difference.degrees, 1 - alpha / 2)
    return difference.error * float(nctdtrinc(difference.degrees, 1 - power, t))


def detectable_within(difference: Difference, alpha: float, power: float = POWER) -> float:
    """The smallest margin within which a true difference of 0 would have been shown to lie."""
    t = float(stdtrit(difference.degrees, 1 - alpha))
    scales, weights = _standard_deviations(difference.degrees)

    def enough(margin: float) -> bool:
        return float(weights @ _between(margin - t * scales, 0.0)) >= power

    return difference.error * _smallest(enough, 2.0 * t + 4.0)


@cache
def detectable_ratio(n: int, m: int, alpha: float, power: float = POWER) -> float | None:
    """The smallest true ratio of spreads that `brown_forsythe` finds in n and m normal values, by simulation.

    None where it finds none: its t is bounded, however large the ratio.
    """
    if min(n, m) < FEWEST:
        return None

    def enough(ratio: float) -> bool:
        return _share_of_ratios_found(n, m, ratio, alpha) >= power

    return _smallest(enough, LARGEST_RATIO, 1.0) if enough(LARGEST_RATIO) else None


def power_of_welch(subject: Sample, reference: Sample, alpha: float) -> float:
    """The chance that Welch's t with whole degrees of freedom finds the difference of two means.

    Args:
        subject, reference: the true means and standard deviations, and the numbers of values.
        alpha: two-sided, as in `detectable`.
    """
    errors, degrees, weights = _errors(subject, reference)
    gap, error = abs(subject.mean - reference.mean), _error(subject, reference)
    return float(weights @ ndtr((gap - _quantiles(degrees, 1 - alpha / 2) * errors) / error))


def power_of_paired(gap: float, std: float, n: int, alpha: float, resampled: float = 0.0) -> float:
    """The chance that the paired t test finds a mean difference, of n differences with this standard deviation.

    Args:
        resampled: as of a `Sample`; the correction is then taken to be right.
    """
    error = std * math.sqrt(Sample(gap, std, n, resampled).share)
    return 1 - float(nctdtr(n - 1, abs(gap) / error, stdtrit(n - 1, 1 - alpha / 2)))


def power_of_equivalence(subject: Sample, reference: Sample, margin: float, alpha: float) -> float:
    """The chance that two means are shown to differ by less than the margin, with whole degrees of freedom.

    Args:
        subject, reference: as in `power_of_welch`.
    """
    errors, degrees, weights = _errors(subject, reference)
    half = margin - _quantiles(degrees, 1 - alpha) * errors
    error = _error(subject, reference)
    return float(weights @ _between(half / error, (subject.mean - reference.mean) / error))


def seeds_needed(
    gap: float, subject_std: float, reference: float | Sample, alpha: float, most: int = MOST, power: float = POWER
) -> int | None:
    """The smallest number of seeds, of each model, with which Welch's t finds a gap; None where `most` do not.

    Args:
        gap: the true difference of the means.
        reference: its standard deviation; or, of a printed mean, the sample as it stands, which has no more seeds.
        alpha: two-sided, as in `detectable`.
    """

    def enough(n: int) -> bool:
        return power_of_welch(Sample(gap, subject_std, n), _beside(reference, n), alpha) >= power

    return _fewest(enough, most) if gap and _spreads(subject_std, reference) else None


def seeds_needed_paired(
    gap: float, std: float, alpha: float, most: int = MOST, power: float = POWER, resampled: float = 0.0
) -> int | None:
    """As `seeds_needed`, of the paired test.

    Args:
        std: of the differences seed by seed.
        resampled: as of `power_of_paired`; what blocks share stays, however many they are.
    """

    def enough(n: int) -> bool:
        return power_of_paired(gap, std, n, alpha, resampled) >= power

    return _fewest(enough, most) if gap and std else None


def seeds_needed_within(
    margin: float,
    subject_std: float,
    reference: float | Sample,
    alpha: float,
    truth: float = 0.0,
    most: int = MOST,
    power: float = POWER,
    resampled: float = 0.0,
) -> int | None:
    """As `seeds_needed`, to show that the means differ by less than a margin where they differ by `truth`.

    Args:
        resampled: as of a `Sample`, of both.
    """

    def enough(n: int) -> bool:
        own, other = Sample(truth, subject_std, n, resampled), replace(_beside(reference, n), resampled=resampled)
        return power_of_equivalence(own, other, margin, alpha) >= power

    return _fewest(enough, most) if abs(truth) < margin and _spreads(subject_std, reference) else None


def _beside(reference: float | Sample, n: int) -> Sample:
    return replace(reference, mean=0.0) if isinstance(reference, Sample) else Sample(0.0, reference, n)


def _spreads(subject_std: float, reference: float | Sample) -> bool:
    return max(subject_std, reference.std if isinstance(reference, Sample) else reference) > 0


def _error(*samples: Sample) -> float:
    return math.sqrt(sum(sample.std**2 * sample.share for sample in samples))


def _errors(subject: Sample, reference: Sample) -> tuple[NDArray, NDArray, NDArray]:
    """Of every pair of sample variances that is integrated over: standard error, whole degrees of freedom, weight."""
    # As many of both would meet where the variances are equal, and only there have two samples of two 2 degrees.
    ones, one = _standard_deviations(float(subject.n - 1), NODES)
    others, other = _standard_deviations(float(reference.n - 1), NODES + 1)
    first = (subject.std * ones[:, None]) ** 2 * subject.share
    second = (reference.std * others) ** 2 * reference.share
    degrees = whole(satterthwaite((first, second), [min(subject.n, reference.n) - 1] * 2))
    return np.sqrt(first + second).ravel(), degrees.ravel(), np.outer(one, other).ravel()


@cache
def _standard_deviations(degrees: float, nodes: int = NODES) -> tuple[NDArray, NDArray]:
    """Quantiles of a sample's standard deviation in units of the true one, and their weights (Gauss-Legendre)."""
    if math.isinf(degrees):
        return np.ones(1), np.ones(1)
    places, weights = np.polynomial.legendre.leggauss(nodes)
    return np.sqrt(2 * gammaincinv(degrees / 2, (places + 1) / 2) / degrees), weights / 2


def _quantiles(degrees: NDArray, level: float) -> NDArray:
    """Student's t; of each number of degrees once."""
    found, where = np.unique(degrees, return_inverse=True)
    return stdtrit(found, level)[where]


def _between(half: NDArray, truth: float) -> NDArray:
    """The chance that a normal value about `truth` is between -half and half; 0 where half is below 0."""
    return np.maximum(ndtr(half - truth) - ndtr(-half - truth), 0.0)


def _smallest(enough: Callable[[float], bool], high: float, low: float = 0.0) -> float:
    """Where `enough` becomes true between low and high, by bisection; high is raised until it is."""
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _fewest(enough: Callable[[int], bool], most: int) -> int | None:
    """The smallest number from 2 on for which `enough` is true; in steps of a sixteenth, then one by one."""
    before, n = 1, 2
    while not enough(n):
        if n >= most:
            return None
        before, n = n, min(most, n + max(1, n // 16))
    return next((fewer for fewer in range(before + 1, n) if enough(fewer)), n)


def _share_of_ratios_found(n: int, m: int, ratio: float, alpha: float) -> float:
    (one, first), (other, second) = _simulated_deviations(n, m)
    variances = ratio**2 * first, second
    degrees = whole(satterthwaite(variances, [min(n, m) - 2] * 2))
    t = (ratio * one - other) / np.sqrt(sum(variances))
    return float(np.mean(t > _quantiles(degrees, 1 - alpha / 2)))


@cache
def _simulated_deviations(n: int, m: int) -> tuple[tuple[NDArray, NDArray], ...]:
    """Of either side and every draw: the mean of the absolute deviations, and its squared standard error."""
    generator = np.random.default_rng(0)
    drawn = [deviations(generator.standard_normal((DRAWS, size))) for size in (n, m)]
    return tuple((values.mean(axis=1), values.var(axis=1, ddof=1) / values.shape[1]) for values in drawn)
