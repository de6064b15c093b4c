"""Evidence on a claim's models: numbers over seeds, curves and recordings, read from an artifact's files."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.claims.means import Sample
from hidden_dynamics.claims.shown import Shown
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.errors import UserError
from hidden_dynamics.results.rows import Row, read_rows
from hidden_dynamics.results.run_files import RunFiles
from hidden_dynamics.results.statistics import triangular_moving_average
from hidden_dynamics.results.summary import measured_of

LEAST_SHARE = 1e-12  # a gradient that is nothing is this share of another
OF_EVERY_ROW = ("scale", "task", "model", "label", "size", "paper_size", "dataset", "dataset_title", "stand_in_for")
OF_EVERY_RUN = ("seed", "status", "readings", "directory")
COLUMNS = {  # what is read of each of an artifact's files
    "summary": (*OF_EVERY_ROW, *OF_EVERY_RUN, "parameters", "measured", "training_seconds"),
    "features": (*OF_EVERY_ROW, *OF_EVERY_RUN, "silhouette"),
    "costs": (*OF_EVERY_ROW, "quantity", "value", "unit", "ratio", "ratio_low", "ratio_high", "rounds", "device"),
}
HAVE_NUMBERS = ("finished", "measured")  # the status of a run in a summary, and of its features


@dataclass(frozen=True)
class Side:
    """One model's runs: the numbers of those that have one, and how many have none.

    Attributes:
        rows: of the summary, one per run.
        by_seed: of the runs that finished with a finite number, that number.
        bounded: of the numbers that are only a lower bound (a level not reached), how many.
        resampled: n_test / n_train, where the data of seeds are random parts of the same data; else 0.
    """

    label: str
    rows: Sequence[Row]
    by_seed: Mapping[str, Any]
    bounded: int = 0
    resampled: float = 0.0

    @property
    def values(self) -> list[float]:
        return list(self.by_seed.values())

    @property
    def sample(self) -> Sample:
        return Sample.of(self.values, self.resampled)

    @property
    def failed(self) -> int:
        return len(self.rows) - len(self.values)

    @property
    def without(self) -> str:
        """The runs that have no number, in words."""
        return f"{self.failed} of {len(self.rows)} runs of {self.label} diverged or have no finite number"

    def mapped(self, function: Callable[[float], float]) -> "Side":
        """The same runs with another number each."""
        return replace(self, by_seed={seed: function(value) for seed, value in self.by_seed.items()})


def of_shared_seeds(subject: Side, reference: Side) -> tuple[Side, Side]:
    """Both with the numbers of the seeds that both have, in one order."""
    seeds = [seed for seed in subject.by_seed if seed in reference.by_seed]
    one, other = (replace(side, by_seed={seed: side.by_seed[seed] for seed in seeds}) for side in (subject, reference))
    return one, other


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
        values = {row["seed"]: _measured(row, metric) * factor for row in rows}
        return Side(_label(rows), rows, {seed: value for seed, value in values.items() if math.isfinite(value)})

    def iterations(self, one: Cell, other: Cell, smoothing: float) -> tuple[Side, Side, float]:
        """Iterations of both models to the lowest smoothed train loss that all their finished runs reach; and that
        loss."""
        sides = [self._of_finished(cell, lambda row: _smoothed(self._files(row), smoothing)) for cell in (one, other)]
        level = max((float(curve.min()) for side in sides for curve in side.values), default=math.nan)
        return *(side.mapped(lambda curve: float(1 + np.argmax(curve <= level))) for side in sides), level

    def rise(self, cell: Cell, metric: str) -> tuple[Side, Side]:
        """The rise of a loss from its lowest value to its last; and the same as a share of the lowest."""
        curves = self._of_finished(cell, lambda row: self._evaluations(row, metric))
        rises = curves.mapped(lambda curve: float(curve[-1] - curve.min()))
        return rises, curves.mapped(lambda curve: float(curve[-1] / curve.min() - 1))

    def evaluated_once(self, cell: Cell, metric: str) -> bool:
        """Whether a run that finished has a single value of a metric, which can have no course."""
        finished = (row for row in self.rows(cell) if row["status"] == "finished")
        return any(self._evaluations(row, metric).size == 1 for row in finished)

    def reach(self, cell: Cell, early: float) -> Side:
        """The logarithm of the gradients' mean norm in the first steps as a share of that in the last, over iterations.

        Args:
            early: the share of the steps that counts as first, and as last.
        """
        return self._of_finished(cell, lambda row: float(_shares(self._files(row), early).mean()))

    def minutes(self, cell: Cell, metric: str, target: float) -> Side:
        """log of the minutes of training to a target by the runs' clocks; of those that miss it, to their end."""
        reached = self._of_finished(cell, lambda row: self._files(row).progress(metric, target).minutes)
        whole = {row["seed"]: float(row["training_seconds"]) / 60 for row in reached.rows if row["training_seconds"]}
        times = {seed: math.log(minutes or whole[seed]) for seed, minutes in reached.by_seed.items()}
        return replace(reached, by_seed=times, bounded=reached.values.count(None))

    def _of_finished(self, cell: Cell, number: Callable[[Row], Any]) -> Side:
        """A cell's runs, and what is read of those that finished."""
        rows = self.rows(cell)
        found = {row["seed"]: number(row) for row in rows if row["status"] == "finished"}
        return Side(_label(rows), rows, found)

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
        UserError: one is missing, damaged or of another scale, or has not all of the artifact's runs.
    """
    files, scale = artifact.inputs(), artifact.configuration.scale_name
    found = {name: read_rows(root / files[name], columns) for name, columns in COLUMNS.items() if name in files}
    for name, rows in found.items():
        others = sorted({row["scale"] for row in rows} - {scale})
        if others:
            path = root / files[name]
            raise UserError(f"{path} is of scale {', '.join(others)}, not of {scale}: remove it.", file=path)
        if name != "costs":
            _check_complete(artifact, root / files[name], rows)
    return Evidence([*found.get("summary", ()), *found.get("features", ())], found.get("costs", ()), root)


def _check_complete(artifact: Shown, path: Path, rows: Sequence[Row]) -> None:
    """Without one of its runs, a verdict would be of a choice among them."""
    there = {row["directory"] for row in rows}
    lacking = [run.id for run in artifact.runs if run.directory not in there]
    if lacking:
        more = f" and {len(lacking) - 1} more runs" if len(lacking) > 1 else ""
        text = f"{path} lacks {lacking[0]}{more}: remove it and run snakemake again, which makes it anew."
        raise UserError(text, file=path, key=lacking[0])


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
    """(recorded iterations,) the logarithm of the mean norm over the first steps as a share of that over the last."""
    _, norms = files.gradients()
    norms = norms.astype(np.float64)
    steps = max(1, round(early * norms.shape[1]))
    first, last = norms[:, :steps].mean(axis=1), norms[:, -steps:].mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(last > 0, first / last, 1.0)  # where nothing arrives anywhere, nothing is lost on the way
    return np.log(np.clip(share, LEAST_SHARE, 1 / LEAST_SHARE))


def _label(rows: Sequence[Row]) -> str:
    return rows[0]["label"] if rows else ""
