"""The runs behind an artifact: for each of its rows, every run with its value, data, code, directory."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hidden_dynamics.artifacts import Artifact
from hidden_dynamics.results.rows import Row
from hidden_dynamics.results.summary import measured_of

PLACES = ("iteration", "epoch")  # what is measured says at which evaluation, too


@dataclass(frozen=True)
class Origin:
    """One run.

    Attributes:
        row: the run in the summary (hidden_dynamics.results.summary.COLUMNS).
        values: {metric: value} at the evaluation that is reported, the metric that chose it first.
    """

    row: Row
    values: Mapping[str, Any]
    readings: Mapping[str, str]


@dataclass(frozen=True)
class Rows:
    """The runs of one row of a table, or of one line of a figure: a model at one of the paper's sizes, on all tasks.

    Attributes:
        anchor: the id of their place on the page.
        label: the model's.
    """

    anchor: str
    label: str
    origins: list[Origin]


def origins_of(artifact: Artifact, runs: Iterable[Row]) -> dict[tuple[str, str], Rows]:
    """The runs that an artifact shows by what names their row, (model, paper's size), in its order; none where it shows
    no runs.

    Args:
        runs: of the summary of all.
    """
    by_cell: dict[tuple[str, str, str], list[Row]] = {}
    for row in runs:
        by_cell.setdefault((row["task"], row["model"], row["paper_size"]), []).append(row)
    found: dict[tuple[str, str], list[Row]] = {}
    for cell in artifact.cells():
        model, size = artifact.row_name(cell)
        of_cell = by_cell.get((cell.task, cell.model, size_text(cell.size)), [])
        found.setdefault((model, size_text(size)), []).extend(of_cell)
    shown = {key: rows for key, rows in found.items() if rows}
    return {
        key: Rows(f"{artifact.name}-runs-{number}", rows[0]["label"], [_origin(row) for row in rows])
        for number, (key, rows) in enumerate(shown.items(), start=1)
    }


def size_text(size: int | str | None) -> str:
    """One of the paper's sizes as a summary has it."""
    return "" if size is None else str(size)


def _origin(row: Row) -> Origin:
    values = measured_of(row)
    first = {row["metric"]: values[row["metric"]]} if row["metric"] in values else {}
    rest = {name: value for name, value in values.items() if name not in PLACES}
    return Origin(row, first | rest, json.loads(row["readings"]))
