"""Training curves of several seeds, averaged: the points that a figure's panels draw."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Run, resampled
from hidden_dynamics.results.naive import BY_CHANCE, in_two_clusters, margin
from hidden_dynamics.results.run_files import RunFiles
from hidden_dynamics.results.statistics import FEWEST, mean_band, thin, triangular_moving_average

COLUMNS = (
    *("panel", "task", "model", "label", "variant", "x", "mean", "low", "high", "n", "seeds", "learned", "naive"),
    "window",
)
DECIDING = "test_loss"  # by which a run has learned something
MOST_POINTS = 500
FEWEST_WINDOWS = 10  # that a curve is long: of fewer points, the window is smaller


class Panel(Protocol):
    """The curves of one panel: `split` names the loss, `window` the points of its triangular moving average."""

    task: str
    size: int | str | None
    split: str
    against: str
    window: int


def points_of(
    configuration: Configuration, panels: Sequence[Panel], runs: Sequence[Run], root: Path
) -> Iterator[dict[str, Any]]:
    """The points of all curves, by column: panel after panel, model after model, x ascending.

    A curve has a band of confidence, or its seeds' own values (`seeds`: a JSON list, with null where a seed has none):
    of fewer than FEWEST seeds, or where those that have learned something (`learned`: how many) and the others are two
    clusters.

    Args:
        runs: of the panels' tasks and sizes, model after model.
        root: what their directories are relative to.

    Raises:
        UserError: a file of a run is missing or damaged.
    """
    for index, panel in enumerate(panels):
        shown = [run for run in runs if (run.task, run.paper_size) == (panel.task, panel.size)]
        for cell in dict.fromkeys(run.cell for run in shown):
            seeds = [run for run in shown if run.cell == cell]
            share = resampled(configuration, cell.task, cell.model)
            for point in averaged(panel, [RunFiles(root / run.directory) for run in seeds], share):
                yield {"panel": index, "task": cell.task, "model": cell.model, "variant": seeds[0].variant, **point}


def averaged(panel: Panel, seeds: Sequence[RunFiles], share: float) -> Iterator[dict[str, Any]]:
    """One model's curve: smoothed seed by seed, averaged over the seeds that have a value, thinned.

    Args:
        share: `resampled` of `mean_band`.
    """
    records = [files.record() for files in seeds]
    learned = learned_of(records)
    curves = [curve_of(files, panel.split, panel.against) for files in seeds]
    window = min(panel.window, max(1, max(y.size for _, y in curves) // FEWEST_WINDOWS))
    x, values = align([(x, triangular_moving_average(y, window)) for x, y in curves])
    n = (~np.isnan(values)).sum(axis=0)
    mean, low, high = mean_band(values, resampled=share)
    own = learned is not None or 1 < len(seeds) < FEWEST
    naive = json.dumps(records[0]["naive"].get(f"{panel.split}_loss", {}))
    about = {"label": records[0]["label"], "learned": learned, "naive": naive, "window": window}
    for i in thin(x, MOST_POINTS):
        numbers = {"x": x[i], "mean": mean[i], "n": n[i]} | ({} if own else {"low": low[i], "high": high[i]})
        lines = json.dumps([as_number(value) for value in values[:, i]]) if own else None
        yield {**about, **{name: as_number(value) for name, value in numbers.items()}, "seeds": lines}


def learned_of(records: Sequence[Mapping[str, Any]]) -> int | None:
    """The number of runs that have learned something, where they and the others are two clusters; else None."""
    finished = [record for record in records if record["status"] == "finished" and record["reported"]]
    margins = [margin(record["naive"], record["reported"]["metrics"], DECIDING, -1) for record in finished]
    return sum(each > BY_CHANCE for each in margins) if in_two_clusters(margins) else None


def curve_of(files: RunFiles, split: str, against: str) -> tuple[NDArray, NDArray]:
    """(iteration or epoch, loss), each (points,), up to the first loss that is not a finite number.

    A train loss is that of every minibatch, against the iteration; the others are those of every evaluation.
    """
    if split == "train":
        losses = files.train_loss()
        return finite_start(np.arange(1, losses.size + 1, dtype=np.float64), losses)
    return finite_start(*files.evaluations(f"{split}_loss", against))


def finite_start(x: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
    """Both up to the first y that is not finite."""
    bad = np.flatnonzero(~np.isfinite(y))
    end = bad[0] if bad.size else y.size
    return x[:end], y[:end]


def align(curves: Sequence[tuple[NDArray, NDArray]]) -> tuple[NDArray, NDArray]:
    """Curves on their common grid: x (points,) ascending, values (curves, points), nan where a curve has ended.

    Seeds may have been evaluated at different x: a language model's epoch has a number of iterations that chance
    sets. Between two evaluations of its own, a curve is the straight line; the grid starts where all have begun.
    """
    begun = [x for x, _ in curves if x.size]
    grid = np.unique(np.concatenate([x for x, _ in curves]))
    grid = grid[grid >= max((x[0] for x in begun), default=0.0)]
    values = np.full((len(curves), grid.size), np.nan)
    for row, (x, y) in zip(values, curves, strict=True):
        if x.size:
            row[:] = np.interp(grid, x, y, right=np.nan)
    return grid, values


def as_number(value: float) -> int | float | None:
    """A cell of the CSV: whole numbers without a point, nothing for nan, else all the digits that matter."""
    value = float(value)
    if np.isnan(value):
        return None
    return int(value) if value.is_integer() and abs(value) < 1e15 else value
