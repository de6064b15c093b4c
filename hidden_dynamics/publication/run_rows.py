"""Runs and verdicts as rows of the publication's CSV files: runs go by their ids, not by directories of a machine."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from hidden_dynamics.claims.verdict import COLUMNS
from hidden_dynamics.configuration.runs import Run, code_of
from hidden_dynamics.results.rows import Row

RUN_COLUMNS = (
    *("run", "task", "task_title", "model", "label", "size", "paper_size", "seed"),
    *("dataset_title", "stand_in_for", "data", "data_digest"),
    *("parameters", "status", "diverged_at", "failure", "iterations"),
    *("metric", "rule", "reported", "reported_iteration", "reported_epoch", "measured", "baseline_loss", "limits"),
    *("other_readings", "training_seconds", "evaluation_seconds", "threads", "device", "precision", "versions"),
    *("code", "commit"),
)
PUBLISHED = "published"  # the value of a reading that is the paper's text
NUMBERED = ("number", *COLUMNS)  # of verdicts.csv


def run_rows(rows: Iterable[Row], records: Mapping[str, Mapping[str, Any]], commits: Mapping[str, str]) -> list[Row]:
    """A row for each run, in the order of the summary; what two of the paper's sizes share is there once.

    Args:
        rows: the summary of all runs.
        records: those of the runs, by id.
        commits: by id, the commit whose code made the run; nothing, or "", where that is not known.
    """
    found: dict[str, Row] = {}
    for row in rows:
        name = run_id(row)
        about = {
            "run": name,
            "other_readings": "; ".join(f"{reading}: {value}" for reading, value in other_readings(row).items()),
            "evaluation_seconds": records[name]["seconds"]["evaluation"],
            "commit": commits.get(name, ""),
        }
        found.setdefault(name, {column: (row | about)[column] for column in RUN_COLUMNS})
    return list(found.values())


def run_id(row: Row) -> str:
    """The id (hidden_dynamics.configuration.runs.Run.id) of a summary's row."""
    return f"{row['task']}/{row['variant']}/seed{row['seed']}"


def other_readings(row: Row) -> dict[str, str]:
    """{reading: its value}, of those that a run took otherwise than the paper's text."""
    return {reading: value for reading, value in json.loads(row["readings"]).items() if value != PUBLISHED}


def commits_of(runs: Iterable[Run], records: Mapping[str, Mapping[str, Any]], commit: str) -> dict[str, str]:
    """{id: the commit, where a run was made by the code that is there now, else ""}."""
    return {run.id: commit if records[run.id]["code"] == code_of(run) else "" for run in runs}


def numbered(claims: Sequence[Row], results: str) -> list[dict[str, str]]:
    """The claims with a number each, from 1 on, by which sentences refer to them, and their runs by id.

    Args:
        results: the directory of the scale's results, in which the runs' directories are.
    """
    return [
        {"number": str(number), **claim, "runs": " ".join(_ids(claim["runs"].split(), f"{results}/runs/"))}
        for number, claim in enumerate(claims, start=1)
    ]


def _ids(directories: Collection[str], start: str) -> list[str]:
    return [directory.removeprefix(start) for directory in directories]


def versions_of(rows: Iterable[Row]) -> dict[str, list[str]]:
    """{package: its versions}, of all runs."""
    found: dict[str, set[str]] = {}
    for row in rows:
        for name, version in json.loads(row["versions"]).items():
            found.setdefault(name, set()).add(version)
    return {name: sorted(versions) for name, versions in sorted(found.items())}
