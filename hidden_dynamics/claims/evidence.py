"""What runs say of a claim's models: numbers over seeds, curves and recordings, read from an artifact's files."""

import csv
import json
import math
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.claims.expansion import Cell
from hidden_dynamics.errors import UserError
from hidden_dynamics.results.seals import check, check_vouched
from hidden_dynamics.results.milestones import Progress, progress_of
from hidden_dynamics.configuration.runs import GRADIENTS
from hidden_dynamics.results.statistics import triangular_moving_average

LEAST_SHARE = 1e-12  # a gradient that is nothing is this share of another


@dataclass(frozen=True)
class Side:
    """One model's runs: the numbers of those that have one, and how many have none.

    Attributes:
        rows: of the summary, one per run.
        values: of the runs that finished with a finite number.
        bounded: of values that are only a lower bound (a level not reached), how many.
    """

    label: str
    rows: Sequence[Mapping[str, str]]
    values: Sequence[float]
    bounded: int = 0

    @property
    def failed(self) -> int:
        return len(self.rows) - len(self.values)

    @property
    def without(self) -> str:
        """What is to be said of the runs that have no number; nothing where all have one."""
        return f"{self.failed} of {len(self.rows)} runs of {self.label} diverged or have no finite number"


@dataclass(frozen=True)
class Evidence:
    """The files of an artifact, as rows of text by column.

    Attributes:
        summary: one row per run (scripts/summarise.py), or per run whose features were measured.
        costs: one row per model and quantity (scripts/measure_cost.py).
        root: where the runs' directories are.
    """

    summary: Sequence[Mapping[str, str]] = ()
    costs: Sequence[Mapping[str, str]] = ()
    root: Path = field(default_factory=Path)

    def rows(self, cell: Cell) -> list[Mapping[str, str]]:
        size = "" if cell.size is None else str(cell.size)
        key = (cell.task, cell.model, size)
        return [row for row in self.summary if (row["task"], row["model"], row["paper_size"]) == key]

    def cost(self, cell: Cell, quantity: str) -> Mapping[str, str] | None:
        key = (cell.task, cell.model, "" if cell.size is None else str(cell.size), quantity)
        found = [r for r in self.costs if (r["task"], r["model"], r["paper_size"], r["quantity"]) == key]
        return found[0] if found else None

    def numbers(self, cell: Cell, metric: str) -> Side:
        """A metric of the reported evaluation, accuracies in percent."""
        rows = self.rows(cell)
        unit = 100.0 if metric.endswith("accuracy") else 1.0
        values = [_measured(row, metric) * unit for row in rows]
        return Side(_label(rows), rows, [value for value in values if math.isfinite(value)])

    def finished(self, cell: Cell) -> tuple[list[Mapping[str, str]], list[Mapping[str, str]]]:
        """(all of a cell's rows, those of the runs that finished)."""
        rows = self.rows(cell)
        return rows, [row for row in rows if row["status"] == "finished"]

    def iterations(self, one: Cell, other: Cell, smoothing: float) -> tuple[Side, Side, float]:
        """Iterations of both to the lowest smoothed train loss that every finished run of both reaches, and it."""
        found = [self.finished(cell) for cell in (one, other)]
        curves = [[self.train_loss(row, smoothing) for row in finished] for _, finished in found]
        level = max((curve.min() for side in curves for curve in side), default=math.nan)
        return (
            *(
                Side(_label(rows), rows, [float(1 + np.argmax(curve <= level)) for curve in side])
                for (rows, _), side in zip(found, curves, strict=True)
            ),
            level,
        )

    def train_loss(self, row: Mapping[str, str], smoothing: float) -> NDArray:
        """(iterations,) the loss of every minibatch, smoothed."""
        return _smoothed(self.root / row["directory"] / "train_loss.npy", smoothing)

    def rise(self, cell: Cell, metric: str) -> Side:
        """How far a loss ends above its lowest."""
        rows, finished = self.finished(cell)
        curves = [self.evaluations(row, metric) for row in finished]
        return Side(_label(rows), rows, [float(curve[-1] - curve.min()) for curve in curves])

    def evaluations(self, row: Mapping[str, str], metric: str) -> NDArray:
        path = self.root / row["directory"] / "metrics.csv"
        check(path)
        try:
            with path.open(encoding="utf-8", newline="") as handle:
                values = [float(line[metric]) for line in csv.DictReader(handle) if line[metric] != ""]
        except (OSError, KeyError, TypeError, ValueError, csv.Error) as error:
            raise _unreadable(path, error) from None
        if not values:
            raise _unreadable(path, f"it has no {metric}")
        return np.array(values)

    def reach(self, cell: Cell, early: float) -> tuple[Side, list[NDArray]]:
        """log10 of the gradients' mean norm in the first steps as a share of that in the last, and its runs' series.

        Args:
            early: the share of the steps that counts as first, and as last.
        """
        rows, finished = self.finished(cell)
        series = [self.shares(row, early) for row in finished]
        return Side(_label(rows), rows, [float(share.mean()) for share in series]), series

    def shares(self, row: Mapping[str, str], early: float) -> NDArray:
        """(recorded iterations,) of one run."""
        path = self.root / row["directory"] / GRADIENTS
        check(path)
        try:
            with np.load(path, allow_pickle=False) as arrays:
                norms = arrays["norms"].astype(np.float64)
            steps = max(1, round(early * norms.shape[1]))
        except (OSError, EOFError, ValueError, KeyError, IndexError, zipfile.BadZipFile) as error:
            raise _unreadable(path, error) from None
        first, last = norms[:, :steps].mean(axis=1), norms[:, -steps:].mean(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(last > 0, first / last, 1.0)  # where nothing arrives anywhere, nothing is lost on the way
        return np.log10(np.clip(share, LEAST_SHARE, 1 / LEAST_SHARE))

    def minutes(self, cell: Cell, metric: str, target: float) -> Side:
        """log of the minutes of training to an accuracy by the runs' clocks; of those that miss it, to their end."""
        rows, finished = self.finished(cell)
        ways: list[tuple[Progress, Mapping[str, str]]] = [
            (progress_of(self.root / row["directory"], metric, target), row) for row in finished
        ]
        times = [way.minutes or float(row["training_seconds"]) / 60 for way, row in ways]
        missed = sum(way.minutes is None for way, _ in ways)
        return Side(_label(rows), rows, [math.log(time) for time in times], missed)


def _measured(row: Mapping[str, str], metric: str) -> float:
    if metric == "silhouette":
        return float(row["silhouette"]) if row["status"] == "measured" else math.nan
    measured = json.loads(row["measured"] or "{}") if row["status"] == "finished" else {}
    return float(measured.get(metric, math.nan))


@cache
def _smoothed(path: Path, smoothing: float) -> NDArray:
    check(path)
    try:
        losses = np.load(path, allow_pickle=False).astype(np.float64)
    except (OSError, EOFError, ValueError) as error:
        raise _unreadable(path, error) from None
    if losses.ndim != 1 or not losses.size:
        raise _unreadable(path, f"expected a row of losses, found shape {losses.shape}")
    return triangular_moving_average(losses, max(1, round(smoothing * losses.size)))


def _label(rows: Sequence[Mapping[str, str]]) -> str:
    return rows[0]["label"] if rows else ""


def _unreadable(path: Path, why: object) -> UserError:
    return UserError(f"{path} is missing or not readable ({why}): remove {path.parent} and run snakemake again.")


def read_rows(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a CSV file as text.

    Raises:
        UserError: it is missing, was altered, is not CSV or lacks a column.
    """
    check_vouched(path)
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            reader = csv.DictReader(handle)
            rows, found = list(reader), reader.fieldnames or []
    except FileNotFoundError:
        raise UserError(f"{path} is missing: run snakemake, which makes it.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} is not readable ({error}): remove it and run snakemake again.") from None
    missing = [column for column in columns if column not in found]
    if missing:
        raise UserError(f"{path} lacks the columns {', '.join(missing)}: remove it and run snakemake again.")
    return rows
