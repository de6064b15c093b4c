"""The test of a ratio of two models' numbers over seeds: that of a difference, of their logarithms."""

import math
from dataclasses import replace

from hidden_dynamics.claims.bench import Bench
from hidden_dynamics.claims.claim import Claim
from hidden_dynamics.claims.differences import of_two
from hidden_dynamics.claims.evidence import Side
from hidden_dynamics.claims.verdict import Outcome


def of_logarithms(
    bench: Bench,
    claim: Claim,
    subject: Side,
    reference: Side,
    found: str,
    sign: int = -1,
    bars: tuple[str, str] | None = None,
) -> Outcome:
    """Test: the ratio subject / reference is below 1 (`sign` -1) or above 1 (`sign` 1); the sides hold logarithms.

    Args:
        found: the numbers that are compared, as text.
        bars: as for `of_two`.
    """
    outcome = of_two(bench, claim, subject, reference, sign, bars=bars)
    if math.isnan(outcome.estimate):
        return replace(outcome, found=found)
    of_a_difference = outcome.detectable
    ratios = {key: math.exp(getattr(outcome, key)) for key in ("estimate", "low", "high", "paired_low", "paired_high")}
    return replace(
        outcome,
        **ratios,
        test=f"{outcome.test} of logarithms" if outcome.test else "",
        detectable=of_a_difference and (lambda alpha: math.exp(sign * of_a_difference(alpha))),
        seeds_needed=None,  # the paper prints no such ratio
        effect=ratios["estimate"],
        effect_name="ratio",
        found=found,
    )
