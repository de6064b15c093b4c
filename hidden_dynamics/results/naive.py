"""Runs beside the naive baselines of their own data (hidden_dynamics.tasks.naive_scores)."""

import json
import math
from collections.abc import Mapping, Sequence

from hidden_dynamics.results.rows import Row
from hidden_dynamics.results.statistics import mean_and_std
from hidden_dynamics.results.summary import measured_of

BY_CHANCE = 0.01  # of a baseline's score: on a finite test set an answer that learned nothing may be ahead by as much

Naive = Mapping[str, Mapping[str, float]]


def naive_of(row: Row) -> Naive:
    """{metric: {name: score}} of a run's row of a summary."""
    return json.loads(row["naive"] or "{}")


def best(naive: Naive, metric: str, sign: int) -> tuple[str, float] | None:
    """The name and the score of the best naive baseline of a metric; None where there is none.

    Args:
        sign: 1 where higher is better, else -1.
    """
    return max(naive.get(metric, {}).items(), key=lambda item: sign * item[1], default=None)


def learned(row: Row, metric: str, sign: int) -> bool | None:
    """True where a run beats the best naive baseline by more than BY_CHANCE; None without a baseline.

    False where the run has no finite number.
    """
    return beats(naive_of(row), measured_of(row), metric, sign)


def beats(naive: Naive, measured: Mapping[str, float], metric: str, sign: int) -> bool | None:
    """The same of what a run measured."""
    baseline, value = best(naive, metric, sign), measured.get(metric, math.nan)
    if baseline is None:
        return None
    return math.isfinite(value) and sign * (value - baseline[1]) > BY_CHANCE * abs(baseline[1])


def by_seed(runs: Sequence[Row], metric: str, factor: float = 1.0) -> dict[str, list[float]]:
    """{name of a naive baseline: its score for each seed}, in the unit that is shown."""
    found: dict[str, list[float]] = {}
    for run in {run["seed"]: run for run in runs}.values():
        for name, score in naive_of(run).get(metric, {}).items():
            found.setdefault(name, []).append(score * factor)
    return found


def mean_scores(runs: Sequence[Row], metric: str, factor: float = 1.0) -> dict[str, float]:
    """{name of a naive baseline: the mean of its scores over seeds}."""
    return {name: mean_and_std(scores)[0] for name, scores in by_seed(runs, metric, factor).items()}
