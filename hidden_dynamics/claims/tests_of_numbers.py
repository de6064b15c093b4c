"""Tests of numbers over seeds: better or not, steadier, similar, a printed mean, a larger lead, overfitting."""

import math
from collections.abc import Sequence
from dataclasses import replace

from hidden_dynamics.claims.bench import Bench
from hidden_dynamics.claims.claim import Claim
from hidden_dynamics.claims.differences import (
    and_beyond,
    of_two,
    steps_of,
    steps_of_resampling,
    steps_to_a_margin,
)
from hidden_dynamics.claims.evidence import Side
from hidden_dynamics.claims.means import Sample, combination, equivalence, hedges_g, welch
from hidden_dynamics.claims.power import detectable, detectable_ratio, detectable_within, seeds_needed_within
from hidden_dynamics.claims.spread import FEWEST, brown_forsythe, deviations
from hidden_dynamics.claims.verdict import Outcome, plain
from hidden_dynamics.claims.wording import (
    bars_of_a_direction,
    bars_of_equality,
    entering,
    joined,
    mean,
    means,
    no_spread,
    too_few,
)

PAPER_RUNS = 5  # "averaged over 5 runs" (MomentumRNN, 3), "five different random seeds" (ACE-NODE, 4)


def better(bench: Bench, claim: Claim) -> Outcome:
    """In the metric's own direction (config/metrics.yaml)."""
    return of_two(bench, claim, *bench.sides(claim), sign=bench.configuration.metrics[claim.metric].sign)


def not_better(bench: Bench, claim: Claim) -> Outcome:
    """The subject is ahead by less than the metric's margin, or behind."""
    sides, sign = bench.sides(claim), bench.configuration.metrics[claim.metric].sign
    few = too_few(*sides)
    if few:
        return few
    margin = bench.margin(claim.metric).around(sides[1].sample.mean)
    favours_the_reference = bars_of_a_direction(*sides[::-1])
    outcome = of_two(bench, claim, *sides, sign=-sign, shift=sign * margin, bars=favours_the_reference)
    return replace(outcome, test=f"{outcome.test}, ahead by {margin:.3g} at most") if outcome.test else outcome


def gain(bench: Bench, claim: Claim) -> Outcome:
    """The subject's lead over the reference is larger on the claim's task than on the other one.

    A run that failed bars the verdict that its number would have lessened, on either task.
    """
    sides, sign = bench.sides(claim), bench.configuration.metrics[claim.metric].sign
    few = too_few(*sides)
    if few:
        return few
    found = combination(list(zip((1, -1, -1, 1), (side.sample for side in sides), strict=True)))
    if found is None:
        return no_spread(sides)
    difference = found.cautious()
    low, high = difference.interval(bench.level)
    leads = [plain(one.sample.mean - other.sample.mean) for one, other in (sides[:2], sides[2:])]
    return Outcome(
        test="Welch's t of the difference of two leads",
        supports=difference.estimate * sign > 0,
        estimate=difference.estimate,
        low=low,
        high=high,
        p=difference.p,
        detectable=lambda alpha: detectable(difference, alpha, bench.definitions.power),
        found=" against ".join(leads),
        bars=joined(bars_of_a_direction(*sides[:2]), bars_of_a_direction(*sides[:1:-1])),
        working=[*steps_of_resampling(sides[0]), *steps_of(found, difference)],
        **entering(*sides),
    )


def overfitting(bench: Bench, claim: Claim) -> Outcome:
    """The reference overfits, and the subject's loss ends less far above its lowest."""
    if any(bench.evidence.evaluated_once(cell, claim.metric) for cell in claim.cells):
        return Outcome(reason="evaluated once: a rise above the lowest cannot be seen")
    found = (bench.evidence.rise(cell, claim.metric) for cell in claim.cells)
    (subject, _), (reference, shares) = (bench.over_seeds(claim, sides) for sides in found)
    outcome = replace(of_two(bench, claim, subject, reference, sign=-1), seeds_for_found=None)  # it takes more: below
    if outcome.p is None:
        return outcome
    share, overfits = shares.sample.mean, bench.definitions.overfits
    bar = f"{reference.label} does not overfit here (its loss ends {share:.1%} above its lowest)"
    bars = joined(outcome.bars, (bar if share <= overfits else "", ""))
    return and_beyond(replace(outcome, bars=bars), True, shares, overfits, sign=1)


def steadier(bench: Bench, claim: Claim) -> Outcome:
    """The Brown-Forsythe test of the spread over seeds."""
    sides = bench.sides(claim)
    few = too_few(*sides)
    found = None if few else brown_forsythe(*(side.values for side in sides))
    if found is None:
        return few or Outcome(reason=f"fewer than {FEWEST} seeds, or a model without spread", **entering(*sides))
    low, high = found.difference.interval(bench.level)
    return Outcome(
        test="Brown and Forsythe's t of deviations from the median",
        supports=found.difference.estimate < 0,
        estimate=found.difference.estimate,
        low=low,
        high=high,
        p=found.difference.p,
        detectable=lambda alpha: _detectable_spread(*sides, alpha, bench.definitions.power),
        effect=found.ratio,
        effect_name="ratio of mean absolute deviations",
        found=means(*sides),
        bars=bars_of_a_direction(*sides),
        working=[*_deviations(sides), *steps_of(found.difference, found.difference)],
        **entering(*sides),
    )


def _deviations(sides: Sequence[Side]) -> list[tuple[str, float]]:
    """Of each side, the mean absolute deviation from the median."""
    return [(f"mean absolute deviation, {side.label}", float(deviations(side.values).mean())) for side in sides]


def _detectable_spread(subject: Side, reference: Side, alpha: float, power: float) -> float | None:
    """The smallest difference of mean absolute deviations that is found, at the reference's."""
    ratio = detectable_ratio(len(reference.values), len(subject.values), alpha, power)
    return None if ratio is None else float(deviations(reference.values).mean()) * (1 - 1 / ratio)


def similar(bench: Bench, claim: Claim) -> Outcome:
    sides = bench.sides(claim)
    few = too_few(*sides)
    if few:
        return few
    subject, reference = (side.sample for side in sides)
    return _equal(bench, subject, reference, sides, bench.margin(claim.metric).around(reference.mean))


def printed_mean(bench: Bench, claim: Claim) -> Outcome:
    """Our mean against the printed one, which enters with its ± over the paper's runs.

    The margin is at most half of the published gap to the baseline: where a row's value and the baseline's are
    reproduced, their order is.
    """
    (side,), number = bench.sides(claim), claim.printed[0]
    few = too_few(side)
    if few:
        return few
    printed = Sample(number.value, number.std, number.runs or PAPER_RUNS, side.resampled)
    margin = bench.margin(claim.metric).around(number.value)
    margin = margin if claim.hidden_gap is None else min(margin, claim.hidden_gap / 2)
    return _equal(bench, side.sample, printed, [side], margin)


def _equal(bench: Bench, subject: Sample, reference: Sample, sides: Sequence[Side], margin: float) -> Outcome:
    """Test: two means differ by less than the margin."""
    raw = welch(subject, reference)
    if raw is None:
        return no_spread(sides)
    difference = raw.cautious()
    found, (low, high) = equivalence(difference, margin), difference.interval(bench.level)
    printed, power = None if len(sides) == 2 else reference, bench.definitions.power
    return Outcome(
        test=f"equivalence within {margin:.3g}",
        supports=found.within,
        estimate=difference.estimate,
        low=low,
        high=high,
        p=found.p,
        detectable=lambda alpha: detectable_within(difference, alpha, power),
        seeds_needed=lambda alpha: seeds_needed_within(
            margin, subject.std, printed or reference.std, alpha, power=power, resampled=subject.resampled
        ),
        effect=hedges_g(*(side.values for side in sides)) if len(sides) == 2 else math.nan,
        effect_name="g" if len(sides) == 2 else "",
        found=f"{mean(subject)} against {mean(reference)}",
        bars=bars_of_equality(*sides),
        working=[*_printed_steps(printed), *steps_of_resampling(sides[0]), *steps_to_a_margin(raw, difference, margin)],
        **entering(*sides),
    )


def _printed_steps(printed: Sample | None) -> list[tuple[str, float]]:
    if printed is None:
        return []
    return [("printed mean", printed.mean), ("printed standard deviation", printed.std), ("printed n", printed.n)]
