"""Evidence on a claim's models: numbers over seeds, curves and recordings, read from an artifact's files."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.claims.shown import Shown
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.errors import UserError
from hidden_dynamics.results.rows import Row, read_rows
from hidden_dynamics.results.run_files import RunFiles
from hidden_dynamics.results.statistics import triangular_moving_average
from hidden_dynamics.results.summary import measured_of

LEAST_SHARE = 1e-12  # a gradient that is nothing is this share of another
OF_EVERY_ROW = ("scale", "task", "model", "label", "size", "paper_size", "dataset_title", "stand_in_for")
COLUMNS = {  # what is read of each of an artifact's files
    "summary": (*OF_EVERY_ROW, "parameters", "status", "measured", "training_seconds", "directory"),
    "features": (*OF_EVERY_ROW, "silhouette", "status", "directory"),
    "costs": (*OF_EVERY_ROW, "quantity", "ratio", "ratio_low", "ratio_high", "rounds", "device"),
}
HAVE_NUMBERS = ("finished", "measured")  # the status of a run in a summary, and of its features


@dataclass(frozen=True)
class Side:
    """One model's runs: the numbers of those that have one, and how many have none.

    Attributes:
        rows: of the summary, one per run.
        values: of the runs that finished with a finite number.
        bounded: of values that are only a lower bound (a level not reached), how many.
    """

    label: str
    rows: Sequence[Row]
    values: Sequence[float]
    bounded: int = 0

    @property
    def failed(self) -> int:
        return len(self.rows) - len(self.values)

    @property
    def without(self) -> str:
        """The runs that have no number, in words."""
        return f"{self.failed} of {len(self.rows)} runs of {self.label} diverged or have no finite number"

    def mapped(self, function: Callable[[float], float]) -> "Side":
        """The same runs with another number each."""
        return Side(self.label, self.rows, [function(value) for value in self.values], self.bounded)


@dataclass(frozen=True)
class Evidence:
    """The files of an artifact, as rows of text by column, and those of its runs.

    Attributes:
        summary: one row per run (hidden_dynamics.results.summary), or per run whose features were measured.
        costs: one row per model and quantity.
        root: where the runs' directories are.
    """

    summary: Sequence[Row] = ()
    costs: Sequence[Row] = ()
    root: Path = field(default_factory=Path)

    def rows(self, cell: Cell) -> list[Row]:
        """The runs of a cell."""
        return [row for row in self.summary if _cell_of(row) == _as_text(cell)]

    def cost(self, cell: Cell, quantity: str) -> Row | None:
        found = (row for row in self.costs if _cell_of(row) == _as_text(cell) and row["quantity"] == quantity)
        return next(found, None)

    def numbers(self, cell: Cell, metric: str, factor: float) -> Side:
        """A metric of the reported evaluation, times `factor`."""
        rows = self.rows(cell)
        values = [_measured(row, metric) * factor for row in rows]
        return Side(_label(rows), rows, [value for value in values if math.isfinite(value)])

    def iterations(self, one: Cell, other: Cell, smoothing: float) -> tuple[Side, Side, float]:
        """Iterations of both models to the lowest smoothed train loss that all their finished runs reach; and that
        loss."""
        found = [self._finished(cell) for cell in (one, other)]
        curves = [[_smoothed(self._files(row), smoothing) for row in finished] for _, finished in found]
        level = max((curve.min() for side in curves for curve in side), default=math.nan)
        sides = (
            Side(_label(rows), rows, [float(1 + np.argmax(curve <= level)) for curve in side])
            for (rows, _), side in zip(found, curves, strict=True)
        )
        return *sides, level

    def rise(self, cell: Cell, metric: str) -> Side:
        """The rise of a loss from its lowest value to its last."""
        rows, finished = self._finished(cell)
        curves = [self._evaluations(row, metric) for row in finished]
        return Side(_label(rows), rows, [float(curve[-1] - curve.min()) for curve in curves])

    def reach(self, cell: Cell, early: float) -> tuple[Side, list[NDArray]]:
        """log10 of the gradients' mean norm in the first steps as a share of that in the last, and its runs' series.

        Args:
            early: the share of the steps that counts as first, and as last.
        """
        rows, finished = self._finished(cell)
        series = [_shares(self._files(row), early) for row in finished]
        return Side(_label(rows), rows, [float(share.mean()) for share in series]), series

    def minutes(self, cell: Cell, metric: str, target: float) -> Side:
        """log of the minutes of training to a target by the runs' clocks; of those that miss it, to their end."""
        rows, finished = self._finished(cell)
        reached = [self._files(row).progress(metric, target).minutes for row in finished]
        times = [minutes or float(row["training_seconds"]) / 60 for minutes, row in zip(reached, finished, strict=True)]
        return Side(_label(rows), rows, [math.log(time) for time in times], reached.count(None))

    def _finished(self, cell: Cell) -> tuple[list[Row], list[Row]]:
        """(all of a cell's rows, those of the runs that finished)."""
        rows = self.rows(cell)
        return rows, [row for row in rows if row["status"] == "finished"]

    def _files(self, row: Row) -> RunFiles:
        return RunFiles(self.root / row["directory"])

    def _evaluations(self, row: Row, metric: str) -> NDArray:
        _, values = self._files(row).evaluations(metric)
        if not values.size:
            path = self._files(row).directory / "metrics.csv"
            raise UserError(f"{path} has no evaluation of a run that finished: remove {path.parent}.", file=path)
        return values


def gather(artifact: Shown, root: Path) -> Evidence:
    """The evidence in an artifact's files.

    Raises:
        UserError: one is missing, damaged or of another scale.
    """
    files, scale = artifact.inputs(), artifact.configuration.scale_name
    found = {name: read_rows(root / files[name], columns) for name, columns in COLUMNS.items() if name in files}
    for name, rows in found.items():
        others = sorted({row["scale"] for row in rows} - {scale})
        if others:
            path = root / files[name]
            raise UserError(f"{path} is of scale {', '.join(others)}, not of {scale}: remove it.", file=path)
    return Evidence([*found.get("summary", ()), *found.get("features", ())], found.get("costs", ()), root)


def _cell_of(row: Row) -> tuple[str, str, str]:
    return row["task"], row["model"], row["paper_size"]


def _as_text(cell: Cell) -> tuple[str, str, str]:
    return cell.task, cell.model, "" if cell.size is None else str(cell.size)


def _measured(row: Row, metric: str) -> float:
    """A metric of a run: in a summary one of the `measured`, in a measurement of features a column."""
    value = (measured_of(row) if "measured" in row else row).get(metric)
    return math.nan if row["status"] not in HAVE_NUMBERS or value in (None, "") else float(value)


@cache
def _smoothed(files: RunFiles, smoothing: float) -> NDArray:
    """(iterations,) the loss of every minibatch, smoothed."""
    losses = files.train_loss()
    return triangular_moving_average(losses, max(1, round(smoothing * losses.size)))


def _shares(files: RunFiles, early: float) -> NDArray:
    """(recorded iterations,) log10 of the mean norm over the first steps as a share of that over the last."""
    _, norms = files.gradients()
    norms = norms.astype(np.float64)
    steps = max(1, round(early * norms.shape[1]))
    first, last = norms[:, :steps].mean(axis=1), norms[:, -steps:].mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(last > 0, first / last, 1.0)  # where nothing arrives anywhere, nothing is lost on the way
    return np.log10(np.clip(share, LEAST_SHARE, 1 / LEAST_SHARE))


def _label(rows: Sequence[Row]) -> str:
    return rows[0]["label"] if rows else ""
