"""Errors over all tests of a scale together: p is adjusted within families alone, and there are many families."""

from collections.abc import Sequence
from typing import NamedTuple

from scipy.stats import false_discovery_control

from hidden_dynamics.claims.statistics import holm
from hidden_dynamics.claims.verdict import FAILS, HOLDS
from hidden_dynamics.papers.claims import load_claims
from hidden_dynamics.results.rows import Row


class Discoveries(NamedTuple):
    """
    Attributes:
        tests: different ones, of the primary metric of each task.
        decided: of them, by a p that is adjusted within its family.
        survive: of those, with p adjusted over all tests (Holm 1979).
        rate: the smallest false discovery rate at which Benjamini and Hochberg's procedure (1995) accepts all that
            are decided; 0 where none is.
    """

    tests: int
    decided: int
    survive: int
    rate: float


def discoveries(claims: Sequence[Row], alpha: float) -> Discoveries:
    """Of the claims that count and have a p (rows of claims.csv)."""
    tested = [row for row in claims if row["counted"] == "true" and row["p"]]
    ps = [float(row["p"]) for row in tested]
    adjusted = zip(tested, holm(ps), false_discovery_control(ps), strict=True)
    decided = [(p, float(rate)) for row, p, rate in adjusted if row["verdict"] in (HOLDS, FAILS)]
    survive = sum(p < alpha for p, _ in decided)
    return Discoveries(len(tested), len(decided), survive, max((rate for _, rate in decided), default=0.0))


def in_a_sentence(claims: Sequence[Row]) -> str:
    """How many tests are decided, how many of them survive one adjustment over all, and the rate of false ones."""
    found = discoveries(claims, load_claims().definitions.alpha)
    if not found.tests:
        return "No claim is tested at this scale."
    if not found.decided:
        return f"None of the {found.tests} tests that were made and count is decided."
    return (
        f"{found.decided} of the {found.tests} tests that were made and count are decided, each adjusted within its "
        f"family, where tests that were not made count, too. {found.survive} of them survive one adjustment over all "
        f"that were made (Holm), and all are found at a false discovery rate of at most {100 * found.rate:.2g} % "
        "(Benjamini and Hochberg)."
    )
