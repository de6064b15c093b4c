"""The verdicts on the papers' claims as readers see them: in a sentence, as findings, grouped by the paper's sentences.

A claim that is not run at this scale shows its statement and the reason, and no number: claims.csv has those. A second
verdict, on a claim's direction under a scale's own conditions (docs/claims.md), stands apart, with these conditions,
the departures from the paper, and without a number of the paper.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from hidden_dynamics.claims.verdict import INCONCLUSIVE, NOT_RUN, UNDECIDED_HERE, VERDICTS, counts, counts_here, plain
from hidden_dynamics.papers.claims import OF_OTHERS
from hidden_dynamics.results.departures import listed
from hidden_dynamics.results.rows import Row

SECOND_HEADING = "Second verdict, on the direction here, and none on the paper’s claim"


@dataclass(frozen=True)
class Group:
    """The claims on an artifact that check one thing that the paper says."""

    says: str
    claims: list[Row]

    @property
    def source(self) -> str:
        """Where the paper says it."""
        return self.claims[0]["source"]

    @property
    def counts(self) -> dict[str, int]:
        return counts(self.claims)

    @property
    def judged(self) -> bool:
        return bool(judged(self.claims))

    @cached_property
    def reasons(self) -> list[str]:
        """Why they are not run, as far as it is the same for all; nothing where one of them is judged."""
        first, *others = map(reasons_of, self.claims)
        return [] if self.judged else [part for part in first if all(part in other for other in others)]

    def reason(self, claim: Row) -> str:
        """The reason for a claim's verdict, but for what holds for the whole group."""
        return "; ".join(part for part in reasons_of(claim) if part not in self.reasons)


def groups(claims: Sequence[Row]) -> list[Group]:
    """The claims by what the paper says, in their order."""
    found: dict[str, list[Row]] = {}
    for claim in claims:
        found.setdefault(claim["says"], []).append(claim)
    return [Group(says, members) for says, members in found.items()]


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


def seconds(claims: Sequence[Row]) -> list[Row]:
    """The claims that have a second verdict."""
    return [claim for claim in claims if claim["here"]]


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
    return {**_numbers(claim), "Seeds needed": needed, "Published": claim["published"]}


def findings_here(claim: Row) -> dict[str, str]:
    """The same for a second verdict; none of what other verdicts decide, which are those on the papers' claims."""
    found = _numbers(claim)
    found = dict.fromkeys(found, "") if claim["kind"] in OF_OTHERS else found
    return {**found, "Seeds needed here": claim["seeds_needed"] if claim["here"] == UNDECIDED_HERE else ""}


def _numbers(claim: Row) -> dict[str, str]:
    """What a claim's test found in the runs, by heading; "" where one does not apply."""
    mark = "× " if "ratio" in claim["effect_name"] else "tau = " if claim["kind"] == "ranking" else ""

    def written(column: str) -> str:
        """A difference has a sign; a ratio and tau have a mark instead."""
        return ("+" if not mark and float(claim[column]) > 0 else "") + _number(claim[column])

    def interval(low: str, high: str) -> str:
        return f"[{written(low)}, {written(high)}]" if claim[low] else ""

    estimate = mark + written("estimate") if claim["estimate"] else ""
    return {
        "Found": claim["found"],
        "Difference or ratio": " ".join(filter(None, (estimate, interval("low", "high")))),
        "Paired by seed": interval("paired_low", "paired_high"),
        "Effect": f"g = {_number(claim['effect'])}" if claim["effect_name"] == "g" else "",
        "p": _probability(claim),
        "n": " and ".join(filter(None, (claim["n_subject"], claim["n_reference"]))),
        "Detectable": mark + _number(claim["detectable"]) if claim["detectable"] else "",
    }


def _probability(claim: Row) -> str:
    """p and, where it differs, the p adjusted over the family."""
    if claim["p"] == "":
        return ""
    values = [float(claim[key]) for key in ("p", "p_adjusted")]
    p, adjusted = ("<0.0001" if value < 1e-4 else plain(value, 2) for value in values)
    return p if p == adjusted else f"{p}; Holm {adjusted}"


def _number(text: str) -> str:
    return plain(float(text)).replace("-", "−")
