"""Numbers over seeds: mean, deviation and band, and which runs have learned more than the naive baselines of their own
data (hidden_dynamics.tasks.naive_scores) know."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
import scipy  # its parts are imported where they are first used
from numpy.typing import ArrayLike, NDArray

from hidden_dynamics.results.record import Baselines, RunRecord

FEWEST = 3  # seeds of a band or a test: of two, the band is ± 12.7 standard errors wide
LEVEL = 0.95  # of the band
BY_CHANCE = 0.01  # of a baseline's score: on a finite test set an answer that learned nothing may be ahead by as much
CLEARLY = 0.1  # of a baseline's score: runs that learned, beside others that did not, are ahead by as much
TWICE = 2.0


def mean_and_std(values: Iterable[float]) -> tuple[float, float]:
    """Mean and sample standard deviation (ddof = 1), as the papers' ± is meant.

    Returns:
        (mean, std); std is nan for one value, both are nan for none.
    """
    values = np.asarray(list(values), dtype=np.float64)
    mean = float(values.mean()) if values.size else float("nan")
    std = float(values.std(ddof=1)) if values.size > 1 else float("nan")
    return mean, std


def mean_band(values: ArrayLike, resampled: float = 0.0) -> tuple[NDArray, NDArray, NDArray]:
    """Mean over seeds and Student's t confidence band (95 %) of that mean, point by point.

    Args:
        values: (seeds, points); nan where a seed has no value, which leaves it out at that point.
        resampled: n_test / n_train, where the data of seeds are random parts of the same data (Nadeau and Bengio,
            Machine Learning 52, 2003); else 0.

    Returns:
        mean, low, high, each (points,): mean ± t std sqrt(1/n + resampled) over the n seeds of that point, t the
        quantile at n - 1 degrees of freedom. The band is nan where n < FEWEST, the mean where n = 0.
    """
    values = np.asarray(values, dtype=np.float64)
    present = ~np.isnan(values)
    n = present.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(present, values, 0.0).sum(axis=0) / n
        deviations = np.where(present, values - mean, 0.0)
        std = np.sqrt((deviations**2).sum(axis=0) / (n - 1))
        quantile = np.where(n >= FEWEST, scipy.special.stdtrit(n - 1.0, (1 + LEVEL) / 2), np.nan)
        half_width = quantile * std * np.sqrt(1 / n + resampled)
    return mean, mean - half_width, mean + half_width


def best(baselines: Baselines, metric: str, sign: int) -> tuple[str, float] | None:
    """The name and the score of the best baseline of a metric; None where there is none.

    Args:
        sign: 1 where higher is better, else -1.
    """
    return max(baselines.get(metric, {}).items(), key=lambda item: sign * item[1], default=None)


def margin(naive: Baselines, measured: Mapping[str, float], metric: str, sign: int) -> float | None:
    """The lead of a run's number over the best naive baseline, as a share of that; None without a baseline.

    Minus infinity where the run has no finite number.
    """
    baseline, value = best(naive, metric, sign), measured.get(metric, math.nan)
    if baseline is None:
        return None
    return sign * (value - baseline[1]) / abs(baseline[1] or 1.0) if math.isfinite(value) else -math.inf


def in_two_clusters(margins: Sequence[float | None]) -> bool:
    """True where some runs CLEARLY learned and others did not, further apart than TWICE the width of the wider group.

    A mean and deviation would describe neither. Seeds that only straddle a baseline are one group.
    """
    finite = [margin for margin in margins if margin is not None and math.isfinite(margin)]
    if len(finite) < FEWEST:
        return False
    ahead, behind = ([margin for margin in finite if (margin > BY_CHANCE) == side] for side in (True, False))
    if not ahead or not behind or min(ahead) < CLEARLY:
        return False
    return min(ahead) - max(behind) > TWICE * max(max(group) - min(group) for group in (ahead, behind))


def by_seed(
    runs: Iterable[RunRecord], metric: str, factor: float = 1.0, kind: Literal["naive", "classical"] = "naive"
) -> dict[str, dict[int, float]]:
    """{name of a baseline of this kind: {seed: its score}}, in the unit that is shown."""
    scores: dict[str, dict[int, float]] = {}
    for run in {run.seed: run for run in runs}.values():
        for name, score in getattr(run, kind).get(metric, {}).items():
            scores.setdefault(name, {})[run.seed] = score * factor
    return scores


def mean_scores(runs: Iterable[RunRecord], metric: str, factor: float = 1.0) -> dict[str, float]:
    """{name of a naive baseline: the mean of its scores over seeds}."""
    return {name: mean_and_std(scores.values())[0] for name, scores in by_seed(runs, metric, factor).items()}


def best_classical(
    runs: Iterable[RunRecord], metric: str, sign: int, factor: float = 1.0
) -> tuple[str, Mapping[int, float]] | None:
    """The name of the classical baseline whose mean over the runs' seeds is the best (`best`), and its score for each
    seed; None where there is none."""
    scores = by_seed(runs, metric, factor, "classical").items()
    return max(scores, key=lambda item: sign * mean_and_std(item[1].values())[0], default=None)
