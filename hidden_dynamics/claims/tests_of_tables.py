"""Tests without seeds: the order of a table's rows, and the numbers of parameters."""

import numpy as np

from hidden_dynamics.claims.bench import Bench
from hidden_dynamics.claims.expansion import Claim
from hidden_dynamics.claims.kendall import kendall
from hidden_dynamics.claims.verdict import Outcome
from hidden_dynamics.claims.wording import ratio_of
from hidden_dynamics.errors import UserError


def ranking(bench: Bench, claim: Claim) -> Outcome:
    """Kendall's tau between our means and the printed numbers."""
    sides = dict(zip(claim.cells, bench.sides(claim), strict=True))
    ours = {cell: float(np.mean(side.values)) for cell, side in sides.items() if side.values}
    if len(ours) < 3:
        return Outcome(not_run=True, reason="fewer than three of its rows were run")
    tau, p = kendall([(list(ours.values()), [claim.ranked[cell] for cell in ours])])
    failed = sum(side.failed for side in sides.values())
    return Outcome(
        test="Kendall's tau of means, exact",
        supports=tau > 0,
        estimate=tau,
        p=p,
        effect=tau,
        effect_name="tau",
        n_subject=len(ours),
        doubt="chance agrees with the printed order as well as this",
        reason=f"{failed} runs have no number and are left out" if failed else "",
    )


def smaller(bench: Bench, claim: Claim) -> Outcome:
    """
    Raises:
        UserError: runs of one model have different numbers of parameters.
    """
    numbers = [{int(row["parameters"]) for row in bench.evidence.rows(cell)} for cell in claim.cells]
    if any(len(found) != 1 for found in numbers):
        raise UserError(f"{claim.artifact}: runs of one model have different numbers of parameters.")
    subject, reference = (found.pop() for found in numbers)
    ratio = subject / reference
    return Outcome(
        test="count",
        supports=ratio < 1 if ratio != 1 else None,
        reason="" if ratio != 1 else "they have as many",
        **ratio_of(ratio),
        found=f"{subject:,} against {reference:,} parameters",
    )
