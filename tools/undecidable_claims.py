"""The papers' claims that so many seeds cannot decide although the printed numbers are exactly true, as Markdown.

    python tools/undecidable_claims.py --seeds 5

Judges made-up runs whose means and standard deviations are the printed ones, and lists every claim that stays
inconclusive, with the smallest difference that the test finds with 80 %, and with the seeds a model that would find
the printed one. A number without a printed deviation takes the mean of those in its column; where there is none, and
where the paper prints no number at all, nothing can be said. Where seeds are blocks, the numbers of two models that are
compared do not correlate: the paper does not say how they go together. Of two readings of one task, the first is
listed: both are held to the same numbers.
"""

import argparse
import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hidden_dynamics.claims.comparisons import all_claims
from hidden_dynamics.claims.evidence import Evidence

from hidden_dynamics.artifacts import Artifact, load_artifacts
from hidden_dynamics.claims.claim import Claim
from hidden_dynamics.claims.judge import Judged, judge
from hidden_dynamics.claims.verdict import INCONCLUSIVE, NOT_RUN, plain
from hidden_dynamics.configuration import load, parse_settings
from hidden_dynamics.configuration.runs import Cell, seeds_are_blocks
from hidden_dynamics.papers.claims import artifacts_with_claims
from hidden_dynamics.papers.published import published_task
from hidden_dynamics.results.rows import Row

OF_NUMBERS = ("better", "not_better", "similar", "steadier", "gain", "value", "ranking")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="of each model (default: 5)")
    print("\n".join(lines(parser.parse_args().seeds)))


def lines(seeds: int) -> Iterator[str]:
    """The counts by kind, and a table of the claims that are not decided."""
    judged = list(judged_at_printed_numbers(seeds))
    undecided = [one for one in judged if one.verdict == INCONCLUSIVE]
    yield "| kind | claims | decided | not decided |"
    yield "|---|---|---|---|"
    for kind in OF_NUMBERS:
        of_kind, not_decided = ([one for one in group if one.claim.kind == kind] for group in (judged, undecided))
        if of_kind:
            yield f"| `{kind}` | {len(of_kind)} | {len(of_kind) - len(not_decided)} | {len(not_decided)} |"
    yield ""
    yield "| claim | tests in its family | printed | smallest detectable | seeds that would decide |"
    yield "|---|---|---|---|---|"
    for one in undecided:
        cells = [
            one.claim.statement.rstrip("."),
            str(one.family.tests or ""),
            _printed(one.claim),
            "" if one.detectable is None else plain(one.detectable),
            one.seeds_needed,
        ]
        yield f"| {' | '.join(cells)} |"


def judged_at_printed_numbers(seeds: int) -> Iterator[Judged]:
    """The verdicts that so many seeds give whose means and deviations are exactly the printed ones."""
    configuration = load(parse_settings('{"scale": "paper"}'))
    every = load_artifacts(configuration)
    artifacts = {name: every[name] for name in artifacts_with_claims(configuration)}
    for name, claimed in all_claims(artifacts).items():
        claims = [
            claim for claim in claimed.here if claim.kind in OF_NUMBERS and _first_reading(artifacts[name], claim)
        ]
        found = judge(artifacts[name], claims, Evidence(list(rows_of(artifacts[name], claims, seeds))))
        yield from (one for one in found if one.verdict != NOT_RUN)


def _first_reading(artifact: Artifact, claim: Claim) -> bool:
    return not claim.reading or published_task(artifact.configuration, claim.task) == claim.task


def rows_of(artifact: Artifact, claims: Sequence[Claim], seeds: int) -> Iterator[Row]:
    """Runs of each cell, with normal scores about the printed means."""
    patterns, taken = uncorrelated(seeds), patterns_of(artifact, claims)
    for cell in dict.fromkeys(cell for claim in claims for cell in claim.cells):
        scores = patterns[taken[cell] % len(patterns)]
        metrics = {metric: printed(artifact, cell, metric) for metric in artifact.metrics()}
        there = {metric: number for metric, number in metrics.items() if number is not None}
        for seed, score in enumerate(scores if there else ()):
            factors = {metric: artifact.configuration.metrics[metric].factor for metric in there}
            measured = {metric: (mean + std * score) / factors[metric] for metric, (mean, std) in there.items()}
            yield _row(artifact, cell, seed, measured)


def uncorrelated(seeds: int) -> NDArray:
    """(seeds - 1, seeds) scores with mean 0 and standard deviation 1 that do not correlate; the first are normal."""
    normal = ndtri((np.arange(seeds) + 0.5) / seeds)
    basis, _ = np.linalg.qr(np.column_stack([np.ones(seeds), normal, np.eye(seeds)[:, : seeds - 2]]))
    scores = basis[:, 1:].T * np.sign(basis[-1, 1])
    return scores / scores.std(axis=1, ddof=1, keepdims=True)


def patterns_of(artifact: Artifact, claims: Sequence[Claim]) -> dict[Cell, int]:
    """The scores that each cell takes: others than every cell that it is compared with, where seeds are blocks."""
    taken: dict[Cell, int] = {}
    for cell in dict.fromkeys(cell for claim in claims for cell in claim.cells):
        compared = {other for claim in claims if cell in (pair := claim.cells[:2]) for other in pair} - {cell}
        used = {taken[other] for other in compared if other in taken}
        blocks = seeds_are_blocks(artifact.configuration, cell.task, cell.model)
        taken[cell] = next(number for number in itertools.count() if number not in used) if blocks else 0
    return taken


def printed(artifact: Artifact, cell: Cell, metric: str) -> tuple[float, float] | None:
    """The printed mean and deviation of a cell."""
    number = artifact.number(cell, metric)
    if number is None:
        return None
    column = [
        artifact.number(other, metric) for other, of in artifact.printed() if (other.task, of) == (cell.task, metric)
    ]
    others = [other.std for other in column if other is not None and other.std is not None]
    std = number.std if number.std is not None else sum(others) / len(others) if others else None
    return None if std is None else (number.value, std)


def _row(artifact: Artifact, cell: Cell, seed: int, measured: dict[str, float]) -> Row:
    return {
        "task": cell.task,
        "model": cell.model,
        "label": artifact.configuration.models[cell.model].label,
        "size": str(cell.size),
        "paper_size": str(cell.size),
        "seed": str(seed),
        "status": "finished",
        "measured": json.dumps(measured),
        "stand_in_for": "",
        "dataset": "",
        "dataset_title": "",
        "directory": f"made up/{cell.task}/{cell.model}-{cell.size}/seed{seed}",
    }


def _printed(claim: Claim) -> str:
    return " and ".join(
        f"{number.value:g}" + (f" ± {number.std:g}" if number.std is not None else "")
        for number in claim.printed
        if number is not None
    )


if __name__ == "__main__":
    main()
