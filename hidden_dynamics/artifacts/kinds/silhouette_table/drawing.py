"""A table of silhouette scores of image features: ours over seeds beside the published ones."""

from collections.abc import Sequence

from hidden_dynamics.artifacts.comparison import (
    Record,
    baseline_label,
    extras_note,
    gap_heading,
    gap_note,
    gap_text,
    gaps,
    ours_text,
    size_of,
    size_text,
    value_text,
    without_idle,
)
from hidden_dynamics.artifacts.departure_notes import departures_in_title, departures_note, departures_of
from hidden_dynamics.artifacts.feature_notes import (
    WITHOUT,
    clusters_note,
    features_note,
    measured_features,
    missing_notes,
    weights_note,
)
from hidden_dynamics.artifacts.kinds.silhouette_table import SilhouetteTable
from hidden_dynamics.artifacts.notes import runs_notes, scale_notes, title_of
from hidden_dynamics.artifacts.row_verdicts import verdict_notes, verdict_texts, with_verdicts
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import Table, signed
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.results.departures import data_text
from hidden_dynamics.results.statistics import mean_and_std

Rows = Sequence[dict[str, str]]


def draw(artifact: SilhouetteTable, sources: Sources) -> Table:
    """One row per model, the paper's first, then the user's own."""
    cells, rows, baseline = artifact.cells(), measured_features(sources), artifact.published.baseline
    records = [_record(artifact, cell, [row for row in rows if row["model"] == cell.model]) for cell in cells]
    held_to = next(record for record in records if record["model"] == baseline)
    records = [record | gaps(artifact, record, held_to) for record in records]
    records = with_verdicts(artifact, records, sources.verdicts)
    against = gap_heading(artifact, records)
    texts = [_row(artifact, record, against) for record in records]
    return Table.of(
        title_of(artifact) + departures_in_title(artifact, rows, records),
        _notes(artifact, rows, records),
        without_idle(texts, ("difference", "verdict")),
        records,
    )


def _record(artifact: SilhouetteTable, cell: Cell, rows: Rows) -> Record:
    """Our numbers over seeds, and the published ones."""
    mean, std = mean_and_std(float(row["silhouette"]) for row in rows if row["status"] == "measured")
    printed = artifact.number(cell, "silhouette")
    same = ("dataset", "dataset_title", "stand_in_for", "settings", "readings")
    return {
        "artifact": artifact.name,
        "scale": artifact.configuration.scale_name,
        "task": cell.task,
        "model": cell.model,
        "label": rows[0]["label"],
        "extra": cell.model not in artifact.settings.models,
        "metric": "silhouette",
        "size": size_of(rows[0]["size"]),
        "paper_size": cell.size,
        **{column: " | ".join(dict.fromkeys(row[column] for row in rows)) for column in same},
        "departures": departures_of(artifact, rows),
        **{column: _largest(rows, column) for column in ("images", "dimensions")},
        "seeds": " ".join(row["seed"] for row in rows),
        "runs": len(rows),
        "n": sum(row["status"] == "measured" for row in rows),
        **{_column(status): sum(row["status"] == status for row in rows) for status in WITHOUT},
        "mean": mean,
        "std": std,
        "published_mean": printed.value if printed else None,
        "published_std": printed.std if printed else None,
    }


def _largest(rows: Rows, column: str) -> int | None:
    return max((int(row[column]) for row in rows if row[column]), default=None)


def _column(status: str) -> str:
    return status.replace(" ", "_")


def _row(artifact: SilhouetteTable, record: Record, against: str) -> dict[str, str]:
    decimals = artifact.configuration.metrics["silhouette"].decimals
    return {
        "Model": record["label"],
        "N": size_text(record["size"], record["paper_size"]),
        "ours": ours_text(record, {status: record[_column(status)] for status in WITHOUT}, decimals),
        "published": value_text(record["published_mean"], record["published_std"], decimals),
        "difference": signed(record["difference"], decimals),
        against: gap_text(record, decimals),
        **verdict_texts(record),
    }


def _notes(artifact: SilhouetteTable, rows: Rows, records: Sequence[Record]) -> list[str]:
    configuration, settings = artifact.configuration, artifact.settings.features
    lines = [
        *scale_notes(configuration),
        *(f"Data: {data_text(configuration, row)}." for row in rows),
        *runs_notes(rows),
        features_note(settings, rows),
        clusters_note(settings),
        weights_note(rows),
        "Ours: mean ± sample standard deviation (n − 1) over n seeds.",
        *missing_notes(rows),
        *departures_note(configuration, records),
        gap_note(artifact, records),
        *verdict_notes(records, baseline_label(artifact)),
    ]
    return [*dict.fromkeys([*lines, *artifact.published.notes]), *extras_note(records)]
