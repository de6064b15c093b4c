"""Runs beside the naive baselines of their own data (hidden_dynamics.tasks.naive_scores)."""

import json
import math
from collections.abc import Mapping, Sequence

from hidden_dynamics.results.rows import Row
from hidden_dynamics.results.statistics import FEWEST, mean_and_std
from hidden_dynamics.results.summary import measured_of

BY_CHANCE = 0.01  # of a baseline's score: on a finite test set an answer that learned nothing may be ahead by as much
TWICE = 2.0

Naive = Mapping[str, Mapping[str, float]]


def naive_of(row: Row) -> Naive:
    """{metric: {name: score}} of a run's row of a summary."""
    return json.loads(row.get("naive") or "{}")


def test_set(row: Row) -> dict[str, int | None]:
    """The `size` of a run's test set and the number of `positive` samples; {} where neither is known."""
    return json.loads(row["test_set"] or "{}")


def best(naive: Naive, metric: str, sign: int) -> tuple[str, float] | None:
    """The name and the score of the best naive baseline of a metric; None where there is none.

    Args:
        sign: 1 where higher is better, else -1.
    """
    return max(naive.get(metric, {}).items(), key=lambda item: sign * item[1], default=None)


def margin(naive: Naive, measured: Mapping[str, float], metric: str, sign: int) -> float | None:
    """By how much a run's number is better than the best naive baseline, as a share of that; None without a baseline.

    Minus infinity where the run has no finite number.
    """
    baseline, value = best(naive, metric, sign), measured.get(metric, math.nan)
    if baseline is None:
        return None
    return sign * (value - baseline[1]) / abs(baseline[1] or 1.0) if math.isfinite(value) else -math.inf


def learned(row: Row, metric: str, sign: int) -> bool | None:
    """True where a run beats the best naive baseline by more than BY_CHANCE; None without a baseline."""
    found = margin_of(row, metric, sign)
    return None if found is None else found > BY_CHANCE


def margin_of(row: Row, metric: str, sign: int) -> float | None:
    """`margin` of a run's row of a summary."""
    return margin(naive_of(row), measured_of(row), metric, sign)


def in_two_clusters(margins: Sequence[float | None]) -> bool:
    """True where some runs learned and others did not, further apart than TWICE the width of the wider group.

    A mean and deviation would describe neither. Seeds that only straddle a baseline are one group.
    """
    finite = [each for each in margins if each is not None and math.isfinite(each)]
    if len(finite) < FEWEST:
        return False
    ahead, behind = ([each for each in finite if (each > BY_CHANCE) == side] for side in (True, False))
    if not ahead or not behind:
        return False
    return min(ahead) - max(behind) > TWICE * max(max(group) - min(group) for group in (ahead, behind))


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
