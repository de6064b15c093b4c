"""Tests of numbers over seeds: better, steadier, similar, a printed mean, overfitting."""

import math
from collections.abc import Sequence

from hidden_dynamics.claims.bench import Bench
from hidden_dynamics.claims.evidence import Side
from hidden_dynamics.claims.expansion import Claim
from hidden_dynamics.claims.means import Sample, equivalence, hedges_g, welch
from hidden_dynamics.claims.spread import FEWEST, brown_forsythe
from hidden_dynamics.claims.verdict import Outcome
from hidden_dynamics.claims.wording import (
    bars_of_a_direction,
    bars_of_equality,
    mean,
    means,
    n_of,
    no_spread,
    too_few,
)

PAPER_RUNS = 5  # "averaged over 5 runs" (MomentumRNN, 3), "five different random seeds" (ACE-NODE, 4)


def better(bench: Bench, claim: Claim) -> Outcome:
    """In the metric's own direction (config/metrics.yaml)."""
    return _difference(bench, *bench.sides(claim), sign=bench.configuration.metrics[claim.metric].sign)


def overfitting(bench: Bench, claim: Claim) -> Outcome:
    """The subject's loss ends less far above its lowest."""
    subject, reference = (bench.evidence.rise(cell, claim.metric) for cell in claim.cells)
    return _difference(bench, subject, reference, sign=-1)


def steadier(bench: Bench, claim: Claim) -> Outcome:
    """The test of Brown and Forsythe, over seeds."""
    sides = bench.sides(claim)
    if min(len(side.values) for side in sides) < FEWEST:
        return Outcome(reason=f"fewer than {FEWEST} seeds: no test of spreads", **n_of(*sides))
    found = brown_forsythe(*(side.values for side in sides))
    if found is None:
        return Outcome(reason="a model's seeds have no spread at all", **n_of(*sides))
    low, high = found.difference.interval(bench.level)
    return Outcome(
        test="Brown and Forsythe's",
        supports=found.ratio < 1,
        estimate=found.difference.estimate,
        low=low,
        high=high,
        p=found.difference.p,
        effect=found.ratio,
        effect_name="ratio of mean deviations",
        found=means(*sides),
        bars=bars_of_a_direction(*sides),
        **n_of(*sides),
    )


def similar(bench: Bench, claim: Claim) -> Outcome:
    sides = bench.sides(claim)
    few = too_few(*sides)
    return few or _equal(bench, claim.metric, *(Sample.of(side.values) for side in sides), sides)


def printed_mean(bench: Bench, claim: Claim) -> Outcome:
    """Our mean against the printed one, which enters with its ± over the paper's runs, or as a constant."""
    (side,), number = bench.sides(claim), claim.printed[0]
    few = too_few(side)
    if few:
        return few
    printed = Sample(number.value, number.std or 0.0, math.inf if number.std is None else PAPER_RUNS)
    return _equal(bench, claim.metric, Sample.of(side.values), printed, [side])


def _difference(bench: Bench, subject: Side, reference: Side, sign: int) -> Outcome:
    """Welch's t of the seeds' numbers; the claim is that the difference has this sign."""
    few = too_few(subject, reference)
    if few:
        return few
    difference = welch(Sample.of(subject.values), Sample.of(reference.values))
    if difference is None:
        return no_spread([subject, reference])
    difference = difference.cautious()
    low, high = difference.interval(bench.level)
    return Outcome(
        test="Welch's t",
        supports=difference.estimate * sign > 0,
        estimate=difference.estimate,
        low=low,
        high=high,
        p=difference.p,
        effect=hedges_g(subject.values, reference.values),
        effect_name="g",
        found=means(subject, reference),
        bars=bars_of_a_direction(subject, reference),
        **n_of(subject, reference),
    )


def _equal(bench: Bench, metric: str, subject: Sample, reference: Sample, sides: Sequence[Side]) -> Outcome:
    """Test: two means differ by less than the metric's margin."""
    margin = bench.margin(metric).around(reference.mean)
    difference = welch(subject, reference)
    if difference is None:
        return no_spread(sides)
    difference = difference.cautious()
    found, (low, high) = equivalence(difference, margin), difference.interval(bench.level)
    return Outcome(
        test=f"equivalence within {margin:.3g}",
        supports=found.within,
        estimate=difference.estimate,
        low=low,
        high=high,
        p=found.p,
        effect=hedges_g(*(side.values for side in sides)) if len(sides) == 2 else math.nan,
        effect_name="g" if len(sides) == 2 else "",
        found=f"{mean(subject)} against {mean(reference)}",
        bars=bars_of_equality(*sides),
        **n_of(*sides),
    )
