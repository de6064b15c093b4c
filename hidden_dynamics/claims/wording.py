"""Numbers and sides of a test in words, and what too few or failed runs forbid."""

import math
from collections.abc import Sequence
from typing import Any

from hidden_dynamics.claims.evidence import Side
from hidden_dynamics.claims.means import Sample
from hidden_dynamics.claims.verdict import Outcome, plain


def mean(sample: Sample) -> str:
    return f"{plain(sample.mean, 4)} ± {plain(sample.std, 2)}"


def means(*sides: Side) -> str:
    return " against ".join(mean(side.sample) for side in sides)


def listed(side: Side) -> str:
    return ", ".join(plain(value) if value < 1000 else f"{value:.0f}" for value in side.values) or "none"


def entering(*sides: Side) -> dict[str, Any]:
    """The sides of a test and their numbers of values, as an outcome has them."""
    of = {name: len(side.values) for name, side in zip(("n_subject", "n_reference"), sides, strict=False)}
    return {"sides": sides, **of}


def ratio_of(estimate: float, low: float = math.nan, high: float = math.nan, name: str = "ratio") -> dict[str, Any]:
    """A ratio and its interval, as an outcome has them; it is an effect itself."""
    return {"estimate": estimate, "low": low, "high": high, "effect": estimate, "effect_name": name}


def too_few(*sides: Side) -> Outcome | None:
    """Inconclusive where a side has no spread over seeds; None where both have two numbers or more."""
    short = [side for side in sides if len(side.values) < 2]
    if not short:
        return None
    failed = [side.without for side in sides if side.failed]
    text = ", ".join(f"n = {len(side.values)} for {side.label}" for side in short)
    return Outcome(reason="; ".join([f"{text}: no spread over seeds to test with", *failed]), **entering(*sides))


def no_spread(sides: Sequence[Side], found: str = "") -> Outcome:
    """Seeds that all give one number: the test has nothing to hold the difference to."""
    reason = "no spread between seeds: nothing to test with"
    return Outcome(reason=reason, found=found or means(*sides), **entering(*sides))


def bars_of_a_direction(subject: Side, reference: Side) -> tuple[str, str]:
    """No verdict for a claim in favour of a model of which runs failed, nor against it when the other's did."""
    return (subject.without if subject.failed else "", reference.without if reference.failed else "")


def joined(*bars: tuple[str, str]) -> tuple[str, str]:
    """What forbids a verdict for a claim, and one against it, for several reasons."""
    return tuple("; ".join(filter(None, reasons)) for reasons in zip(*bars, strict=True))


def bars_of_equality(*sides: Side) -> tuple[str, str]:
    """Any failed run forbids that two numbers are called the same."""
    return "; ".join(side.without for side in sides if side.failed), ""
