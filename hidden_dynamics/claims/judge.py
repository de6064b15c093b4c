"""The verdicts on all claims of an artifact: a test for each kind of claim, adjusted over families.

docs/claims.md gives the rules.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from hidden_dynamics.claims.bench import Bench
from hidden_dynamics.claims.evidence import Evidence
from hidden_dynamics.claims.expansion import Claim
from hidden_dynamics.claims.holm import holm
from hidden_dynamics.claims.shown import Shown
from hidden_dynamics.claims.tests_of_costs import printed_ratio, ratio
from hidden_dynamics.claims.tests_of_courses import faster, gradients
from hidden_dynamics.claims.tests_of_numbers import better, overfitting, printed_mean, similar, steadier
from hidden_dynamics.claims.tests_of_tables import ranking, smaller
from hidden_dynamics.claims.verdict import COLUMNS, Outcome, decide
from hidden_dynamics.configuration.runs import Cell, resolve
from hidden_dynamics.errors import UserError


def value(bench: Bench, claim: Claim) -> Outcome:
    """Our number against the printed one; on the paper's own data, sizes and schedule only."""
    departures = bench.departures(claim)
    if departures:
        return Outcome(not_run=True, reason=departures)
    return printed_mean(bench, claim) if claim.reference is None else printed_ratio(bench, claim)


TESTS: dict[str, Callable[[Bench, Claim], Outcome]] = {
    test.__name__: test
    for test in (better, similar, steadier, faster, overfitting, gradients, smaller, ranking, value, ratio)
}


def verdicts(artifact: Shown, claims: Sequence[Claim], evidence: Evidence) -> list[dict[str, Any]]:
    """A row for each claim (hidden_dynamics.claims.verdict.COLUMNS).

    A family, over which p is adjusted, is the claims of one kind that rest on one artifact.
    """
    bench = Bench(artifact, evidence)
    outcomes = [_outcome(bench, claim) for claim in claims]
    adjusted: dict[int, float] = {}
    families: dict[str, list[int]] = {}
    for index, (claim, outcome) in enumerate(zip(claims, outcomes, strict=True)):
        if outcome.p is not None:
            families.setdefault(claim.kind, []).append(index)
    for members in families.values():
        adjusted |= dict(zip(members, holm([outcomes[index].p for index in members]), strict=True))
    return [
        _row(bench, claim, outcome, adjusted.get(index), len(families.get(claim.kind, ())))
        for index, (claim, outcome) in enumerate(zip(claims, outcomes, strict=True))
    ]


def _outcome(bench: Bench, claim: Claim) -> Outcome:
    absent = [cell for cell in claim.cells if not bench.rows(claim, cell)]
    if absent and claim.kind != "ranking":
        cells = ", ".join(f"{bench.label(cell)}{f' of size {cell.size}' if cell.size else ''}" for cell in absent)
        return Outcome(not_run=True, reason=f"no runs of {cells} on {claim.task}")
    return TESTS[claim.kind](bench, claim)


def _row(bench: Bench, claim: Claim, outcome: Outcome, p_adjusted: float | None, family: int) -> dict[str, Any]:
    verdict, reason = decide(outcome, p_adjusted, bench.level, family)
    rows = [row for cell in claim.cells for row in bench.rows(claim, cell)]
    data = [bench.stand_in(row) if row["stand_in_for"] else row["dataset_title"] for row in rows]
    own = {key: getattr(claim, key) for key in COLUMNS if hasattr(claim, key)}
    found = {key: getattr(outcome, key) for key in COLUMNS if hasattr(outcome, key)}
    return {
        **own,
        **{key: _cell(value) for key, value in found.items()},
        "subject": _variant(bench, claim.subject),
        "reference": _variant(bench, claim.reference),
        "verdict": verdict,
        "reason": reason,
        "level": bench.level if not math.isnan(outcome.low) and outcome.p is not None else "",
        "p_adjusted": _cell(p_adjusted),
        "family": f"{claim.artifact}, {claim.kind}: {family}" if outcome.p is not None else "",
        "published": _published(claim),
        "stand_in": any(row["stand_in_for"] for row in rows),
        "data": "; ".join(dict.fromkeys(data)),
        "departures": bench.departures(claim),
        "runs": " ".join(dict.fromkeys(row["directory"] for row in rows if "directory" in row)),
    }


def _variant(bench: Bench, cell: Cell | None) -> str:
    """The model with its size as run; with the paper's, where it is not configured at this scale."""
    if cell is None:
        return ""
    try:
        return resolve(bench.configuration, *cell, bench.configuration.seeds[0]).variant
    except UserError:
        return f"{cell.model}-{cell.size}"


def _published(claim: Claim) -> str:
    texts = []
    for number in claim.printed:
        if number is not None:
            spread = f" ± {number.std:g}" if number.std is not None else ""
            texts.append(f"{number.value:g}{spread}{' (quoted)' if number.quoted else ''}")
    return " against ".join(texts)


def _cell(value: Any) -> Any:
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else value
