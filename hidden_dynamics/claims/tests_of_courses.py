"""Tests of the course of training: fewer iterations to a loss, gradients that reach the early steps."""

import math

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.claims.bench import Bench
from hidden_dynamics.claims.bootstrap import FEWEST, block_bootstrap
from hidden_dynamics.claims.evidence import Side
from hidden_dynamics.claims.expansion import Claim
from hidden_dynamics.claims.tests_of_ratios import of_logarithms
from hidden_dynamics.claims.verdict import Outcome, plain
from hidden_dynamics.claims.wording import bars_of_a_direction, listed, n_of, ratio_of

FEWEST_RECORDED = 20  # iterations of one run, for blocks of them to be drawn


def faster(bench: Bench, claim: Claim) -> Outcome:
    """Iterations until the smoothed train loss first reaches the lowest level that every run of both reaches."""
    *sides, level = bench.evidence.iterations(claim.subject, claim.reference, bench.definitions.smoothing)
    found = f"{listed(sides[0])} against {listed(sides[1])} iterations to a loss of {plain(level, 4)}"
    logs = [side.mapped(math.log) for side in sides]
    return of_logarithms(bench, *logs, found, resampled=min(len(side.values) for side in sides) >= FEWEST)


def gradients(bench: Bench, claim: Claim) -> Outcome:
    """The share of the gradient that reaches the early steps: over iterations of one run each, else over seeds."""
    early = bench.definitions.early
    found = [bench.evidence.reach(cell, early) for cell in claim.cells]
    sides, series = [side for side, _ in found], [runs for _, runs in found]
    shares = " against ".join(", ".join(f"{10**value:.3g}" for value in side.values) for side in sides)
    text = f"first over last {early:.0%} of the steps: {shares}"
    vanished = _not_vanished(bench, sides[1])
    if [len(runs) for runs in series] == [1, 1]:
        return _of_one_run_each(bench, sides, series[0][0], series[1][0], text, vanished)
    logs = [side.mapped(lambda value: value * math.log(10)) for side in sides]
    return of_logarithms(bench, *logs, text, sign=1, bars=(vanished, ""))


def _of_one_run_each(
    bench: Bench, sides: list[Side], one: NDArray, other: NDArray, found: str, vanished: str
) -> Outcome:
    """A bootstrap over blocks of iterations, of the difference of both series of shares."""
    together = min(len(one), len(other))
    if together < FEWEST_RECORDED:
        return Outcome(reason=f"{together} recorded iterations are too few", found=found, **n_of(*sides))
    estimate, low, high, p = block_bootstrap(one[:together] - other[:together], bench.level)
    failed = bars_of_a_direction(*sides)
    return Outcome(
        test="bootstrap over blocks of iterations",
        supports=estimate > 0,
        **ratio_of(10**estimate, 10**low, 10**high),
        p=p,
        reason="one run each: it speaks of their course, and not of other seeds",
        doubt="the course of the training allows both",
        found=found,
        bars=(failed[0] or vanished, failed[1]),
        **n_of(*sides),
    )


def _not_vanished(bench: Bench, reference: Side) -> str:
    """Why nothing can be alleviated; "" where the reference's gradients vanish."""
    share = 10 ** float(np.mean(reference.values)) if reference.values else 0.0
    if share < bench.definitions.vanished:
        return ""
    return f"{reference.label}’s gradients do not vanish here ({plain(share)} of the last reach the first steps)"
