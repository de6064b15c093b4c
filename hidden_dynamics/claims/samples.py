"""What a claim is judged by: numbers of its models over seeds, read from an artifact's files and those of its runs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.claims import statistics
from hidden_dynamics.claims.claim import Claim
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Case, resampled, seeds_are_blocks
from hidden_dynamics.papers.claims import Definitions, load_claims
from hidden_dynamics.papers.deviations import deviations, with_originals
from hidden_dynamics.results import seeds
from hidden_dynamics.results.curves import triangular_moving_average
from hidden_dynamics.results.rows import Row
from hidden_dynamics.results.run_files import RunFiles, measured_of

HAVE_NUMBERS = ("finished", "measured")  # the status of a run in a summary, and of its features
VANISHED = "the share below which gradients vanish"


@dataclass(frozen=True)
class Runs:
    """One model's runs, and a number of each that has one.

    Attributes:
        rows: of the summary, one per run; of costs, one per process.
        by_seed: of the runs that finished with a finite number, that number.
        naive: of the same runs, the score of the best naive baseline on its test set, and `naive_name`, which it is; {}
            where no answer without learning is known.
        classical, classical_name: the same of the best classical baseline; {} where none is known on the metric asked.
        scores: of the same runs, the score that is held to them, by `sign`: 1 where more is better, else -1.
        overlap: n_test / n_train, where the data of seeds are random parts of the same data; else 0.
    """

    label: str
    rows: Sequence[Row]
    by_seed: Mapping[str, Any]
    naive: Mapping[str, float] = field(default_factory=dict)
    naive_name: str = ""
    classical: Mapping[str, float] = field(default_factory=dict)
    classical_name: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)
    sign: int = 1
    overlap: float = 0.0

    @property
    def values(self) -> list[float]:
        return list(self.by_seed.values())

    @property
    def sample(self) -> statistics.Sample:
        return statistics.Sample.of(self.values, self.overlap)

    @property
    def failed(self) -> int:
        return len(self.rows) - len(self.values)

    @property
    def without(self) -> str:
        """The runs that have no number, in words; "" where all have one."""
        how = "failed, diverged" if any(row.get("status") == "failed" for row in self.rows) else "diverged"
        text = f"{self.failed} of {len(self.rows)} runs of {self.label} {how} or have no finite number"
        return text if self.failed else ""

    def learned(self, alpha: float) -> bool | None:
        """Whether the runs beat the best naive baseline."""
        return self.beat(self.naive, alpha)

    def beat(self, baseline: Mapping[str, float], alpha: float) -> bool | None:
        """Whether they beat a baseline's scores by seed, by a one-sided t test over seeds; None where none is known."""
        gains = self.gains(baseline)
        if not gains:
            return None
        if len(gains) < 2:
            return gains[0] > 0
        above = statistics.welch([statistics.Sample.of(gains, self.overlap)], [1])
        return above.p_above() < alpha if above else gains[0] > 0

    @property
    def behind_classical(self) -> bool:
        """Whether the runs are behind the best classical baseline in the mean."""
        return sum(self.gains(self.classical)) < 0

    def gains(self, baseline: Mapping[str, float]) -> list[float]:
        """By how much they are ahead of a baseline's scores by seed."""
        return [self.sign * (self.scores[seed] - baseline[seed]) for seed in self.scores if seed in baseline]


def of_shared_seeds(samples: Sequence[Runs]) -> list[Runs]:
    """All with the seeds of which all have a number, in one order, and each with the runs of its own that have none."""
    seeds = [seed for seed in samples[0].by_seed if all(seed in each.by_seed for each in samples)]
    rows = ([row for row in each.rows if row["seed"] in seeds or row["seed"] not in each.by_seed] for each in samples)
    return [
        replace(each, rows=own, by_seed={seed: each.by_seed[seed] for seed in seeds})
        for each, own in zip(samples, rows, strict=True)
    ]


@dataclass(frozen=True)
class Evidence:
    """An artifact, and its files as rows of text by column.

    Attributes:
        summary: one row per run (hidden_dynamics.results.run_files), or per run whose features were measured.
        costs: one row per model, quantity and process.
        root: where the runs' directories are.
        jacobian: one row per cell and step (hidden_dynamics.measurements.jacobian.COLUMNS).
    """

    artifact: Any
    summary: Sequence[Row] = ()
    costs: Sequence[Row] = ()
    root: Path = field(default_factory=Path)
    jacobian: Sequence[Row] = ()

    @property
    def configuration(self) -> Configuration:
        return self.artifact.configuration

    @property
    def definitions(self) -> Definitions:
        return load_claims().definitions

    def sign(self, metric: str) -> int:
        return self.configuration.metrics[metric].sign

    def rows(self, claim: Claim, cell: Case) -> Sequence[Row]:
        """The runs of a cell; its measured costs where the claim is of costs."""
        rows = self._costs(cell, claim.metric) or self._runs(cell)
        return with_originals(self.configuration, claim.paper, rows)

    # What the tests of claims take.

    def numbers(self, claim: Claim) -> list[Runs]:
        """The claim's metric at the reported evaluation of each of its cells, in the unit that it is shown in."""
        return [self._learning(claim.metric, claim.cells, self._finite(cell, claim.metric)) for cell in claim.cells]

    def number_of(self, cell: Case, metric: str) -> Runs:
        """The same of a metric of one cell, which no claim is on; beside the naive baseline on this metric alone."""
        return self._learning(metric, [cell], self._finite(cell, metric), alone=True)

    def iterations(self, claim: Claim, smoothing: float) -> tuple[list[Runs], float]:
        """log of the iterations to the lowest smoothed train loss that all finished runs of both reach; that loss."""
        rows = [self._runs(cell) for cell in claim.cells]
        curves = [
            {
                row["seed"]: _smoothed(RunFiles.of_row(row, self.root), smoothing)
                for row in own
                if row["status"] == "finished"
            }
            for own in rows
        ]
        level = max((float(curve.min()) for own in curves for curve in own.values()), default=math.nan)
        found = []
        for own, losses in zip(rows, curves, strict=True):
            reached = {seed: math.log(1 + np.argmax(curve <= level)) for seed, curve in losses.items()}
            found.append(self._learning(claim.metric, claim.cells, Runs(_label(own), own, reached)))
        return found, level

    def cost_ratios(self, claim: Claim) -> Runs:
        """log of the subject's cost as a multiple of the reference's, of each process that measured one."""
        rows = self._costs(claim.cells[0], claim.metric)
        ratios = {row["process"]: math.log(ratio) for row in rows if (ratio := float(row["ratio"] or 0)) > 0}
        return Runs(_label(rows), rows, ratios)

    # What bars or limits a verdict.

    def blocked(self, claim: Claim) -> bool:
        """Whether a seed is a block (its data are its own), so that runs are compared seed by seed."""
        return all(seeds_are_blocks(self.configuration, cell.task, cell.model) for cell in claim.cells)

    def absent(self, claim: Claim) -> str:
        """The cells of a claim that have no runs, as the reason why it was not run; "" where all have some."""
        absent = [cell for cell in claim.cells if not self.rows(claim, cell)]
        if absent and not self.artifact.shown():
            return f"the table or figure is not made at this scale: it needs {self.artifact.needed}"
        left_out = [self.configuration.left_out.get(cell.task) for cell in absent]
        if any(left_out):
            return f"{' and '.join(dict.fromkeys(filter(None, left_out)))} is left out"
        labels = self.configuration.models
        cells = ", ".join(labels[cell.model].label + (f" of size {cell.size}" if cell.size else "") for cell in absent)
        tasks = " and ".join(dict.fromkeys(cell.task for cell in absent))
        return f"no runs of {cells} on {tasks}" if absent else ""

    def deviations(self, claim: Claim, course: bool = False) -> str:
        """The deviations from the paper in data, size and settings, also the artifact's own; "" without runs.

        A measured cost does not depend on the training.

        Args:
            course: as for `hidden_dynamics.papers.deviations.deviations`.
        """
        rows = [row for cell in claim.cells for row in self.rows(claim, cell)]
        measured = claim.subject is not None and bool(self._costs(claim.subject, claim.metric))
        own = self.artifact.deviations() if rows else []
        return "; ".join([*deviations(self.configuration, rows, trained=not measured, course=course), *own])

    # Rows and files.

    def _runs(self, cell: Case) -> list[Row]:
        return [row for row in self.summary if _cell_of(row) == _as_text(cell)]

    def _costs(self, cell: Case, quantity: str) -> list[Row]:
        return [row for row in self.costs if _cell_of(row) == _as_text(cell) and row["quantity"] == quantity]

    def _finite(self, cell: Case, metric: str) -> Runs:
        rows, factor = self._runs(cell), self.configuration.metrics[metric].factor
        values = {row["seed"]: _measured(row, metric) * factor for row in rows}
        finite = {seed: value for seed, value in values.items() if math.isfinite(value)}
        return Runs(_label(rows), rows, finite, sign=self.sign(metric))

    def _learning(self, metric: str, cells: Sequence[Case], runs: Runs, alone: bool = False) -> Runs:
        """Runs that know the best baselines to their task, and whether their seeds' data overlap.

        These are on the metric itself or else, but for `alone`, on the task's first test metric that has a naive one:
        who reached a train loss sooner is asked of networks that learned something.
        """
        rows, fixed = runs.rows, self.definitions.naive.get(metric)
        runs = replace(runs, overlap=max(resampled(self.configuration, cell.task, cell.model) for cell in cells))
        known = seeds.naive_of(rows[0]) if rows else {}
        others = (name for name in known if name.startswith("test_") and not alone)
        held = metric if fixed is not None or metric in known else next(others, None)
        if held is None:
            return runs
        sign, factor = self.sign(held), self.configuration.metrics[held].factor
        best = {row["seed"]: seeds.best(seeds.naive_of(row), held, sign) for row in rows}
        beside = seeds.best_classical(rows, metric, sign, factor) if held == metric else None
        if fixed is not None:
            best = dict.fromkeys(best, (VANISHED, fixed))
        scores = {row["seed"]: _measured(row, held) * factor for row in rows}
        return replace(
            runs,
            naive={seed: found[1] * factor for seed, found in best.items() if found},
            naive_name=next((found[0] for found in best.values() if found), ""),
            classical=beside[1] if beside else {},
            classical_name=beside[0] if beside else "",
            scores={seed: score for seed, score in scores.items() if math.isfinite(score)},
            sign=sign,
        )


def _cell_of(row: Row) -> tuple[str, str, str]:
    return row["task"], row["model"], row["paper_size"]


def _as_text(cell: Case) -> tuple[str, str, str]:
    return cell.task, cell.model, "" if cell.size is None else str(cell.size)


def _measured(row: Row, metric: str) -> float:
    """A metric of a run: in a summary one of the `measured`, in a measurement of features a column."""
    value = (measured_of(row) if "measured" in row else row).get(metric)
    return math.nan if row["status"] not in HAVE_NUMBERS or value in (None, "") else float(value)


@cache
def _smoothed(files: RunFiles, smoothing: float) -> NDArray:
    """(iterations,) the loss of every minibatch of a run, smoothed."""
    losses = files.train_loss()
    return triangular_moving_average(losses, max(1, round(smoothing * losses.size)))


def _label(rows: Sequence[Row]) -> str:
    return rows[0]["label"] if rows else ""
