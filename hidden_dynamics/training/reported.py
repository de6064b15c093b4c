"""Decisions by evaluations: the one that tables show, when averaging begins; and numbers of a whole run."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

EARLY = 0.25  # of the steps: those that count as first, and as last
LEAST_SHARE = 1e-12  # a gradient that is nothing is this share of another


def place_of(metrics: Sequence[Mapping[str, float]], report: Mapping[str, str]) -> int | None:
    """The index in `metrics` of the evaluation to report, the first of equal ones; None where none gave a finite
    number."""
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


def of_history(metrics: Sequence[Mapping[str, float]], gradient_norms: ArrayLike) -> dict[str, float]:
    """Numbers of a whole run, by metric, where it measured what they are of; its norms are (recorded iterations, T).

    `generalisation_gap` is the test loss less the train loss of the last evaluation; `gradient_share`, the gradient's
    mean norm in the first quarter of the steps as a share of that in the last, a geometric mean over iterations.
    """
    numbers = dict[str, float]()
    last: Mapping[str, float] = metrics[-1] if metrics else {}
    if {"train_loss", "test_loss"} <= last.keys():
        numbers["generalisation_gap"] = last["test_loss"] - last["train_loss"]
    norms = np.asarray(gradient_norms, np.float64)
    if norms.size:
        steps = max(1, round(EARLY * norms.shape[1]))
        early, late = norms[:, :steps].mean(1), norms[:, -steps:].mean(1)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(late > 0, early / late, 1.0)  # where nothing arrives anywhere, nothing is lost on the way
        numbers["gradient_share"] = float(np.exp(np.log(np.clip(shares, LEAST_SHARE, 1 / LEAST_SHARE)).mean()))
    return numbers


def averaging_is_due(losses: Sequence[float], nonmonotone: int) -> bool:
    """Whether the averaging of the weights begins after the last of `losses`, the validation losses so far.

    Non-monotonically triggered averaged SGD (Merity, Keskar and Socher 2018, Algorithm 1; MomentumRNN follows it on
    Penn Treebank): once the loss is above its minimum of all but the last `nonmonotone` evaluations, the weights'
    average over the steps that follow is what is evaluated. The steps themselves go on as before.
    """
    *before, last = losses
    return len(before) > nonmonotone and last > min(before[:-nonmonotone])
