"""Tests without seeds: the order of a table's rows, and the numbers of parameters."""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

from hidden_dynamics.claims.bench import Bench
from hidden_dynamics.claims.claim import Claim
from hidden_dynamics.claims.comparisons import strata
from hidden_dynamics.claims.evidence import Side
from hidden_dynamics.claims.kendall import critical_tau, kendall
from hidden_dynamics.claims.verdict import Outcome
from hidden_dynamics.claims.wording import ratio_of, too_few
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.errors import UserError


def ranking(bench: Bench, claim: Claim) -> Outcome:
    """Kendall's tau between our means and the printed numbers, within each size; worst ranks for what failed."""
    sides = dict(zip(claim.cells, bench.sides(claim), strict=True))
    few = too_few(*(side for side in sides.values() if not side.failed))
    if few:
        return few
    within, sign = list(strata(claim).values()), bench.configuration.metrics[claim.metric].sign
    ours, theirs = ranks_of(sides, sign), {cell: sign * number for cell, number in claim.ranked.items()}
    tau, p = kendall([([ours[cell] for cell in cells], [theirs[cell] for cell in cells]) for cells in within])
    pairs = sum(math.comb(len(cells), 2) for cells in within)
    failed = sum(side.failed for side in sides.values())
    return Outcome(
        test="Kendall's tau of means within sizes, exact",
        supports=tau > 0,
        estimate=tau,
        p=p,
        detectable=lambda alpha: critical_tau([len(cells) for cells in within], alpha),
        effect=tau,
        effect_name="tau",
        n_subject=len(sides),
        found=f"{_concordant(within, ours, theirs)} of {pairs} pairs as printed",
        doubt="chance agrees with the printed order as well as this",
        reason=f"{failed} runs have no number: their models rank last" if failed else "",
        sides=list(sides.values()),
        working=[("pairs within sizes", pairs), ("concordant less discordant pairs", tau * pairs)],
    )


def _concordant(within: Sequence[Sequence[Cell]], ours: Mapping[Cell, float], theirs: Mapping[Cell, float]) -> int:
    pairs = [pair for cells in within for pair in combinations(cells, 2)]
    return sum((ours[one] - ours[other]) * (theirs[one] - theirs[other]) > 0 for one, other in pairs)


def ranks_of(sides: Mapping[Cell, Side], sign: int) -> dict[Cell, int]:
    """How many others each model is ahead of, the best with the most.

    Models of which more runs failed come after those of which fewer did (worst ranks: Lachin 1999), those of which
    none has a number last; among as many, the mean decides.
    """
    keys = {
        cell: (bool(side.values), -side.failed, sign * side.sample.mean if side.values else 0.0)
        for cell, side in sides.items()
    }
    return {cell: sum(other < key for other in keys.values()) for cell, key in keys.items()}


def smaller(bench: Bench, claim: Claim) -> Outcome:
    """
    Raises:
        UserError: runs of one model have different numbers of parameters.
    """
    numbers = [{int(row["parameters"]) for row in bench.evidence.rows(cell)} for cell in claim.cells]
    if any(len(found) != 1 for found in numbers):
        raise UserError(f"{claim.artifact}: runs of one model have different numbers of parameters.")
    subject, reference = (found.pop() for found in numbers)
    tied = subject == reference and claim.times is None
    return Outcome(
        test="count",
        supports=None if tied else subject * (claim.times or 1) <= reference,
        reason="they have as many" if tied else "",
        **ratio_of(subject / reference),
        found=f"{subject:,} against {reference:,} parameters",
        working=[("parameters of the subject", subject), ("parameters of the reference", reference)],
    )
