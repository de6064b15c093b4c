"""Statistics over seeds and along training curves."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

FEWEST = 3  # seeds of a confidence band: that of two is ± 12.7 standard errors wide


def mean_and_std(values: Iterable[float]) -> tuple[float, float]:
    """Mean and sample standard deviation (ddof = 1), as the papers' ± is meant.

    Returns:
        (mean, std); std is nan for one value, both are nan for none.
    """
    values = np.asarray(list(values), dtype=np.float64)
    mean = float(values.mean()) if values.size else float("nan")
    std = float(values.std(ddof=1)) if values.size > 1 else float("nan")
    return mean, std


def mean_band(values: ArrayLike, level: float = 0.95, resampled: float = 0.0) -> tuple[NDArray, NDArray, NDArray]:
    """Mean over seeds and Student's t confidence band of that mean, point by point.

    Args:
        values: (seeds, points); nan where a seed has no value, which leaves it out at that point.
        level: coverage of the band, between 0 and 1.
        resampled: n_test / n_train, where the data of seeds are random parts of the same data (Nadeau and Bengio,
            Machine Learning 52, 2003); else 0.

    Returns:
        mean, low, high, each (points,): mean ± t(level, n - 1) std sqrt(1/n + resampled) over the n seeds of that
        point. The band is nan where n < FEWEST, the mean where n = 0.
    """
    from scipy.special import stdtrit  # 0.3 s, and summaries import this module

    values = np.asarray(values, dtype=np.float64)
    present = ~np.isnan(values)
    n = present.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(present, values, 0.0).sum(axis=0) / n
        deviations = np.where(present, values - mean, 0.0)
        std = np.sqrt((deviations**2).sum(axis=0) / (n - 1))
        quantile = np.where(n >= FEWEST, stdtrit(n - 1.0, (1 + level) / 2), np.nan)
        half_width = quantile * std * np.sqrt(1 / n + resampled)
    return mean, mean - half_width, mean + half_width


def triangular_moving_average(values: ArrayLike, window: int) -> NDArray:
    """Smooth a curve with a triangular kernel of `window` points, renormalised where it hangs over an end.

    The smoothing of MomentumRNN's released plotting notebook (30 points for train losses, 10 epochs for test losses).

    Args:
        values: (points,), finite.
        window: number of points under the triangle, 1 or more; 1 changes nothing. An even window has no middle point:
            it looks half a point further back than ahead.

    Returns:
        (points,) float64.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.size == 0 or window == 1:
        return values.copy()
    position = np.arange(window)
    kernel = np.minimum(position + 1, window - position).astype(np.float64)
    inside = slice((window - 1) // 2, (window - 1) // 2 + values.size)
    weight = np.convolve(np.ones_like(values), kernel)[inside]
    return np.convolve(values, kernel)[inside] / weight


def thin(x: ArrayLike, count: int) -> NDArray:
    """Indices of at most `count` points that draw a long curve well on a linear and on a logarithmic axis.

    Half of them are evenly spaced in x, half in its logarithm, so that the start keeps its detail; first and last
    are kept.

    Args:
        x: (points,), ascending.
        count: the most points to keep, 2 or more.

    Returns:
        ascending indices into x, at most `count`; all of them where x has no more points than that.
    """
    x = np.asarray(x, dtype=np.float64)
    if x.size <= count:
        return np.arange(x.size)
    span = x[-1] - x[0]
    even = np.linspace(0.0, span, count // 2 + 1)
    geometric = np.geomspace(1.0, span + 1.0, count - even.size) - 1.0
    wanted = x[0] + np.minimum(np.concatenate([even, geometric]), span)
    return np.unique(np.minimum(np.searchsorted(x, wanted), x.size - 1))
