"""The verdicts on the papers' claims, as the page lists them."""

from collections.abc import Sequence
from dataclasses import dataclass

from hidden_dynamics.claims.verdict import counts
from hidden_dynamics.results.rows import Row

# What was found, in the order in which it is shown: column, what it is called.
FINDINGS = {
    "found": "Found",
    "published": "Published",
    "test": "Test",
    "estimate": "Estimate",
    "p": "p",
    "p_adjusted": "p (adjusted)",
    "effect": "Effect",
    "n_subject": "n",
    "n_reference": "n (reference)",
}


@dataclass(frozen=True)
class Group:
    """The claims on an artifact that check one thing that the paper says.

    Attributes:
        source: where the paper says it.
        counts: the number of each verdict that there is.
        departures: how the runs differ from the paper's, where this is the same for all claims.
    """

    says: str
    source: str
    claims: list[Row]
    counts: dict[str, int]
    departures: str


def groups(claims: Sequence[Row]) -> list[Group]:
    """The claims by what the paper says, in their order."""
    found: dict[str, list[Row]] = {}
    for claim in claims:
        found.setdefault(claim["says"], []).append(claim)
    return [_group(says, members) for says, members in found.items()]


def _group(says: str, claims: list[Row]) -> Group:
    there = {verdict: count for verdict, count in counts(claims).items() if count}
    departures = {claim["departures"] for claim in claims}
    return Group(says, claims[0]["source"], claims, there, departures.pop() if len(departures) == 1 else "")


def findings(claim: Row) -> list[tuple[str, str]]:
    """[(name, value as text)] of what the test of a claim found, without what does not apply."""
    shown = []
    for column, name in FINDINGS.items():
        text = brief(claim[column])
        if text and column == "estimate" and claim["low"] and claim["high"]:
            level = f"{100 * float(claim['level']):g} % interval" if claim["level"] else "interval"
            text += f" ({level} {brief(claim['low'])} to {brief(claim['high'])})"
        if text and column == "effect" and claim["effect_name"]:
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
