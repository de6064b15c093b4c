"""Of which runs an artifact was made: for each of its rows, every run with its value, data, code, directory."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.errors import UserError
from hidden_dynamics.configuration.runs import cells_of


@dataclass(frozen=True)
class Origin:
    """One run: its row in the summary, as text by column, and what only its record says.

    Attributes:
        values: {metric: value} at the evaluation that is reported, the metric that chose it first.
        data, code: digests of the prepared arrays and of the definitions that the run reaches.
        versions: {package: version}.
    """

    row: Mapping[str, str]
    values: Mapping[str, Any]
    readings: Mapping[str, str]
    data: str
    code: str
    versions: Mapping[str, str]


@dataclass(frozen=True)
class Rows:
    """The runs of one row of a table, or of one line of a figure: a model at one of the paper's sizes, on all tasks."""

    anchor: str
    model: str
    paper_size: str
    label: str
    origins: list[Origin]


def read_origins(rows: Sequence[Mapping[str, str]], root: Path) -> list[Origin]:
    """Each run of summary/runs.csv with its record.

    Args:
        root: where the results directory is.

    Raises:
        UserError: a record is missing or not readable, or is not the one that was summarised.
    """
    return [_origin(row, root / row["directory"] / "run.json") for row in rows]


def origins_of(configuration: Configuration, artifact: str, origins: Sequence[Origin]) -> list[Rows]:
    """The runs that an artifact shows, row by row in its order; none where it shows no runs."""
    by_cell: dict[tuple[str, str, str], list[Origin]] = {}
    for origin in origins:
        by_cell.setdefault(tuple(origin.row[key] for key in ("task", "model", "paper_size")), []).append(origin)
    rows: dict[tuple[str, str], list[Origin]] = {}
    for task, model, size in cells_of(configuration, artifact):
        paper_size = "" if size is None else str(size)
        rows.setdefault((model, paper_size), []).extend(by_cell.get((task, model, paper_size), []))
    return [
        Rows(f"{artifact}-runs-{number}", model, paper_size, found[0].row["label"], found)
        for number, ((model, paper_size), found) in enumerate(rows.items(), start=1)
        if found
    ]


def _origin(row: Mapping[str, str], path: Path) -> Origin:
    again = f"remove {path.parent} and run snakemake again."
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["fingerprint"] != row["fingerprint"]:
            raise UserError(f"{path} is not the run that was summarised: run snakemake again.")
        values = json.loads(row["measured"] or "{}")
        first = {row["metric"]: values[row["metric"]]} if row["metric"] in values else {}
        rest = {name: value for name, value in values.items() if name not in ("iteration", "epoch")}
        return Origin(
            row=row,
            values=first | rest,
            readings=json.loads(row["readings"]),
            data=record["dataset"]["digest"],
            code=record["code"],
            versions=record["versions"],
        )
    except FileNotFoundError:
        raise UserError(f"{path} is missing: run snakemake again.") from None
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} is not readable ({type(error).__name__}: {error}): {again}") from None
