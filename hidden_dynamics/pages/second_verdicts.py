"""The second verdicts as readers see them: apart from those on the papers' claims, in a sentence, with their findings.

A second verdict is on a claim's direction under a scale's own conditions (docs/claims.md). Its conditions, the
departures from the paper, always stand with it, and no number of the paper.
"""

from collections.abc import Sequence

from hidden_dynamics.claims.verdict import UNDECIDED_HERE, counts_here
from hidden_dynamics.pages.claims_list import numbers
from hidden_dynamics.papers.claims import OF_OTHERS
from hidden_dynamics.results.departures import listed
from hidden_dynamics.results.rows import Row

HEADING = "Second verdict, on the direction here, and none on the paper’s claim"


def seconds(claims: Sequence[Row]) -> list[Row]:
    """The claims that have a second verdict."""
    return [claim for claim in claims if claim["here"]]


def second_in_a_sentence(claims: Sequence[Row]) -> str:
    """How many claims have which second verdict; "" where there is none."""
    own = seconds(claims)
    if not own:
        return ""
    there = [f"{count} {verdict}" for verdict, count in counts_here(own).items() if count]
    return (
        f"Second verdicts, which are none on the papers’ claims, on the directions of {len(own)} claims under this "
        f"scale’s own conditions alone: {listed(there)}."
    )


def by_conditions(claims: Sequence[Row]) -> dict[str, list[Row]]:
    """The claims that have a second verdict, by the departures from the paper under which it was given."""
    found: dict[str, list[Row]] = {}
    for claim in seconds(claims):
        found.setdefault(claim["departures"], []).append(claim)
    return found


def findings_here(claim: Row) -> dict[str, str]:
    """The findings of a claim's test, by heading; "" where one does not apply; none of what other verdicts decide."""
    of_others = claim["kind"] in OF_OTHERS  # what was found are the verdicts on the papers' claims
    found = dict.fromkeys(numbers(claim), "") if of_others else numbers(claim)
    return {**found, "Seeds needed here": claim["seeds_needed"] if claim["here"] == UNDECIDED_HERE else ""}
