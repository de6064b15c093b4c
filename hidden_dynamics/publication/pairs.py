"""The claims on a place, pair of models by pair: a line of findings.md each."""

from collections.abc import Sequence
from dataclasses import dataclass

from hidden_dynamics.claims.verdict import Words
from hidden_dynamics.publication.questions import verdict_of
from hidden_dynamics.publication.sentences import Sentences
from hidden_dynamics.results.rows import Row


@dataclass(frozen=True)
class Pair:
    """
    Attributes:
        name: of the two models; of a claim on more than two, its statement.
        found: {verdict: what was found, each with the number of its claim}.
    """

    name: str
    found: dict[str, str]


def pairs(claims: Sequence[Row], words: Words, sentences: Sentences) -> list[Pair]:
    """The pairs of judged claims, in their order."""
    by_pair: dict[str, list[Row]] = {}
    for claim in claims:
        by_pair.setdefault(sentences.pair(claim), []).append(claim)
    return [Pair(name, _found(own, words, sentences)) for name, own in by_pair.items()]


def _found(claims: Sequence[Row], words: Words, sentences: Sentences) -> dict[str, str]:
    texts = {}
    for verdict in (words.holds, words.fails, words.undecided):
        by_heading: dict[str, list[str]] = {}
        for claim in claims:
            if verdict_of(claim, words) == verdict:
                heading, found = sentences.brief(claim, words)
                by_heading.setdefault(heading, []).append(f"{found} [{claim['number']}]".strip())
        if by_heading:
            texts[verdict] = "; ".join(f"{heading} {', '.join(found)}".strip() for heading, found in by_heading.items())
    return texts
