"""Finished runs as rows of text by column, a row for each. Tables, figures, page and claims are made of them.

What a row says of a run is what its run.json says, whatever is configured now. An empty cell means "none".
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Run
from hidden_dynamics.results.checksums import RECORD, check_is_of
from hidden_dynamics.results.rows import as_text
from hidden_dynamics.results.run_files import RunFiles

COLUMNS = (
    *(
        "artifact",
        "scale",
        "task",
        "task_title",
        "model",
        "label",
        "sized_model",
        "size",
        "paper_size",
        "extra",
        "seed",
    ),
    *("dataset", "dataset_title", "stand_in_for", "data", "data_digest"),
    *("parameters", "status", "diverged_at", "failure"),
    *("metric", "rule", "reported", "reported_iteration", "reported_epoch", "measured", "iterations"),
    *("naive", "test_set", "split", "limits"),
    *("variants", "hyperparameters", "training", "device", "precision", "threads", "training_seconds", "versions"),
    *("directory", "fingerprint", "code", "commit"),
)


def rows_of(configuration: Configuration, artifact: str, runs: Iterable[Run], root: Path) -> Iterator[dict[str, str]]:
    """A row for each run, by column.

    Args:
        artifact: the name of what the rows are read for.
        root: what the runs' directories are relative to.

    Raises:
        UserError: a run has not finished, its record is damaged, or is of another specification than configured.
    """
    for run in runs:
        directory = root / run.directory
        row = row_of(configuration, run, RunFiles(directory).record(), directory / RECORD)
        yield as_text({"artifact": artifact, **row})


def row_of(configuration: Configuration, run: Run, record: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """A run's record, by column.

    Args:
        path: of the record, for messages.

    Raises:
        UserError: it is of another run or specification.
    """
    check_is_of(run, record, path)
    return {**_run_columns(configuration, run, record), **_outcome_columns(record)}


def _run_columns(configuration: Configuration, run: Run, record: Mapping[str, Any]) -> dict[str, Any]:
    """The columns on the run's specification."""
    task, spec, dataset = configuration.tasks[run.task], record["spec"], record["dataset"]
    return {
        "scale": record["scale"],
        "task": run.task,
        "task_title": task.title,
        "model": run.model,
        "label": record["label"],
        "sized_model": run.sized_model,
        "size": spec["hyperparameters"].get("hidden_size", run.sized_model[len(run.model) + 1 :] or None),
        "paper_size": run.paper_size,
        "extra": bool(task.models[run.model].extra),
        "seed": run.seed,
        "dataset": dataset["name"],
        "dataset_title": dataset["title"],
        "stand_in_for": dataset["stand_in_for"],
        "data": json.dumps(spec["data"]),
        "data_digest": dataset["digest"],
        "variants": _json(spec["variants"]),
        "hyperparameters": _json(spec["hyperparameters"]),
        "training": _json(spec["training"]),
        "precision": spec["precision"],
        "directory": run.directory,
        "fingerprint": record["fingerprint"],
        "code": record["code"],
        "commit": record["commit"],
    }


def _outcome_columns(record: Mapping[str, Any]) -> dict[str, Any]:
    """The columns on the run's outcome."""
    reported = record["reported"] or {}
    return {
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
        "naive": _json(record["naive"]),
        "test_set": _json(record["test_set"]),
        "split": _json(record.get("split")),
        "limits": _json(record.get("limits")),
        "device": record["device"],
        "threads": record["threads"],
        "training_seconds": record["seconds"]["training"],
        "versions": _json(record["versions"]),
    }


def _json(content: Any) -> str | None:
    return None if content is None else json.dumps(content, sort_keys=True)


def measured_of(row: Mapping[str, str]) -> dict[str, float]:
    """All that a row's run measured at its reported evaluation, by metric; nothing where none was finite."""
    return json.loads(row["measured"] or "{}")
