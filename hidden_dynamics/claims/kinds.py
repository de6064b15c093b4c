"""The kinds of claims: the numbers that each compares, one of each run, and its test.

docs/claims.md has the rules in words.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.claims.comparison import Values, estimates, of_shared_seeds, values_of
from hidden_dynamics.claims.statistics import Estimate
from hidden_dynamics.configuration.runs import Case, seeds_are_blocks
from hidden_dynamics.papers.claims import ClaimEntry, Iteration
from hidden_dynamics.results.curves import triangular_moving_average
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.measured import EQUAL
from hidden_dynamics.results.run_files import RunFiles
from hidden_dynamics.results.seeds import FEWEST

SMOOTHING = 0.02  # the share of a run's iterations under the triangle that smooths its train loss
LAST_LOSSES = 100  # train losses before an iteration, whose mean is the loss there
LAST_EVALUATIONS = 5  # whose mean is a number beside the reported one
At = Literal["reported", "last", "mean"] | Iteration  # the evaluation whose number counts


@dataclass(frozen=True)
class Analysis:
    """A way to decide a claim; without changes it is the one that counts.

    Attributes:
        at: another evaluation than that which counts.
        other_test: the unpaired test in place of the paired one, or the other way round.
        by_fdr: over the family, Benjamini and Hochberg's adjustment in place of Holm's.
        without: a seed that is left out.
    """

    at: Literal["reported", "last", "mean"] | None = None
    other_test: bool = False
    by_fdr: bool = False
    without: int | None = None


PRIMARY = Analysis()


@dataclass(frozen=True)
class Result:
    """The result of a test of a claim.

    Attributes:
        sides: the subject's values and the reference's; of `faster` logarithms of iterations.
        shown: of these what was compared: where a seed is a block, the seeds of which both have a number.
        supports: whether it points the claim's way; None where nothing can be said, and `reason` says why.
        estimate: the subject's mean less the reference's.
        p: two-sided; None where nothing is tested, or nothing is left to chance.
        ahead: the side that has to have learned; no run of its may have failed. None of what is exact.
        tests: how many there were to choose from.
    """

    supports: bool | None = None
    reason: str = ""
    sides: tuple[Values, ...] = ()
    shown: tuple[Values, ...] = ()
    cases: tuple[Case, ...] = ()
    estimate: Estimate | None = None
    p: float | None = None
    test: str = ""
    ahead: Values | None = None
    tests: int = 0

    @property
    def weakness(self) -> float:
        """The one-sided p of the claim: of several subjects, the one with the largest counts."""
        if self.p is None:
            return 1.0
        return self.p / 2 if self.supports else 1 - self.p / 2


def tested(evidence: Evidence, entry: ClaimEntry, at: At, analysis: Analysis) -> list[Result]:
    """The results of a claim's tests: one for each subject, the weakest first."""
    if analysis.without is not None:
        evidence = replace(evidence, runs=[run for run in evidence.runs if run.seed != analysis.without])
    if entry.kind == "identity":
        return [identity(evidence)]
    if entry.kind == "count":
        return [count(evidence, entry)]
    reference = best_of(evidence, entry, entry.references, at)
    results = [compared(evidence, entry, (subject, reference), at, analysis) for subject in entry.subjects]
    return sorted(results, key=lambda result: -result.weakness)


def compared(
    evidence: Evidence, entry: ClaimEntry, pair: tuple[Case, Case], at: At, analysis: Analysis = PRIMARY
) -> Result:
    """Two means, by Welch's t; where a seed is a block, which has data of its own, by the differences seed by seed."""
    if entry.kind == "faster":
        sides = iterations(evidence, *pair)
    else:
        sides = values_at(evidence, entry, pair[0], at), values_at(evidence, entry, pair[1], at)
    blocks = all(seeds_are_blocks(evidence.configuration, case.task, case.model) for case in pair)
    tests = list(estimates(sides, blocks).items())
    shown = tuple(of_shared_seeds(sides)) if blocks else sides
    result = Result(sides=sides, shown=shown, cases=pair, tests=len(tests))
    if few := [side for side in shown if len(side.by_seed) < FEWEST]:
        numbers = ", ".join(f"n = {len(side.by_seed)} for {side.label}" for side in few)
        return replace(result, reason=f"fewer than {FEWEST} seeds are not tested: {numbers}")
    if not tests:
        return replace(result, reason="no spread between seeds: nothing to test with")
    test, estimate = tests[-1 if analysis.other_test else 0]
    way = -1 if entry.kind == "faster" else sides[0].sign
    leader = sides[0] if estimate.value * way > 0 else sides[1]
    supports = leader is sides[0]
    return replace(result, supports=supports, estimate=estimate, p=estimate.p(), test=test, ahead=leader)


def count(evidence: Evidence, entry: ClaimEntry) -> Result:
    """The subject has fewer parameters; nothing is left to chance."""
    cases = (entry.subjects[0], entry.references[0])
    numbers = [{run.seed: float(run.parameters or math.nan) for run in evidence.of(case)} for case in cases]
    if not all(numbers):  # without the only seed
        return Result()
    sides = tuple(
        replace(values_at(evidence, entry, case, "reported"), by_seed=by_seed, gains=(), naive={})
        for case, by_seed in zip(cases, numbers, strict=True)
    )
    subject, reference = (next(iter(by_seed.values())) for by_seed in numbers)
    return Result(supports=subject < reference, sides=sides, shown=sides, cases=cases, test="exact")


def identity(evidence: Evidence) -> Result:
    """The paper's derivative is that of autograd, at every step of every untrained cell, but for rounding."""
    cells = dict[tuple[str, str], list[tuple[bool, bool]]]()
    for row in evidence.gradients:
        equal = row.product_error <= EQUAL, row.claimed_error <= EQUAL
        cells.setdefault((row.core, row.filter), []).append(equal)
    product, claimed = (sum(all(step[way] for step in steps) for steps in cells.values()) for way in (0, 1))
    first = evidence.gradients[0]
    norms = f"{first.autograd:.3g} by autograd, {first.product:.3g} without momentum, {first.claimed:.4g} by Eq. 13"
    reason = (
        f"autograd agrees, within {EQUAL:g} of its length at every step, with the product without momentum in "
        f"{product} of {len(cells)} cells, with Eq. 13 in {claimed}; at t = {first.step} of {first.core}, "
        f"{first.filter}, ‖∂L/∂h_t‖ is {norms}"
    )
    return Result(supports=claimed == len(cells), reason=reason, test="identity in float64")


# Numbers of runs


def values_at(evidence: Evidence, entry: ClaimEntry, case: Case, at: At) -> Values:
    """A claim's metric of a case's runs; "mean" is that of the last evaluations."""
    metric = entry.shown_metric
    if entry.measurement:  # what has no naive baseline
        return values_of(evidence, case, metric)
    if at == "reported":
        values = values_of(evidence, case, metric)
    else:
        until = at.iteration if isinstance(at, Iteration) else at
        end = entry.at.iteration if isinstance(entry.at, Iteration) else math.inf
        numbers = {
            run.seed: _number(run.files, metric, until, end) for run in evidence.of(case) if run.status == "finished"
        }
        values = values_of(evidence, case, metric, numbers)
    return values if values.naive else _gated(evidence, case, metric, values)


def iterations(evidence: Evidence, subject: Case, reference: Case) -> tuple[Values, Values]:
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
    """The case with the best mean, of those with a number; the first where none has one."""
    if len(cases) == 1:
        return cases[0]
    sides = {case: values_at(evidence, entry, case, at) for case in cases}
    means = {case: side.sign * float(np.mean([*side.by_seed.values()])) for case, side in sides.items() if side.by_seed}
    return max(means, key=lambda case: means[case], default=cases[0])


@cache
def _number(files: RunFiles, metric: str, until: int | str, end: float) -> float:
    """A metric of a run: the train loss up to an iteration, the "last" evaluation up to `end`, or the "mean" of the
    last; nan where these are too few, or had no such metric: some tests are made at the reported evaluation alone."""
    if isinstance(until, int):
        return float(files.train_loss()[:until][-LAST_LOSSES:].mean())
    count = 1 if until == "last" else LAST_EVALUATIONS
    measured = [row.get(metric, math.nan) for row in files.metrics() if row["iteration"] <= end]
    return float(np.mean(measured[-count:])) if len(measured) >= count else math.nan


@cache
def _smoothed(files: RunFiles) -> NDArray:
    """(iterations,) the loss of every minibatch of a run, smoothed."""
    losses = files.train_loss()
    return triangular_moving_average(losses, max(1, round(SMOOTHING * losses.size)))
