"""Gather finished runs into one CSV, and the training curves of a figure, averaged over seeds, into another.

    python scripts/summarise.py --artifact momentumrnn_figure3 --output results/demo/summary/momentumrnn_figure3.csv \
        --curves results/demo/summary/momentumrnn_figure3.curves.csv

The first has one row per run (`COLUMNS`), the second one row per plotted point (`CURVE_COLUMNS`). An empty cell means
"none".
"""

import _bootstrap  # noqa: F401  isort: skip

import argparse
import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.configuration import Configuration, load, parse_settings
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.results.seals import check, check_is_of, remedy, vouched
from hidden_dynamics.configuration.runs import Run, all_runs, cells_of, resolve, seeds_of
from hidden_dynamics.results.statistics import mean_band, thin, triangular_moving_average

COLUMNS = (
    *("artifact", "scale", "task", "task_title", "model", "label", "variant", "size", "paper_size", "extra", "seed"),
    *("dataset", "dataset_title", "stand_in_for", "parameters", "status", "diverged_at", "failure"),
    *("metric", "rule", "reported", "reported_iteration", "reported_epoch", "measured", "iterations"),
    *("readings", "device", "precision", "threads", "training_seconds", "directory", "fingerprint"),
)
CURVE_COLUMNS = ("panel", "task", "model", "label", "variant", "x", "mean", "low", "high", "n", "baseline")
MOST_POINTS = 500
AGAIN = "run snakemake again"


def main() -> None:
    arguments = parse_arguments()
    configuration = load(parse_settings(arguments.config))
    rows = [
        row_of(configuration, arguments.artifact, run, arguments.root)
        for run in runs(configuration, arguments.artifact)
    ]
    write(arguments.output, COLUMNS, rows)
    if arguments.curves:
        if arguments.artifact == "all":
            raise UserError("--curves: give one figure as --artifact; 'all' has no panels.")
        write(arguments.curves, CURVE_COLUMNS, curves_of(configuration, arguments.artifact, arguments.root))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--artifact", required=True, help="name of a table or figure, or 'all' for every configured run"
    )
    parser.add_argument("--config", help="settings as JSON, merged over config.yaml")
    parser.add_argument("--output", required=True, type=Path, help="CSV to write, one row per run")
    parser.add_argument("--curves", type=Path, help="CSV to write, one row per point of the figure's curves")
    parser.add_argument("--root", type=Path, default=Path(), help="where the results directory is (default: here)")
    return parser.parse_args()


def runs(configuration: Configuration, artifact: str) -> list[Run]:
    """The runs of an artifact, or every configured run for 'all'.

    Two of the paper's sizes that a scale maps to one share their runs: each has rows here, as each has one in a table.
    """
    if artifact == "all":
        return all_runs(configuration)
    return [
        resolve(configuration, *cell, seed)
        for cell in cells_of(configuration, artifact)
        for seed in seeds_of(configuration, cell[0])
    ]


def row_of(configuration: Configuration, artifact: str, run: Run, root: Path) -> dict[str, Any]:
    """What the summary says of one run, by column."""
    path = root / run.directory / "run.json"
    record = read_json(path)
    task = configuration.tasks[run.task]
    try:
        check_is_of(run, record, path)
        reported = record["reported"] or {}
        return {
            "artifact": artifact,
            "scale": record["scale"],
            "task": run.task,
            "task_title": task["title"],
            "model": run.model,
            "label": record["label"],
            "variant": run.variant,
            "size": record["spec"]["hyperparameters"].get("hidden_size", run.variant[len(run.model) + 1 :] or None),
            "paper_size": run.paper_size,
            "extra": bool(task["models"][run.model].get("extra")),
            "seed": run.seed,
            "dataset": record["dataset"]["name"],
            "dataset_title": record["dataset"]["title"],
            "stand_in_for": record["dataset"]["stand_in_for"],
            "parameters": record["parameters"],
            "status": record["status"],
            "diverged_at": record["diverged_at"],
            "failure": json.dumps(record["failure"]) if record["failure"] else None,
            "metric": reported.get("metric"),
            "rule": reported.get("rule"),
            "reported": reported.get("value"),
            "reported_iteration": reported.get("iteration"),
            "reported_epoch": reported.get("epoch"),
            "measured": json.dumps(reported["metrics"]) if reported else None,
            "iterations": record["iterations"],
            "readings": json.dumps(record["spec"]["readings"], sort_keys=True),
            "device": record["device"],
            "precision": record["spec"]["precision"],
            "threads": record["threads"],
            "training_seconds": record["seconds"]["training"],
            "directory": run.directory,
            "fingerprint": record["fingerprint"],
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise unreadable(path, f"{type(error).__name__}: {error}") from None


def curves_of(configuration: Configuration, artifact: str, root: Path) -> Iterator[dict[str, Any]]:
    """The points of a figure's curves, by column: panel after panel, model after model, x ascending."""
    panels = configuration.artifacts[artifact].get("panels")
    if panels is None:
        raise UserError(
            f"--curves: {artifact} has no curves (its kind is {configuration.artifacts[artifact]['kind']})."
        )
    for index, panel in enumerate(panels):
        for task, model, paper_size in cells_of(configuration, artifact):
            if (task, paper_size) == (panel["task"], panel.get("size")):
                seeds = seeds_of(configuration, task)
                runs = [resolve(configuration, task, model, paper_size, seed) for seed in seeds]
                yield from points_of(index, panel, runs, root)


def points_of(index: int, panel: Mapping[str, Any], runs: Sequence[Run], root: Path) -> Iterator[dict[str, Any]]:
    """One model's curve in one panel: smoothed seed by seed, averaged over the seeds that have a value, thinned."""
    directories = [root / run.directory for run in runs]
    records = [read_json(directory / "run.json") for directory in directories]
    curves = [read_curve(directory, panel["split"], panel["against"]) for directory in directories]
    smooth = [(x, triangular_moving_average(y, panel.get("window", 1))) for x, y in curves]
    x, values = align(smooth)
    keep = thin(x, MOST_POINTS)
    n = (~np.isnan(values)).sum(axis=0)
    mean, low, high = mean_band(values)
    for i in keep:
        yield {
            "panel": index,
            "task": runs[0].task,
            "model": runs[0].model,
            "label": records[0].get("label", runs[0].model),
            "variant": runs[0].variant,
            "x": as_number(x[i]),
            "mean": as_number(mean[i]),
            "low": as_number(low[i]),
            "high": as_number(high[i]),
            "n": int(n[i]),
            "baseline": records[0].get("baseline_loss"),
        }


def read_curve(directory: Path, split: str, against: str) -> tuple[NDArray, NDArray]:
    """(iteration or epoch, loss), each (points,), up to the first loss that is not a finite number.

    A train loss is that of every minibatch, against the iteration; the others are those of every evaluation.
    """
    return read_train_curve(directory) if split == "train" else read_evaluations(directory, f"{split}_loss", against)


def read_train_curve(directory: Path) -> tuple[NDArray, NDArray]:
    """(iteration, minibatch loss), each (points,)."""
    path = directory / "train_loss.npy"
    check(path)
    try:
        losses = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise missing(path) from None
    except (OSError, EOFError, ValueError) as error:
        raise unreadable(path, str(error)) from None
    if losses.ndim != 1 or losses.dtype.kind != "f":
        raise unreadable(path, f"expected a row of losses, found shape {losses.shape} of {losses.dtype}")
    return finite_start(np.arange(1, losses.size + 1, dtype=np.float64), losses.astype(np.float64))


def read_evaluations(directory: Path, metric: str, against: str) -> tuple[NDArray, NDArray]:
    """(iteration or epoch, metric), each (evaluations,); an evaluation that did not measure it has an empty cell."""
    rows = read_metrics(directory)
    try:
        measured = [row for row in rows if row[metric] != ""]
        return finite_start(column(measured, against), column(measured, metric))
    except (KeyError, TypeError, ValueError) as error:
        raise unreadable(directory / "metrics.csv", f"{type(error).__name__}: {error}") from None


def read_metrics(directory: Path) -> list[dict[str, str]]:
    path = directory / "metrics.csv"
    check(path)
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            return list(csv.DictReader(handle))
    except FileNotFoundError:
        raise missing(path) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise unreadable(path, str(error)) from None


def read_json(path: Path) -> dict[str, Any]:
    check(path)
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise missing(path) from None
    except ValueError as error:
        raise unreadable(path, str(error)) from None
    if not isinstance(record, dict):
        raise unreadable(path, "expected an object")
    return record


def column(rows: Sequence[Mapping[str, str]], name: str) -> NDArray:
    return np.array([float(row[name]) for row in rows], dtype=np.float64)


def finite_start(x: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
    """Both curves up to the first y that is not finite."""
    bad = np.flatnonzero(~np.isfinite(y))
    end = bad[0] if bad.size else y.size
    return x[:end], y[:end]


def align(curves: Sequence[tuple[NDArray, NDArray]]) -> tuple[NDArray, NDArray]:
    """Curves on their common grid: x (points,) ascending, values (curves, points), nan where a curve has no such x."""
    x = np.unique(np.concatenate([x for x, _ in curves]))
    values = np.full((len(curves), x.size), np.nan)
    for row, (own_x, y) in zip(values, curves, strict=True):
        row[np.searchsorted(x, own_x)] = y
    return x, values


def as_number(value: float) -> int | float | None:
    """A cell of the CSV: whole numbers without a point, nothing for nan, else all the digits that matter."""
    value = float(value)
    if np.isnan(value):
        return None
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


def missing(path: Path) -> UserError:
    return UserError(f"{path} is missing: its run has not finished, or was removed; {AGAIN}.")


def unreadable(path: Path, why: str) -> UserError:
    return UserError(f"{path} is not readable ({why}): {remedy(path)}")


def write(path: Path, columns: Sequence[str], rows: Iterator[Mapping[str, Any]] | Sequence[Mapping[str, Any]]) -> None:
    with vouched(path) as handle:
        writer = csv.DictWriter(handle, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {key: str(value).lower() if isinstance(value, bool) else value for key, value in row.items()}
            )


if __name__ == "__main__":
    run_main(main)
