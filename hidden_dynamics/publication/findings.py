"""findings.md: the verdicts in words, question by question and place by place, each number with its claim.

decided.md has a sentence with all numbers on each claim that is decided, undecided.md a row on each that is not, with
what deciding it would take.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from hidden_dynamics.claims.verdict import OF_THE_DIRECTION, OF_THE_PAPER, Words
from hidden_dynamics.papers.claims import OF_OTHERS, load_claims
from hidden_dynamics.publication.levels import levels
from hidden_dynamics.publication.pairs import Pair, pairs
from hidden_dynamics.publication.questions import Question, questions, verdict_of
from hidden_dynamics.publication.results_read import Results
from hidden_dynamics.publication.sentences import Sentences, pointing, seeds_for
from hidden_dynamics.publication.texts import text
from hidden_dynamics.results.rows import Row

PAGES = ("findings.md", "decided.md", "undecided.md")
REACHES = (10, 20, 50, 100)  # seeds of each model, by which the undecided claims are counted
NEAREST = 8  # of the undecided claims, how many are named on the page


@dataclass(frozen=True)
class Kind:
    """All that has verdicts of one kind: on the directions here, or the papers' own. They stand in parts of their own.

    Attributes:
        verdict: what it is, after "has" or "have".
    """

    words: Words
    heading: str
    about: str
    verdict: str
    questions: Sequence[Question]
    results: Results

    @property
    def judged(self) -> list[Row]:
        return [claim for question in self.questions for claim in question.judged]

    @property
    def undecided(self) -> list[Row]:
        return [claim for claim in self.judged if verdict_of(claim, self.words) == self.words.undecided]

    def pairs(self, claims: Sequence[Row], sentences: Sentences) -> list[Pair]:
        return pairs(claims, self.words, sentences)

    def decided(self, claims: Sequence[Row]) -> list[Row]:
        return [claim for claim in claims if verdict_of(claim, self.words) not in ("", self.words.undecided)]

    def counted(self, claims: Sequence[Row]) -> str:
        """How many of the claims have each verdict: "holds here 3, fails here 0, undecided here 1"."""
        return ", ".join(f"{word} {count}" for word, count in self._counts(claims).items())

    def at_a_glance(self, place: Callable[[str], str]) -> dict[str, list[str]]:
        """Of each place, and at last of all, the counts of its verdicts question by question: "3 / 0 / 1"."""
        by_place = [question.by_place(place) for question in self.questions]
        rows = {name: [own.get(name, []) for own in by_place] for name in dict.fromkeys(chain(*by_place))}
        rows["**all**"] = [question.judged for question in self.questions]
        return {name: [self._brief(claims) for claims in row] for name, row in rows.items()}

    def _brief(self, claims: Sequence[Row]) -> str:
        return " / ".join(map(str, self._counts(claims).values())) if claims else "–"

    def _counts(self, claims: Sequence[Row]) -> dict[str, int]:
        found = [verdict_of(claim, self.words) for claim in claims]
        return {word: found.count(word) for word in (self.words.holds, self.words.fails, self.words.undecided)}

    @property
    def within_reach(self) -> list[tuple[str, int]]:
        """(seeds of a model in words, how many undecided claims would be told with them, and not with fewer)."""
        needed = [seeds_for(claim) for claim in self.undecided]
        edges = [0, *REACHES, math.inf]
        counts = [sum(n is not None and low < n <= high for n in needed) for low, high in pairwise(edges)]
        words = [f"up to {REACHES[0]}", *(f"to {most}" for most in REACHES[1:]), "more", "not told"]
        return list(zip(words, [*counts, needed.count(None)], strict=True))

    @property
    def nearest(self) -> list[Row]:
        """The undecided claims that the fewest seeds would decide."""
        told = [(needed, claim) for claim in self.undecided if (needed := seeds_for(claim)) is not None]
        return [claim for _, claim in sorted(told, key=lambda one: (one[0], int(one[1]["number"])))[:NEAREST]]

    def pointing(self, question: Question) -> tuple[int, int]:
        """(how many comparisons of a question point the claim's way, how many have a way)."""
        return pointing(question.judged, self.results.configuration)

    def levels(self, claims: Sequence[Row]) -> list[str]:
        """How far the models came on the tasks of the claims, a sentence each."""
        tasks = dict.fromkeys(claim["task"] for claim in claims if claim["task"])
        return [sentence for task in tasks for sentence in levels(self.results, task)]


def findings(results: Results, command: str) -> dict[str, str]:
    """findings.md, decided.md and undecided.md.

    Args:
        command: that makes them.
    """
    definitions = load_claims().definitions
    values = {
        "command": command,
        "scale": results.configuration.scale_name,
        "claims": len(results.claims),
        "kinds": [_kind(results, words) for words in (OF_THE_DIRECTION, OF_THE_PAPER) if words in results.words],
        "sentences": Sentences.of(results.configuration, results.artifacts, results.summary),
        "level": f"{definitions.level:g}",
        "power": f"{definitions.power:g}",
    }
    return {name: text(f"{name}.j2", values) for name in PAGES}


def _kind(results: Results, words: Words) -> Kind:
    own = questions(results.claims, words)
    if words == OF_THE_PAPER:
        return Kind(
            words,
            "The papers’ claims",
            "On the papers’ own data, at their sizes and after their training.",
            "a verdict of the paper’s own",
            own,
            results,
        )
    judged = [claim for question in own for claim in question.judged]
    of_runs = [claim for claim in judged if claim["stand_in"] == "true" and claim["kind"] not in OF_OTHERS]
    replaced = dict.fromkeys(part for claim in of_runs for part in claim["data"].split("; "))
    stand_ins = sum(claim["stand_in"] == "true" for claim in judged)
    compared = {run for claim in judged for run in claim["runs"].split()}
    data = f": {'; '.join(replaced)}" if replaced else ""
    return Kind(
        words,
        "The directions of the claims, under these conditions",
        f"No verdict on a paper’s claim: {len(compared)} of the {len(results.runs)} runs are compared with each other, "
        f"for {len(judged)} claims. {stand_ins} of these rest on data in the place of the paper’s{data}. All depart "
        "from the paper as [README.md](README.md) says, task by task.",
        "a verdict on the direction",
        own,
        results,
    )
