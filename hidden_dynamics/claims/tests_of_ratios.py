"""The test of a ratio of two models' numbers over seeds, by their logarithms."""

import math
from collections.abc import Sequence

from hidden_dynamics.claims.bench import Bench
from hidden_dynamics.claims.bootstrap import bootstrap_t
from hidden_dynamics.claims.evidence import Side
from hidden_dynamics.claims.means import Sample, welch
from hidden_dynamics.claims.verdict import Outcome
from hidden_dynamics.claims.wording import bars_of_a_direction, n_of, no_spread, ratio_of, too_few

NO_BARS = ("", "")


def of_logarithms(
    bench: Bench,
    subject: Side,
    reference: Side,
    found: str,
    sign: int = -1,
    bars: tuple[str, str] = NO_BARS,
    resampled: bool = False,
) -> Outcome:
    """Test: the ratio subject / reference is below 1 (`sign` -1) or above 1 (`sign` 1); the sides hold logarithms.

    Args:
        found: the numbers that are compared, as text.
        bars: what forbids a verdict for the claim, and one against it, beside failed runs.
        resampled: by a bootstrap-t over seeds; else by Welch's t.
    """
    few = too_few(subject, reference)
    if few:
        return few
    test = bootstrap_t if resampled else _by_welch
    result = test(subject.values, reference.values, bench.level)
    if result is None:
        return no_spread([subject, reference], found)
    *interval, p = result
    own = bars_of_a_direction(subject, reference)
    return Outcome(
        test="bootstrap-t over seeds, of logarithms" if resampled else "Welch's t of logarithms",
        supports=interval[0] * sign > 0,
        **ratio_of(*(math.exp(value) for value in interval)),
        p=p,
        found=found,
        bars=tuple("; ".join(filter(None, pair)) for pair in zip(own, bars, strict=True)),
        **n_of(subject, reference),
    )


def _by_welch(
    subject: Sequence[float], reference: Sequence[float], level: float
) -> tuple[float, float, float, float] | None:
    """(estimate, low, high, p); the interval and p with whole degrees of freedom."""
    difference = welch(Sample.of(subject), Sample.of(reference))
    if difference is None:
        return None
    cautious = difference.cautious()
    return difference.estimate, *cautious.interval(level), cautious.p
