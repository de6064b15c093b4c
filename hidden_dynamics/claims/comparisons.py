"""All claims of the papers, each comparison once, with the first artifact that has it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hidden_dynamics.claims.claim import Claim
from hidden_dynamics.claims.expansion import expanded
from hidden_dynamics.claims.shown import Shown
from hidden_dynamics.errors import UserError
from hidden_dynamics.papers.claims import ORIGIN, load_claims


@dataclass(frozen=True)
class Claimed:
    """The claims on an artifact.

    Attributes:
        here: those that are judged from its files.
        elsewhere: those that an artifact before it has, too, each with the name of that one.
    """

    here: list[Claim]
    elsewhere: list[tuple[Claim, str]]


def all_claims(artifacts: Mapping[str, Shown]) -> dict[str, Claimed]:
    """The claims on each artifact; the order of the artifacts decides with which a comparison is judged.

    Raises:
        UserError: an entry does not fit its artifact, or two claims have one id.
    """
    first: dict[tuple, Claim] = {}
    again: list[tuple[Claim, str]] = []
    for artifact in artifacts.values():
        for entry, claim in expanded(artifact):
            before = first.setdefault(claim.same, claim)
            if before is claim:
                continue
            first[claim.same] = _said_again(before, claim, by_table=entry.kind == "ordering")
            if before.artifact != claim.artifact:
                again.append((claim, before.artifact))
    judged = _decidable(list(first.values()))
    _refuse_repetitions(judged)
    there = {claim.same for claim in judged}
    return {
        name: Claimed(
            [claim for claim in judged if claim.artifact == name],
            [(claim, other) for claim, other in again if claim.artifact == name and claim.same in there],
        )
        for name in artifacts
    }


def _said_again(claim: Claim, other: Claim, by_table: bool) -> Claim:
    """A claim that another entry has, too; what its own table's entry says of it is nothing more."""
    text = "" if by_table and claim.artifact == other.artifact else f"{other.says} ({other.source})"
    gaps = [gap for gap in (claim.hidden_gap, other.hidden_gap) if gap is not None]
    return replace(
        claim,
        also="; ".join(filter(None, (claim.also, text))),
        entries=claim.entries + other.entries,
        hidden_gap=min(gaps, default=None),
    )


def _decidable(claims: Sequence[Claim]) -> list[Claim]:
    """Without the rankings of so few rows that not even full agreement has a small p in its family."""
    alpha, kept = load_claims().definitions.alpha, list(claims)
    for claim in sorted((claim for claim in claims if claim.kind == "ranking"), key=_p_of_agreement, reverse=True):
        family = [other for other in kept if other.family == claim.family]
        if _p_of_agreement(claim) * len(family) >= alpha:
            kept.remove(claim)
    return kept


def smallest_p(sizes: Iterable[int]) -> float:
    """The two-sided p of rankings, in strata of these sizes, that agree in full: one of all orders, and its reverse."""
    return min(1.0, 2 / math.prod(map(math.factorial, sizes)))


def _p_of_agreement(claim: Claim) -> float:
    return smallest_p(len(cells) for cells in strata(claim).values())


def strata(claim: Claim) -> dict[object, list]:
    """The cells of a ranking by size, within which they are ranked; all in one where a size is a setting's name."""
    found: dict[object, list] = {}
    for cell in claim.ranked:
        found.setdefault(None if isinstance(cell.size, str) else cell.size, []).append(cell)
    return found


def _refuse_repetitions(claims: Sequence[Claim]) -> None:
    names = [claim.id for claim in claims]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UserError(f"{ORIGIN} says twice: {', '.join(twice)}.", file=ORIGIN, key=twice[0])
