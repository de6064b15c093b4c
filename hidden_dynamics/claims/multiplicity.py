"""Errors over all tests of a scale together: p is adjusted within families alone, and there are many families."""

from collections.abc import Sequence

from scipy.stats import false_discovery_control

from hidden_dynamics.claims.statistics import holm
from hidden_dynamics.claims.verdict import FAILS, HOLDS
from hidden_dynamics.papers.claims import load_claims
from hidden_dynamics.results.rows import Row


def in_a_sentence(claims: Sequence[Row]) -> str:
    """How many tests (of rows of claims.csv that count and have a p) are decided, how many of them survive one
    adjustment over all (Holm 1979), and the smallest false discovery rate at which Benjamini and Hochberg's procedure
    (1995) accepts all that are decided."""
    tested = [row for row in claims if row["counted"] == "true" and row["p"]]
    if not tested:
        return "No claim is tested at this scale."
    ps = [float(row["p"]) for row in tested]
    adjusted = zip(tested, holm(ps), false_discovery_control(ps), strict=True)
    decided = [(p, float(rate)) for row, p, rate in adjusted if row["verdict"] in (HOLDS, FAILS)]
    if not decided:
        return f"None of the {len(tested)} tests that were made and count is decided."
    survive = sum(p < load_claims().definitions.alpha for p, _ in decided)
    return (
        f"{len(decided)} of the {len(tested)} tests that were made and count are decided, each adjusted within its "
        f"family, where tests that were not made count, too. {survive} of them survive one adjustment over all "
        f"that were made (Holm), and all are found at a false discovery rate of at most "
        f"{100 * max(rate for _, rate in decided):.2g} % (Benjamini and Hochberg)."
    )
