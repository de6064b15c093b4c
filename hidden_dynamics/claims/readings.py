"""The numbers that a claim compares: one of each run, at the evaluation that the claim names."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.claims.comparison import Values, values_of
from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.papers.claims import ClaimEntry, Iteration, load_definitions
from hidden_dynamics.results.curves import triangular_moving_average
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.run_files import RunFiles

At = Literal["reported", "last", "mean"] | Iteration
Sides = tuple[Values, Values]  # the subject's, the reference's


def sides_of(evidence: Evidence, entry: ClaimEntry, subject: Case, reference: Case, at: At) -> Sides:
    """What a claim compares of two cases."""
    if entry.kind == "faster":
        return iterations(evidence, subject, reference)
    return values_at(evidence, entry, subject, at), values_at(evidence, entry, reference, at)


def values_at(evidence: Evidence, entry: ClaimEntry, case: Case, at: At) -> Values:
    """A claim's metric of a case's runs; "mean" is that of the last evaluations."""
    metric = entry.shown_metric
    if entry.measurement:  # what has no naive baseline
        rows = (row for row in evidence.features if row.case == case and row.silhouette is not None)
        return values_of(evidence, case, metric, {row.seed: float(row.silhouette or 0) for row in rows})
    if at == "reported":
        values = values_of(evidence, case, metric)
    else:
        until = at.iteration if isinstance(at, Iteration) else at
        finished = [run for run in evidence.of(case) if run.status == "finished"]
        values = values_of(evidence, case, metric, {run.seed: _number(run.files, metric, until) for run in finished})
    return values if values.naive else _gated(evidence, case, metric, values)


def iterations(evidence: Evidence, subject: Case, reference: Case) -> Sides:
    """log of the iterations to the lowest smoothed train loss that all finished runs of both reach."""
    curves: list[dict[int, NDArray]] = [
        {run.seed: _smoothed(run.files) for run in evidence.of(case) if run.status == "finished"}
        for case in (subject, reference)
    ]
    level = max((float(curve.min()) for side in curves for curve in side.values()), default=math.nan)
    sides = []
    for case, losses in zip((subject, reference), curves, strict=True):
        reached = {seed: math.log(1 + int(np.argmax(curve <= level))) for seed, curve in losses.items()}
        sides.append(_gated(evidence, case, "train_loss", values_of(evidence, case, "train_loss", reached)))
    return sides[0], sides[1]


def _gated(evidence: Evidence, case: Case, metric: str, values: Values) -> Values:
    """Values whose runs are held to the naive baselines by what they report: of the metric itself or else of the task's
    first test metric that has some."""
    known = next((run.naive for run in evidence.of(case)), {})
    tests = (name for name in known if name.startswith("test_"))
    held = metric if metric in known else next(tests, None)
    if held is None:
        return values
    reported = values_of(evidence, case, held)
    return replace(values, naive=reported.naive, baseline=reported.baseline, gains=reported.gains)


def best_of(evidence: Evidence, entry: ClaimEntry, cases: Sequence[Case], at: At) -> Case:
    """The case whose mean is the best; of one without a number the last."""
    if len(cases) == 1:
        return cases[0]
    sides = {case: values_at(evidence, entry, case, at) for case in cases}
    means = {case: side.sign * float(np.mean([*side.by_seed.values()])) for case, side in sides.items() if side.by_seed}
    return max(means, key=lambda case: means[case], default=cases[0])


@cache
def _number(files: RunFiles, metric: str, until: int | str) -> float:
    """A metric of a run: the train loss up to an iteration, the "last" evaluation, or the "mean" of the last ones; nan
    where it has not been evaluated so often."""
    definitions = load_definitions()
    if isinstance(until, int):
        return float(files.train_loss()[:until][-definitions.last_losses :].mean())
    count = 1 if until == "last" else definitions.last_evaluations
    measured = [row[metric] for row in files.metrics() if metric in row]
    return float(np.mean(measured[-count:])) if len(measured) >= count else math.nan


@cache
def _smoothed(files: RunFiles) -> NDArray:
    """(iterations,) the loss of every minibatch of a run, smoothed."""
    losses = files.train_loss()
    return triangular_moving_average(losses, max(1, round(load_definitions().smoothing * losses.size)))
