"""The naive baselines of a run: what an answer without learning scores on the very test set of the run."""

import json
from collections.abc import Mapping

from hidden_dynamics.results.rows import Row
from hidden_dynamics.results.summary import measured_of


def best(naive: Mapping[str, Mapping[str, float]], metric: str, sign: int) -> tuple[str, float] | None:
    """(name, score) of the best naive baseline of a metric, in the unit in which it is measured; None without one."""
    found = naive.get(metric)
    return max(found.items(), key=lambda item: sign * item[1]) if found else None


def test_set(row: Row) -> dict[str, int | None]:
    """The `size` of a run's test set and the number of `positive` samples; {} where neither is known."""
    return json.loads(row["test_set"] or "{}")


def learned(row: Row, metric: str, sign: int) -> bool | None:
    """Whether one run beats the best naive baseline; None where there is none, or the run has no number."""
    found, value = best(json.loads(row["naive"] or "{}"), metric, sign), measured_of(row).get(metric)
    return None if found is None or value is None else sign * (value - found[1]) > 0
