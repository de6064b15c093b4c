"""Run times: training by task and model, from the runs' own clocks; jobs, from their benchmarks."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def trainings(runs: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """By task and model, in the order of the runs: how many, and the seconds of training, evaluations not included.

    A run that two of the paper's sizes share counts once. `milliseconds` are per iteration.

    Args:
        runs: the rows of summary/runs.csv, as text by column.
    """
    groups: dict[tuple[str, str], list[Mapping[str, str]]] = {}
    for run in {run["directory"]: run for run in runs}.values():
        groups.setdefault((run["task"], run["variant"]), []).append(run)
    return [_training(group) for group in groups.values()]


def jobs(logs: Path) -> list[dict[str, Any]]:
    """By kind, the longest in total first, from the benchmark files in `logs`: how many, and wall time in seconds.

    `memory` is the peak (resident) of one job in MB. A file that another job is writing, or that a job of a fraction of
    a second left empty, counts as no time.
    """
    groups: dict[str, list[Mapping[str, str]]] = {}
    for path in sorted(logs.glob("*.tsv")):
        with path.open(encoding="utf-8", newline="") as handle:
            groups.setdefault(path.name.split("-")[0].removesuffix(".tsv"), []).extend(
                csv.DictReader(handle, delimiter="\t")
            )
    found = [
        {
            "kind": kind.replace("_", " "),
            "count": len(rows),
            "total": sum(_numbers(rows, "s")),
            "longest": max(_numbers(rows, "s")),
            "memory": max(_numbers(rows, "max_rss")),
        }
        for kind, rows in groups.items()
        if rows
    ]
    return sorted(found, key=lambda kind: kind["total"], reverse=True)


def _training(runs: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    seconds = [float(run["training_seconds"]) for run in runs]
    iterations = sum(int(run["iterations"]) for run in runs)
    return {
        "task": runs[0]["task_title"],
        "label": runs[0]["label"],
        "size": runs[0]["size"],
        "runs": len(runs),
        "mean": sum(seconds) / len(runs),
        "longest": max(seconds),
        "total": sum(seconds),
        "milliseconds": 1000 * sum(seconds) / max(iterations, 1),
    }


def _numbers(rows: Iterable[Mapping[str, str]], column: str) -> list[float]:
    return [float(row[column]) if row[column] not in ("", "-", "NA") else 0.0 for row in rows]
