"""The bootstrap over seeds, studentised, and over the blocks of one series (Efron and Tibshirani 1993, 12.5 and 8.6).

With n seeds a side a resample can only repeat them: with two, its interval is hardly more than their range, which the
mean of two more seeds leaves half of the time. `FEWEST` seeds a side are needed.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 9999
FEWEST = 5


def bootstrap_t(
    subject: Sequence[float], reference: Sequence[float], level: float, seed: int = 0
) -> tuple[float, float, float, float] | None:
    """Difference of the means, its bootstrap-t interval (low, high), and the two-sided p for 0; None without spread.

    Every resample's difference is divided by its own standard error (Welch's); |t| is compared, so the interval is
    symmetric.
    """
    one, other = (np.asarray(values, dtype=np.float64) for values in (subject, reference))
    difference, error = one.mean() - other.mean(), float(_error(one, other))
    if not error:
        return None
    generator = np.random.default_rng(seed)
    ones, others = (values[generator.integers(values.size, size=(RESAMPLES, values.size))] for values in (one, other))
    moved = ones.mean(axis=1) - others.mean(axis=1) - difference
    with np.errstate(divide="ignore", invalid="ignore"):  # a resample without spread is as extreme as can be
        t = np.nan_to_num(np.abs(moved) / _error(ones, others), nan=np.inf, posinf=np.inf)
    half = error * np.quantile(t, level, method="higher")
    p = (1 + (t >= abs(difference) / error).sum()) / (1 + RESAMPLES)
    return float(difference), float(difference - half), float(difference + half), float(p)


def _error(one: NDArray, other: NDArray) -> NDArray:
    """Welch's standard error of the difference of means along the last axis."""
    return np.sqrt(sum(values.var(axis=-1, ddof=1) / values.shape[-1] for values in (one, other)))


def block_bootstrap(series: Sequence[float], level: float, seed: int = 0) -> tuple[float, float, float, float]:
    """Mean of a series, its percentile interval (low, high) and two-sided p for 0, by circular blocks.

    Neighbours along a run are alike, so blocks of about sqrt(n) neighbours are drawn, not single values.
    """
    series = np.asarray(series, dtype=np.float64)
    length = int(np.ceil(np.sqrt(series.size)))
    blocks = int(np.ceil(series.size / length))
    starts = np.random.default_rng(seed).integers(series.size, size=(RESAMPLES, blocks))
    sums = np.convolve(np.concatenate([series, series[: length - 1]]), np.ones(length), mode="valid")
    means = sums[starts].mean(axis=1) / length
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    tail = min((means <= 0).sum(), (means >= 0).sum())
    return float(series.mean()), float(low), float(high), float(min(1.0, 2 * (1 + tail) / (1 + RESAMPLES)))
