"""The test of a difference of two models' means over seeds, and what stands beside it.

Welch's t carries the verdict, and the interval of the differences seed by seed stands beside it; where a seed is a
block, the paired t carries it (docs/claims.md, Pairing), corrected where blocks are parts of the same data.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from hidden_dynamics.claims.bench import Bench
from hidden_dynamics.claims.claim import Claim
from hidden_dynamics.claims.evidence import Side, of_shared_seeds
from hidden_dynamics.claims.means import Difference, against, hedges_g, paired, welch
from hidden_dynamics.claims.power import detectable, seeds_needed, seeds_needed_paired
from hidden_dynamics.claims.verdict import Outcome, plain
from hidden_dynamics.claims.wording import bars_of_a_direction, entering, means, no_spread, too_few

Needed = Callable[[float, float], int | None]  # of a true difference and the p that is small enough


def of_two(
    bench: Bench,
    claim: Claim,
    subject: Side,
    reference: Side,
    sign: int,
    shift: float = 0.0,
    bars: tuple[str, str] | None = None,
) -> Outcome:
    """Test: the subject's mean less the reference's lies above `shift` (`sign` 1) or below it (`sign` -1).

    Args:
        bars: what forbids a verdict for the claim, and one against it; by default, that runs failed of the model which
            it favours, where the claim favours the subject.
    """
    bars = bars or bars_of_a_direction(subject, reference)
    pair = of_shared_seeds(subject, reference)
    blocked = bench.blocked(claim)
    subject, reference = pair if blocked else (subject, reference)  # a block that lacks one of them says nothing
    few = too_few(subject, reference)
    if few:
        return replace(few, **_without_a_test(subject, reference))
    by_seed = paired(*(side.values for side in pair), subject.resampled) if len(pair[0].values) > 1 else None
    raw = by_seed if blocked else welch(subject.sample, reference.sample)
    if raw is None:
        return no_spread([subject, reference])
    difference, found = raw.cautious(), abs(raw.estimate - shift)
    needed = _needed(bench, subject, reference, by_seed if blocked else None)
    printed = None if shift else _printed_gap(claim)
    low, high = difference.interval(bench.level)
    paired_low, paired_high = by_seed.interval(bench.level) if by_seed else (math.nan, math.nan)
    return Outcome(
        test=("corrected resampled t" if subject.resampled else "paired t") if blocked else "Welch's t",
        supports=(difference.estimate - shift) * sign > 0,
        estimate=difference.estimate,
        low=low,
        high=high,
        p=difference.less(shift).p,
        paired_low=paired_low,
        paired_high=paired_high,
        detectable=lambda alpha: detectable(difference, alpha, bench.definitions.power),
        seeds_needed=None if printed is None else lambda alpha: needed(printed, alpha),
        seeds_for_found=lambda alpha: needed(found, alpha),
        effect=hedges_g(subject.values, reference.values),
        effect_name="g",
        found=means(subject, reference),
        bars=bars,
        working=[*steps_of_resampling(subject), *steps_of(raw, difference, shift)],
        **entering(subject, reference),
    )


def and_beyond(outcome: Outcome, claimed: bool, side: Side, threshold: float, sign: int) -> Outcome:
    """A verdict for the claim (or against it: `claimed` False) also takes that one model's mean is beyond a threshold.

    Both have to hold, so the larger p is that of both (intersection-union: Berger 1982). p of the mean is one-sided.

    Args:
        sign: 1 where it has to lie above the threshold, -1 below.
    """
    if outcome.supports is not claimed or outcome.p is None:
        return outcome
    sample = side.sample
    difference = against(sample, threshold)
    p = difference.cautious().p_beyond(sign) if difference else float(sign * (sample.mean - threshold) <= 0)
    step = (f"p, one-sided, of {side.label} {'above' if sign > 0 else 'below'} {plain(threshold)}", p)
    return replace(outcome, p=max(outcome.p, p), working=[*outcome.working, step])


def _without_a_test(subject: Side, reference: Side) -> dict[str, Any]:
    """What one run of each says: a difference, without a verdict."""
    if not (subject.values and reference.values):
        return {}
    one, other = (float(np.mean(side.values)) for side in (subject, reference))
    return {"estimate": one - other, "found": f"{plain(one, 4)} against {plain(other, 4)}"}


def _printed_gap(claim: Claim) -> float | None:
    """None where the paper prints no two numbers."""
    return None if None in claim.printed else abs(claim.printed[0].value - claim.printed[1].value)


def _needed(bench: Bench, subject: Side, reference: Side, by_seed: Difference | None) -> Needed:
    """The seeds with which the test finds a true difference of the means, at the spread seen."""
    power = bench.definitions.power
    if by_seed is not None:
        std, resampled = by_seed.error / math.sqrt(subject.sample.share), subject.resampled
        return lambda gap, alpha: seeds_needed_paired(gap, std, alpha, power=power, resampled=resampled)
    one, other = (side.sample.std for side in (subject, reference))
    return lambda gap, alpha: seeds_needed(gap, one, other, alpha, power=power)


def steps_of_resampling(side: Side) -> list[tuple[str, float]]:
    """Where seeds are random parts of the same data, what this adds to the variance of a mean of theirs."""
    return [("added to 1/n in the variance, n_test / n_train", side.resampled)] if side.resampled else []


def steps_of(raw: Difference, used: Difference, shift: float = 0.0) -> list[tuple[str, float]]:
    """The steps of a t test, for readers who follow it.

    Args:
        raw: the difference with its own degrees of freedom.
        used: with those that the test takes.
        shift: the difference that it is held to.
    """
    about = [("held to a difference of", shift)] if shift else []
    return [*_steps_before_t(raw, used), *about, ("t", (raw.estimate - shift) / raw.error)]


def steps_to_a_margin(raw: Difference, used: Difference, margin: float) -> list[tuple[str, float]]:
    """The same of a test of equivalence: t is that of the margin's nearer end."""
    t = (abs(raw.estimate) - margin) / raw.error
    return [*_steps_before_t(raw, used), ("margin", margin), ("t, from the margin's nearer end", t)]


def _steps_before_t(raw: Difference, used: Difference) -> list[tuple[str, float]]:
    return [
        ("difference of the means", raw.estimate),
        ("standard error", raw.error),
        ("degrees of freedom", raw.degrees),
        ("degrees of freedom, rounded down", used.degrees),
    ]
