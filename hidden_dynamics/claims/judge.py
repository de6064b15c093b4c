"""The verdicts on the claims that are judged with an artifact: a test for each kind of claim, adjusted over families.

docs/claims.md gives the rules, of the second verdict, too.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hidden_dynamics.claims.bench import Bench
from hidden_dynamics.claims.claim import Claim
from hidden_dynamics.claims.comparisons import Claimed
from hidden_dynamics.claims.directions import HAS_A_DIRECTION
from hidden_dynamics.claims.evidence import Evidence
from hidden_dynamics.claims.holm import holm
from hidden_dynamics.claims.power import MOST
from hidden_dynamics.claims.shown import Shown
from hidden_dynamics.claims.tests_of_costs import printed_ratio, ratio
from hidden_dynamics.claims.tests_of_courses import faster, gradients, reaches
from hidden_dynamics.claims.tests_of_numbers import (
    better,
    gain,
    not_better,
    overfitting,
    printed_mean,
    similar,
    steadier,
)
from hidden_dynamics.claims.tests_of_tables import ranking, smaller
from hidden_dynamics.claims.verdict import (
    COLUMNS,
    INCONCLUSIVE,
    NOT_RUN,
    OF_THE_DIRECTION,
    UNDECIDED_HERE,
    Family,
    Outcome,
    decide,
)
from hidden_dynamics.configuration.runs import Cell, resolve
from hidden_dynamics.errors import UserError
from hidden_dynamics.papers.claims import Definitions
from hidden_dynamics.results.departures import data_text


def value(bench: Bench, claim: Claim) -> Outcome:
    """Our number against the printed one."""
    return printed_mean(bench, claim) if claim.reference is None else printed_ratio(bench, claim)


TESTS: dict[str, Callable[[Bench, Claim], Outcome]] = {
    test.__name__: test
    for test in (
        *(better, not_better, similar, steadier, gain, overfitting),
        *(faster, gradients, reaches, smaller, ranking, value, ratio),
    )
}


@dataclass(frozen=True)
class Judged:
    """A claim with its test's outcome, the family of this test, and the verdict.

    Attributes:
        here, here_reason: the second verdict, on the claim's direction under the scale's own conditions; "" without.
        departures: of its runs from the paper; where there are any, it is no verdict on the paper's claim.
        members: of the family, each claim's id and p.
        definitions: those of published/claims.yaml.
    """

    claim: Claim
    outcome: Outcome
    family: Family
    verdict: str
    reason: str
    here: str
    here_reason: str
    departures: str
    members: Sequence[tuple[str, float]]
    definitions: Definitions

    @property
    def alpha(self) -> float:
        """What the smallest p of the family is held to: Holm's first step."""
        return self.definitions.alpha / max(1, self.family.tests)

    @property
    def detectable(self) -> float | None:
        """The smallest difference or ratio that would have been found, among all tests of the family."""
        return self.outcome.detectable(self.alpha) if self.outcome.detectable else None

    @property
    def seeds_needed(self) -> str:
        """The seeds a model that would decide the printed difference, where these did not; "" where they did."""
        return self._seeds(self.outcome.seeds_needed)

    @property
    def seeds_for_found(self) -> str:
        """The same, of a true difference as large as the one found; "" where something else bars the verdict."""
        barred = self.outcome.bars[not self.outcome.supports]
        return "" if barred else self._seeds(self.outcome.seeds_for_found)

    def _seeds(self, needed: Callable[[float], int | None] | None) -> str:
        undecided = self.verdict == INCONCLUSIVE or self.here == UNDECIDED_HERE
        if not undecided or needed is None:
            return ""
        return str(needed(self.alpha) or f"more than {MOST}")


def judge(artifact: Shown, claims: Sequence[Claim], evidence: Evidence) -> list[Judged]:
    """A verdict on each claim."""
    bench = Bench(artifact, evidence)
    outcomes = [(claim, _outcome(bench, claim)) for claim in claims]
    families: dict[str, dict[tuple, tuple[str, float]]] = {}  # {family: {test: (id of its first claim, p)}}
    for claim, outcome in outcomes:
        if outcome is not None and outcome.p is not None:
            families.setdefault(claim.family, {}).setdefault(claim.test, (claim.id, outcome.p))
    return [_judged(bench, claim, outcome, families.get(claim.family, {})) for claim, outcome in outcomes]


def verdicts(artifact: Shown, claimed: Claimed, evidence: Evidence) -> list[dict[str, Any]]:
    """A row for each claim on the artifact (hidden_dynamics.claims.verdict.COLUMNS).

    Those that are judged with another artifact have its name, and no verdict unless it could not be judged here either.
    """
    bench = Bench(artifact, evidence)
    rows = [_row(bench, judged) for judged in judge(artifact, claimed.here, evidence)]
    for claim, other in claimed.elsewhere:
        not_run = bool(bench.absent(claim) or bench.departures(claim))
        rows.append(_about(bench, claim) | {"judged_with": other, "verdict": NOT_RUN if not_run else ""})
    return rows


def _outcome(bench: Bench, claim: Claim) -> Outcome | None:
    """None without runs."""
    return None if bench.absent(claim) else TESTS[claim.kind](bench, claim)


def _judged(bench: Bench, claim: Claim, outcome: Outcome | None, tests: dict[tuple, tuple[str, float]]) -> Judged:
    members = list(tests.values())
    adjusted = dict(zip(tests, holm([p for _, p in members]), strict=True))
    has_p = outcome is not None and outcome.p is not None
    family = Family(claim.family, len(members), adjusted[claim.test] if has_p else None)
    departures = bench.departures(claim)
    if outcome is None or departures:
        verdict, reason = NOT_RUN, departures or bench.absent(claim)
    else:
        verdict, reason = decide(outcome, family, bench.definitions.alpha)
    here = _here(bench, claim, outcome, family) if departures else ("", "")
    return Judged(claim, outcome or Outcome(), family, verdict, reason, *here, departures, members, bench.definitions)


def _here(bench: Bench, claim: Claim, outcome: Outcome | None, family: Family) -> tuple[str, str]:
    """The second verdict and its reason, of a claim whose runs depart from the paper; two times "" where it has none.

    The family is that of the first: all tests of its kind, metric and artifact, whether their runs depart or not. So p
    is adjusted over no fewer tests than those of either verdict.
    """
    if outcome is None or not bench.configuration.scale.directions or not HAS_A_DIRECTION[claim.kind]:
        return "", ""
    return decide(outcome, family, bench.definitions.alpha, OF_THE_DIRECTION)


def _about(bench: Bench, claim: Claim) -> dict[str, Any]:
    """What a row says of the claim itself."""
    own = {key: getattr(claim, key) for key in COLUMNS if hasattr(claim, key)}
    sides = {"subject": _variant(bench, claim.subject), "reference": _variant(bench, claim.reference)}
    return {**dict.fromkeys(COLUMNS, ""), **own, **sides, "entries": " ".join(claim.entries), "family": ""}


def _row(bench: Bench, judged: Judged) -> dict[str, Any]:
    claim, outcome, family = judged.claim, judged.outcome, judged.family
    rows = [row for cell in claim.cells for row in bench.rows(claim, cell)]
    data = [data_text(bench.configuration, row) for row in rows]
    found = {key: _cell(getattr(outcome, key)) for key in COLUMNS if hasattr(outcome, key)}
    tested = outcome.p is not None
    return {
        **_about(bench, claim),
        **found,
        "verdict": judged.verdict,
        "reason": judged.reason,
        "here": judged.here,
        "here_reason": judged.here_reason,
        "level": judged.definitions.level if tested and not math.isnan(outcome.low) else "",
        "p_adjusted": _cell(family.p_adjusted),
        "family": family.name if tested else "",
        "tests": family.tests if tested else "",
        "detectable": _cell(judged.detectable),
        "seeds_needed": judged.seeds_needed,
        "seeds_for_found": judged.seeds_for_found,
        "published": _published(claim),
        "stand_in": any(row["stand_in_for"] for row in rows),
        "data": "; ".join(dict.fromkeys(data)),
        "departures": judged.departures,
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
            mark = " (quoted)" if number.quoted else " (the best run)" if number.maximum else ""
            texts.append(f"{number.value:g}{spread}{mark}")
    return " against ".join(texts)


def _cell(value: Any) -> Any:
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else value
