"""findings.md: the verdicts read in words, question by question, each sentence with its numbers and its claim."""

from collections.abc import Sequence
from dataclasses import dataclass

from hidden_dynamics.claims.verdict import OF_THE_DIRECTION, OF_THE_PAPER, Words
from hidden_dynamics.papers.claims import load_claims
from hidden_dynamics.publication.questions import Question, questions, reason_of, verdict_of
from hidden_dynamics.publication.results_read import Results
from hidden_dynamics.publication.sentences import Sentences, points_as_claimed, seeds_for
from hidden_dynamics.publication.texts import text
from hidden_dynamics.results.rows import Row


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

    def counted(self, question: Question) -> str:
        return ", ".join(f"{verdict} {count}" for verdict, count in question.counted())

    def pointing(self, question: Question) -> tuple[int, int]:
        """(how many of the comparisons of a question point the claim's way, how many have a way)."""
        found = [points_as_claimed(claim, self.results.configuration) for claim in question.judged]
        return found.count(True), len(found) - found.count(None)

    def reason(self, claim: Row) -> str:
        return reason_of(claim, self.words)


def findings(results: Results, command: str) -> str:
    """The page.

    Args:
        command: that makes it.
    """
    definitions = load_claims().definitions
    values = {
        "command": command,
        "scale": results.configuration.scale_name,
        "claims": len(results.claims),
        "kinds": [_kind(results, words) for words in (OF_THE_DIRECTION, OF_THE_PAPER) if words in results.words],
        "sentences": Sentences.of(results.configuration, results.artifacts, results.summary),
        "seeds_for": seeds_for,
        "level": f"{definitions.level:g}",
        "power": f"{definitions.power:g}",
    }
    return text("findings.md.j2", values)


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
    replaced = dict.fromkeys(
        part for claim in judged if claim["stand_in"] == "true" for part in claim["data"].split("; ")
    )
    stand_ins = sum(claim["stand_in"] == "true" for claim in judged)
    data = f": {'; '.join(replaced)}" if replaced else ""
    return Kind(
        words,
        "The directions of the claims, under these conditions",
        f"No verdict on a paper’s claim: {len(results.runs)} runs are compared with each other, for {len(judged)} "
        f"claims. {stand_ins} of these rest on data in the place of the paper’s{data}. All depart from the paper as "
        "[README.md](README.md) says, task by task.",
        "a verdict on the direction",
        own,
        results,
    )
