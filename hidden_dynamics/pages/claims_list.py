"""The verdicts on the papers' claims as readers see them: findings, grouped by the paper's sentences."""

from collections.abc import Sequence
from dataclasses import dataclass

from hidden_dynamics.claims.verdict import counts, plain
from hidden_dynamics.results.rows import Row


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


def findings(claim: Row) -> dict[str, str]:
    """The findings of a claim's test, by heading; "" where one does not apply."""
    return {
        "Found": claim["found"],
        "Difference or ratio": _interval(claim),
        "Effect": f"{claim['effect_name']} = {_number(claim['effect'])}" if claim["effect_name"] == "g" else "",
        "p": _probability(claim),
        "n": " and ".join(filter(None, (claim["n_subject"], claim["n_reference"]))),
        "Published": claim["published"],
    }


def _interval(claim: Row) -> str:
    """The estimate and its interval; a ratio is marked as one."""
    if claim["estimate"] == "":
        return ""
    ratio = "ratio" in claim["effect_name"]
    number = _number if ratio or claim["kind"] == "ranking" else _signed
    mark = "× " if ratio else "tau = " if claim["kind"] == "ranking" else ""
    text = mark + number(claim["estimate"])
    return text if claim["low"] == "" else f"{text} [{number(claim['low'])}, {number(claim['high'])}]"


def _probability(claim: Row) -> str:
    """p and, where it differs, the p adjusted over the family."""
    if claim["p"] == "":
        return ""
    p, adjusted = (_small(float(claim[key])) for key in ("p", "p_adjusted"))
    return p if p == adjusted else f"{p}; Holm {adjusted}"


def _small(p: float) -> str:
    return "<0.0001" if p < 1e-4 else plain(p, 2)


def _number(text: str) -> str:
    return plain(float(text)).replace("-", "−")


def _signed(text: str) -> str:
    return ("+" if float(text) > 0 else "") + _number(text)
