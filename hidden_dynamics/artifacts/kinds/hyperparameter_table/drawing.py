"""A table of hyperparameters: the configured values of a scale, every departure from the published ones marked."""

from collections.abc import Sequence

from hidden_dynamics.artifacts.comparison import Record
from hidden_dynamics.artifacts.kinds.hyperparameter_table import HyperparameterTable
from hidden_dynamics.artifacts.kinds.hyperparameter_table.cells import COLUMNS, MISSING, Row, rows_of
from hidden_dynamics.artifacts.kinds.hyperparameter_table.notes import notes
from hidden_dynamics.artifacts.notes import title_of
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import Table
from hidden_dynamics.configuration import Configuration


def draw(artifact: HyperparameterTable, sources: Sources) -> Table:
    """The configured hyperparameters of the artifact's models, a row per task and size, beside the published ones."""
    rows = rows_of(artifact)
    departs = any(cell.differs for row in rows for cell in row.cells.values())
    used = [name for name in COLUMNS if any(row.cells[name].present for row in rows)]
    return Table.of(
        title_of(artifact) + (", which departs from the paper's settings" if departs else ""),
        notes(artifact, rows),
        [_texts(artifact, row, used) for row in rows],
        _without_empty([_record(artifact, row) for row in rows]),
    )


def _texts(artifact: HyperparameterTable, row: Row, used: Sequence[str]) -> dict[str, str]:
    """The cells as text; a row that the paper's table does not have says so."""
    return {
        "Task": row.task_title + ("" if row.printed else f" (not in {artifact.published.source.place})"),
        "Model": row.label,
        "Data": _data_text(artifact.configuration, row),
        "N": row.cells["size"].text,
        **{COLUMNS[name]: row.cells[name].text for name in used},
    }


def _data_text(configuration: Configuration, row: Row) -> str:
    dataset = row.cells["dataset"].map(configuration.title_of)
    cells = {name.removeprefix("data."): cell for name, cell in row.cells.items() if name.startswith("data.")}
    settings = [f"{name} {cell.text}" for name, cell in cells.items()]
    return ": ".join(part for part in (dataset.text, ", ".join(settings)) if part)


def _record(artifact: HyperparameterTable, row: Row) -> Record:
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
        record[f"released_{name}"] = None if cell.released is MISSING else cell.released
    return record


def _without_empty(records: Sequence[Record]) -> list[Record]:
    """Without the columns that are empty in every record."""
    used = dict.fromkeys(name for record in records for name in record)
    used = [name for name in used if any(record.get(name) is not None for record in records)]
    return [{name: record.get(name) for name in used} for record in records]
