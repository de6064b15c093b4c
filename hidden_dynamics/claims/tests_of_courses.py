"""Tests of the course of training: fewer iterations to a loss, gradients that reach the early steps."""

import math
from collections.abc import Sequence
from dataclasses import replace

from hidden_dynamics.claims.bench import Bench
from hidden_dynamics.claims.claim import Claim
from hidden_dynamics.claims.differences import and_beyond, steps_of, steps_of_resampling
from hidden_dynamics.claims.evidence import Side
from hidden_dynamics.claims.means import against
from hidden_dynamics.claims.power import detectable
from hidden_dynamics.claims.tests_of_ratios import of_logarithms
from hidden_dynamics.claims.verdict import Outcome, plain
from hidden_dynamics.claims.wording import bars_of_a_direction, entering, joined, listed, no_spread, ratio_of, too_few


def faster(bench: Bench, claim: Claim) -> Outcome:
    """Iterations until the smoothed train loss first reaches the lowest level that every run of both reaches."""
    *sides, level = bench.evidence.iterations(claim.subject, claim.reference, bench.definitions.smoothing)
    found = f"{listed(sides[0])} against {listed(sides[1])} iterations to a loss of {plain(level, 4)}"
    logarithms = bench.over_seeds(claim, (side.mapped(math.log) for side in sides))
    return of_logarithms(bench, claim, *logarithms, found)


def gradients(bench: Bench, claim: Claim) -> Outcome:
    """The share of the gradient that reaches the early steps is larger; the reference's vanishes, the subject's not.

    Against the claim it speaks where the subject's share is the smaller one, and vanishes.
    """
    reached = (bench.evidence.reach(cell, bench.definitions.early) for cell in claim.cells)
    subject, reference = sides = bench.over_seeds(claim, reached)
    nothing, own = _not_vanishing(bench, reference), _vanishing(bench, subject)
    bars = joined(bars_of_a_direction(*sides), ("; ".join(filter(None, (own, nothing))), "" if own else nothing))
    outcome = of_logarithms(bench, claim, *sides, _shares(bench, sides), sign=1, bars=bars)
    vanished = math.log(bench.definitions.vanished)
    for claimed, side, sign in ((True, subject, 1), (True, reference, -1), (False, subject, -1)):
        outcome = and_beyond(outcome, claimed, side, vanished, sign)
    return replace(outcome, seeds_for_found=None)  # it takes more than a difference


def reaches(bench: Bench, claim: Claim) -> Outcome:
    """The share of the gradient that reaches the early steps is above the one below which gradients vanish."""
    (side,) = bench.over_seeds(claim, [bench.evidence.reach(claim.subject, bench.definitions.early)])
    vanished = bench.definitions.vanished
    few, found = too_few(side), _shares(bench, [side])
    if few:
        return replace(few, found=found)
    raw = against(side.sample, math.log(vanished))
    if raw is None:
        return no_spread([side], found)
    difference = raw.cautious()
    share = (math.exp(math.log(vanished) + value) for value in (raw.estimate, *difference.interval(bench.level)))
    return Outcome(
        test=f"t of logarithms, of one sample, against {vanished:g}",
        supports=difference.estimate > 0,
        **ratio_of(*share, "ratio of the first steps’ norm to the last’s"),
        p=difference.p,
        detectable=lambda alpha: vanished * math.exp(detectable(difference, alpha, bench.definitions.power)),
        found=found,
        bars=(side.without if side.failed else "", ""),
        working=[*steps_of_resampling(side), *steps_of(raw, difference)],
        **entering(side),
    )


def _shares(bench: Bench, sides: Sequence[Side]) -> str:
    shares = " against ".join(", ".join(f"{math.exp(value):.3g}" for value in side.values) or "none" for side in sides)
    return f"first over last {bench.definitions.early:.0%} of the steps: {shares}"


def _share(side: Side) -> float:
    """The geometric mean over seeds; 0 without any."""
    return math.exp(sum(side.values) / len(side.values)) if side.values else 0.0


def _vanishing(bench: Bench, subject: Side) -> str:
    """Why the subject's gradients do not reach the first steps either; "" where they do."""
    share = _share(subject)
    text = f"{subject.label}’s own gradients vanish here ({plain(share)} of the last reach the first steps)"
    return text if share < bench.definitions.vanished else ""


def _not_vanishing(bench: Bench, reference: Side) -> str:
    """Why nothing can be alleviated; "" where the reference's gradients vanish."""
    share = _share(reference)
    text = f"{reference.label}’s gradients do not vanish here ({plain(share)} of the last reach the first steps)"
    return text if share >= bench.definitions.vanished else ""
