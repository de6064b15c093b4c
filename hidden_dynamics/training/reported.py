"""The evaluation of a run that the tables show."""

import math
from collections.abc import Mapping, Sequence
from typing import Any


def place_of(metrics: Sequence[Mapping[str, float]], report: Mapping[str, str]) -> int | None:
    """The place of the reported evaluation in `metrics`, the first of several equal ones.

    None without any evaluation that gave a finite number.

    Args:
        report: `metric` and `rule` (max, min or last).
    """
    name, pick = report["metric"], {"max": max, "min": min}.get(report["rule"])
    candidates = [place for place, row in enumerate(metrics) if math.isfinite(row[name])]
    if not candidates:
        return None
    return candidates[-1] if pick is None else pick(candidates, key=lambda place: metrics[place][name])


def chosen(metrics: Sequence[Mapping[str, float]], report: Mapping[str, str]) -> dict[str, Any] | None:
    """The reported number, when it was reached, and all that was measured then; None where there is none."""
    place = place_of(metrics, report)
    if place is None:
        return None
    row = metrics[place]
    return {
        "metric": report["metric"],
        "rule": report["rule"],
        "value": row[report["metric"]],
        "iteration": row["iteration"],
        "epoch": row["epoch"],
        "metrics": dict(row),
    }
