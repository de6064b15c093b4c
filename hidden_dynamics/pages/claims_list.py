"""The verdicts on the papers' claims, from claims.csv, for the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hidden_dynamics.claims.verdict import VERDICTS
from hidden_dynamics.errors import UserError
from hidden_dynamics.artifacts.figures import read_rows

COLUMNS = ("id", "paper", "artifact", "source", "statement", "verdict", "reason", "runs")
# What was found, in the order in which it is shown: column, what it is called.
FINDINGS = (
    *(
        ("found", "Found"),
        ("published", "Published"),
        ("test", "Test"),
        ("estimate", "Estimate"),
        ("p", "p"),
        ("p_adjusted", "p (adjusted)"),
    ),
    *(("effect", "Effect"), ("n_subject", "n"), ("n_reference", "n (reference)")),
    ("departures", "Departs from the paper"),
)


@dataclass(frozen=True)
class Group:
    """The claims that check one thing that a paper says, with the number of each verdict that there is."""

    says: str
    claims: list[Mapping[str, str]]
    counts: dict[str, int]


def read_claims(path: Path) -> list[dict[str, str]]:
    """The claims in their order, as text by column.

    Raises:
        UserError: the file is missing, lacks a column, or has a verdict that is none.
    """
    claims = read_rows(path)
    for claim in claims:
        missing = [column for column in COLUMNS if claim.get(column) is None]
        if missing:
            raise UserError(f"{path} has no {', '.join(missing)}: remove it and run snakemake again.")
        if claim["verdict"] not in VERDICTS:
            raise UserError(f"{path}: {claim['id']}: '{claim['verdict']}' is no verdict ({', '.join(VERDICTS)}).")
    return claims


def counts(claims: Sequence[Mapping[str, str]]) -> dict[str, int]:
    """{verdict: number of claims}, for every verdict."""
    return {verdict: sum(claim["verdict"] == verdict for claim in claims) for verdict in VERDICTS}


def groups(claims: Sequence[Mapping[str, str]]) -> list[Group]:
    """The claims by what the paper says, in their order; one that names nothing such stands for itself."""
    found: dict[str, list[Mapping[str, str]]] = {}
    for claim in claims:
        found.setdefault(claim.get("says") or claim["statement"], []).append(claim)
    return [
        Group(says, members, {verdict: count for verdict, count in counts(members).items() if count})
        for says, members in found.items()
    ]


def findings(claim: Mapping[str, str]) -> list[tuple[str, str]]:
    """[(name, value as text)] of what the test of a claim found, without what does not apply."""
    shown = []
    for column, name in FINDINGS:
        text = brief(claim.get(column) or "")
        if text and column == "estimate" and claim.get("low") and claim.get("high"):
            level = f"{100 * float(claim['level']):g} % interval" if claim.get("level") else "interval"
            text += f" ({level} {brief(claim['low'])} to {brief(claim['high'])})"
        if text and column == "effect" and claim.get("effect_name"):
            name = claim["effect_name"]
        if text:
            shown.append((name, text))
    return shown


def brief(text: str) -> str:
    """A number to four significant digits; any other text as it is."""
    try:
        return f"{float(text):.4g}".replace("-", "−")
    except ValueError:
        return text
