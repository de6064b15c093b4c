"""The verdicts on the papers' claims as readers see them: in a sentence, as findings, grouped by the paper's sentences.

A claim that is not run at this scale shows its statement and the reason, and no number: claims.csv has those.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hidden_dynamics.claims.verdict import INCONCLUSIVE, NOT_RUN, VERDICTS, counts, plain
from hidden_dynamics.papers.claims import OF_OTHERS
from hidden_dynamics.results.departures import listed
from hidden_dynamics.results.rows import Row


@dataclass(frozen=True)
class Group:
    """The claims on an artifact that check one thing that the paper says.

    Attributes:
        source: where the paper says it.
        counts: the number of each verdict that there is.
        judged: how many of them runs of this scale can decide.
        reasons: why they are not run, as far as it is the same for all; nothing where one of them is judged.
    """

    says: str
    source: str
    claims: list[Row]
    counts: dict[str, int]
    judged: int
    reasons: Sequence[str]

    def reason(self, claim: Row) -> str:
        """The reason for a claim's verdict, but for what holds for the whole group."""
        return "; ".join(part for part in reasons_of(claim) if part not in self.reasons)


def groups(claims: Sequence[Row]) -> list[Group]:
    """The claims by what the paper says, in their order."""
    found: dict[str, list[Row]] = {}
    for claim in claims:
        found.setdefault(claim["says"], []).append(claim)
    return [_group(says, members) for says, members in found.items()]


def _group(says: str, claims: list[Row]) -> Group:
    there = {verdict: count for verdict, count in counts(claims).items() if count}
    own = [reasons_of(claim) for claim in claims]
    shared = [part for part in own[0] if all(part in others for others in own)]
    return Group(says, claims[0]["source"], claims, there, len(judged(claims)), () if judged(claims) else shared)


def reasons_of(claim: Row) -> list[str]:
    """The reasons for a claim's verdict, without the verdict itself."""
    return parts(claim["reason"])


def parts(text: str) -> list[str]:
    """The parts of a text that are joined by semicolons, each once."""
    return list(dict.fromkeys(filter(None, text.split("; "))))


def judged(claims: Sequence[Row]) -> list[Row]:
    """The claims that runs of this scale can decide."""
    return [claim for claim in claims if claim["verdict"] not in ("", NOT_RUN)]


def not_run(claims: Sequence[Row]) -> list[Row]:
    return [claim for claim in claims if claim["verdict"] == NOT_RUN]


def verdicts_shown(claims: Sequence[Row]) -> Sequence[str]:
    """The verdicts that have a place on the page: where nothing is judged, only that."""
    return VERDICTS if judged(claims) else (NOT_RUN,)


def in_a_sentence(claims: Sequence[Row]) -> str:
    """The number of claims, how many have which verdict, and why the others have none."""
    if not claims:
        return "No claim of the papers rests on what is configured."
    start, waiting = f"{len(claims)} claims of the papers", not_run(claims)
    if not judged(claims):
        return f"{start}; none is judged at this scale: {_reasons(waiting)}."
    there = [f"{count} {verdict}" for verdict, count in counts(judged(claims)).items() if count]
    text = f"{start}: {listed(there)}"
    return f"{text}; {len(waiting)} not run at this scale: {_reasons(waiting)}." if waiting else f"{text}."


def _reasons(waiting: Sequence[Row]) -> str:
    """How many claims are not run for which reason: "9 rest on stand-in data and 3 on runs that are not there"."""
    (first, number), *others = Counter(_rests_on(claim) for claim in waiting).most_common()
    rests = f"{number} {'rests' if number == 1 else 'rest'} on {first}"
    return listed([rests, *(f"{number} on {reason}" for reason, number in others)])


def _rests_on(claim: Row) -> str:
    if claim["kind"] in OF_OTHERS:
        return "claims that are not run"
    if not claim["data"]:
        return "runs that are not there"
    return "stand-in data" if claim["stand_in"] == "true" else "other sizes or settings than the papers’"


def findings(claim: Row) -> dict[str, str]:
    """The findings of a claim's test, by heading; "" where one does not apply; none of a claim that is not run."""
    if claim["verdict"] == NOT_RUN:
        return {}
    needed = claim["seeds_needed"] if claim["verdict"] == INCONCLUSIVE else ""
    return {**numbers(claim), "Seeds needed": needed, "Published": claim["published"]}


def numbers(claim: Row) -> dict[str, str]:
    """What a claim's test found in the runs, by heading; "" where one does not apply."""
    return {
        "Found": claim["found"],
        "Difference or ratio": _interval(claim),
        "Paired by seed": _range(claim, "paired_low", "paired_high"),
        "Effect": f"{claim['effect_name']} = {_number(claim['effect'])}" if claim["effect_name"] == "g" else "",
        "p": _probability(claim),
        "n": " and ".join(filter(None, (claim["n_subject"], claim["n_reference"]))),
        "Detectable": _detectable(claim),
    }


def _interval(claim: Row) -> str:
    """The estimate and its interval; a ratio is marked as one."""
    if claim["estimate"] == "":
        return ""
    return " ".join(filter(None, (_mark(claim) + _written(claim, "estimate"), _range(claim, "low", "high"))))


def _mark(claim: Row) -> str:
    if "ratio" in claim["effect_name"]:
        return "× "
    return "tau = " if claim["kind"] == "ranking" else ""


def _range(claim: Row, low: str, high: str) -> str:
    return f"[{_written(claim, low)}, {_written(claim, high)}]" if claim[low] else ""


def _written(claim: Row, column: str) -> str:
    """A difference has a sign; a ratio and tau have a mark instead."""
    return _number(claim[column]) if _mark(claim) else _signed(claim[column])


def _detectable(claim: Row) -> str:
    return _mark(claim) + _number(claim["detectable"]) if claim["detectable"] else ""


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
