"""At which epochs a verdict would have been the same: papers seldom say which epoch they report."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hidden_dynamics.claims.claim import Claim
from hidden_dynamics.claims.judge import judge
from hidden_dynamics.claims.samples import Evidence
from hidden_dynamics.claims.verdict import FAILS, HOLDS
from hidden_dynamics.results.run_files import RunFiles

Course = Mapping[float, Mapping[str, float]]  # by epoch, the metrics of a run's evaluation


def with_epochs(
    evidence: Evidence, claims: Sequence[Claim], rows: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """The rows of the verdicts on claims, with `decided_at`: "19–20 of 1–20". It is said of a comparison that is
    decided and from whose setup nothing deviates. All its family is judged anew at each epoch, by the same rules. A
    `UserError` where the metrics of a run are missing or damaged."""
    asked = {
        row["id"]: row["verdict"]
        for row in rows
        if row["kind"] == "better" and row["verdict"] in (HOLDS, FAILS) and not row["deviations"]
    }
    if not asked:
        return list(rows)
    metrics = {row["directory"]: RunFiles.of_row(row, evidence.root).metrics() for row in evidence.summary}
    courses = {directory: {one["epoch"]: one for one in own} for directory, own in metrics.items()}
    verdicts: dict[str, dict[float, str]] = {name: {} for name in asked}
    for epoch in sorted({epoch for course in courses.values() for epoch in course}):
        then = [{**row, "measured": json.dumps(courses[row["directory"]].get(epoch, {}))} for row in evidence.summary]
        for one in judge(replace(evidence, summary=then), claims):
            if one.claim.id in asked and _evaluated(evidence, one.claim, courses, epoch):
                verdicts[one.claim.id][epoch] = one.verdict
    return [
        {**row, "decided_at": _told(verdicts[row["id"]], row["verdict"])} if row["id"] in asked else row for row in rows
    ]


def _evaluated(evidence: Evidence, claim: Claim, courses: Mapping[str, Course], epoch: float) -> bool:
    """Whether all runs of a claim were evaluated at an epoch."""
    own = (courses[row["directory"]] for cell in claim.cells for row in evidence.rows(claim, cell))
    return all(claim.metric in course.get(epoch, {}) for course in own)


def _told(verdicts: Mapping[float, str], verdict: str) -> str:
    """Of the epochs of `verdicts` those with this verdict, in ranges of neighbours: "1, 3–20 of 1–20"."""
    ranges: list[list[float]] = []
    before = None
    for epoch, own in verdicts.items():
        if own == verdict:
            ranges = [*ranges[:-1], [*ranges[-1], epoch]] if before == verdict else [*ranges, [epoch]]
        before = own
    said = (f"{some[0]:g}–{some[-1]:g}" if len(some) > 1 else f"{some[0]:g}" for some in ranges)
    epochs = list(verdicts)
    return f"{', '.join(said) or 'none'} of {epochs[0]:g}–{epochs[-1]:g}" if epochs else ""
