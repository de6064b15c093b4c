"""The questions under which the verdicts are read: each claim belongs to one, by the models that it compares."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from hidden_dynamics.claims.verdict import Words
from hidden_dynamics.papers.claims import OF_OTHERS
from hidden_dynamics.results.rows import Row

# By parts of the models' names, the first that fits: a claim on AdamLSTM and MomentumLSTM is one on Adam-type filters.
TITLES = {
    "adam": "Where Adam-type filters win and lose",
    "momentum": "What momentum did",
    "attention": "What attention did",
    "other": "The other comparisons, and the orders of whole tables",
}
MARKS = {"adam": {"adam", "rmsprop"}, "momentum": {"momentum", "sr"}, "attention": {"ace"}}
ORDER = ("momentum", "adam", "attention", "other")


@dataclass(frozen=True)
class Question:
    """A question, the claims that belong to it, and those of them that were judged.

    Attributes:
        claims: rows of verdicts.csv.
    """

    title: str
    claims: Sequence[Row]
    words: Words

    @cached_property
    def judged(self) -> list[Row]:
        return [claim for claim in self.claims if verdict_of(claim, self.words)]

    def by_place(self, place: Callable[[str], str]) -> dict[str, list[Row]]:
        """The judged claims by task; of several tasks at once, by the artifact that they are listed under.

        Args:
            place: gives the title of a task, or of an artifact, by its name.
        """
        found: dict[str, list[Row]] = {}
        for claim in self.judged:
            found.setdefault(place(claim["task"] or claim["artifact"]), []).append(claim)
        return found


def verdict_of(claim: Row, words: Words) -> str:
    """The verdict of this kind; "" where there is none."""
    return "" if claim[words.column] == words.none else claim[words.column]


def reason_of(claim: Row, words: Words) -> str:
    """The reason for the verdict of this kind."""
    return claim["reason" if words.column == "verdict" else f"{words.column}_reason"]


def questions(claims: Sequence[Row], words: Words) -> list[Question]:
    """All questions, also those without a judged claim."""
    found: dict[str, list[Row]] = {name: [] for name in ORDER}
    entries: dict[str, set[str]] = {}  # {id: the questions of its comparisons}
    for claim in claims:
        for entry in claim["entries"].split():
            entries.setdefault(entry, set()).add(_subject_of(claim))
    for claim in claims:
        found[_subject_of_others(claim, entries) if claim["kind"] in OF_OTHERS else _subject_of(claim)].append(claim)
    return [Question(TITLES[name], own, words) for name, own in found.items()]


def _subject_of_others(claim: Row, entries: Mapping[str, set[str]]) -> str:
    """The question that all the claims which decide this one belong to, if it is one."""
    parts = [part.partition(": ")[0] for part in claim["found"].split("; ")]
    subjects = set().union(*(entries.get(part, set()) for part in parts))
    return subjects.pop() if len(subjects) == 1 else "other"


def _subject_of(claim: Row) -> str:
    parts = {part for side in ("subject", "reference") for part in claim[side].partition("-")[0].split("_")}
    return next((name for name, marks in MARKS.items() if marks & parts), "other")
