"""Two matrices of verdicts, papers and artifacts by verdict: the papers' own, and those on directions, never in one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hidden_dynamics.artifacts import Artifact
from hidden_dynamics.claims.verdict import Words
from hidden_dynamics.results.rows import Row


@dataclass(frozen=True)
class Line:
    """An artifact, or all of a paper's: how many of its claims have each verdict, and how many it has in all."""

    name: str
    counts: Sequence[int]
    claims: int
    whole: bool = False


def headings(words: Words) -> list[str]:
    """The verdicts of this kind; where there is none, if that has a name."""
    return list(filter(None, (words.holds, words.fails, words.undecided, words.none)))


def matrix(artifacts: Mapping[str, Artifact], claims: Sequence[Row], words: Words) -> list[Line]:
    """For each paper a line for each of its artifacts with claims, in its order, and one for all of them."""
    lines = []
    for paper in dict.fromkeys(artifact.paper for artifact in artifacts.values()):
        own = sorted((one for one in artifacts.values() if one.paper == paper), key=lambda one: one.position)
        rows = [(one, [claim for claim in claims if claim["artifact"] == one.name]) for one in own]
        there = [(one, found) for one, found in rows if found]
        lines += [_line(one.settings.source, found, words) for one, found in there]
        if there:
            whole = [claim for _, found in there for claim in found]
            lines.append(_line(f"{own[0].paper_title}, all", whole, words, whole=True))
    return lines


def _line(name: str, claims: Sequence[Row], words: Words, whole: bool = False) -> Line:
    found = [claim[words.column] for claim in claims]
    return Line(name, [found.count(verdict) for verdict in headings(words)], len(claims), whole)
