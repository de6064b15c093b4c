"""A table of hyperparameters: what is configured at a scale, with every departure from the published value marked."""

from collections.abc import Sequence

import pandas

from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.artifacts.kinds.hyperparameter_table.cells import COLUMNS, MISSING, Row, rows_of
from hidden_dynamics.artifacts.kinds.hyperparameter_table.notes import notes
from hidden_dynamics.artifacts.notes import title_of
from hidden_dynamics.artifacts.tables import RowKey, Table, readable
from hidden_dynamics.configuration import Configuration


def hyperparameter_table(artifact: Artifact) -> Table:
    """The configured hyperparameters of the artifact's models, a row per task and size, beside the published ones."""
    rows = rows_of(artifact)
    departs = any(cell.differs for row in rows for cell in row.cells.values())
    return Table(
        title=title_of(artifact) + (", which departs from the paper's settings" if departs else ""),
        notes=notes(artifact, rows),
        frame=_readable(artifact, rows),
        data=_data(artifact, rows),
        rows=[RowKey(row.run.model, row.run.paper_size) for row in rows],
    )


def _readable(artifact: Artifact, rows: Sequence[Row]) -> pandas.DataFrame:
    """The cells as text; a row that the paper's table does not have says so."""
    configuration, table = artifact.configuration, artifact.published.source.table
    used = [name for name in COLUMNS if any(row.cells[name].present for row in rows)]
    return readable(
        [
            {
                "Task": row.task_title + ("" if row.printed else f" (not in {table})"),
                "Model": row.label,
                "Data": _data_text(configuration, row),
                "N": row.cells["size"].text,
                **{COLUMNS[name]: row.cells[name].text for name in used},
            }
            for row in rows
        ]
    )


def _data_text(configuration: Configuration, row: Row) -> str:
    dataset = row.cells["dataset"].map(configuration.title_of)
    cells = {name.removeprefix("data."): cell for name, cell in row.cells.items() if name.startswith("data.")}
    settings = [f"{name} {cell.text}" for name, cell in cells.items()]
    return ": ".join(part for part in (dataset.text, ", ".join(settings)) if part)


def _data(artifact: Artifact, rows: Sequence[Row]) -> pandas.DataFrame:
    records = []
    for row in rows:
        record = {
            "artifact": artifact.name,
            "scale": artifact.configuration.scale_name,
            "task": row.run.task,
            "model": row.run.model,
            "differs": " ".join(name for name, cell in row.cells.items() if cell.differs),
        }
        for name, cell in row.cells.items():
            record[name] = None if cell.value is MISSING else cell.value
            record[f"published_{name}"] = None if cell.published is MISSING else cell.published
        records.append(record)
    return pandas.DataFrame(records, dtype=object).dropna(axis="columns", how="all")
