"""A table of silhouette scores of image features: ours over seeds beside the published ones."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hidden_dynamics.artifacts import comparison, feature_notes
from hidden_dynamics.artifacts.base import SideBySide, SideBySideSettings
from hidden_dynamics.artifacts.comparison import Record
from hidden_dynamics.artifacts.notes import runs_notes, scale_notes
from hidden_dynamics.artifacts.tables import Table
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.measurements.features import FeatureSettings
from hidden_dynamics.results.deviations import data_text

if TYPE_CHECKING:
    from hidden_dynamics.artifacts.sources import Sources


class FeaturedSettings(SideBySideSettings):
    features: FeatureSettings


class Featured(SideBySide):
    """Image features of models of one size on one task."""

    Settings = FeaturedSettings
    measured = "features"
    measured_by = ("task", "size", "models", "features")


class Settings(FeaturedSettings):
    published: str


class SilhouetteTable(Featured):
    Settings = Settings
    form = "table"

    def metrics(self) -> list[str]:
        return ["silhouette"]

    def printed(self) -> Iterator[tuple[Cell, str]]:
        for cell in self.shown():
            yield cell, "silhouette"


KIND = SilhouetteTable


def draw(artifact: SilhouetteTable, sources: "Sources") -> Table:
    """One row per model, the paper's first, then the user's own."""
    configuration, rows, settings = (
        artifact.configuration,
        feature_notes.measured_features(sources),
        artifact.settings.features,
    )
    records = [
        _record(artifact, cell, [row for row in rows if row["model"] == cell.model]) for cell in artifact.cells()
    ]
    records = comparison.compared(artifact, records, sources.verdicts)
    lines = [
        *scale_notes(configuration),
        *(f"Data: {data_text(configuration, row)}." for row in rows),
        *runs_notes(rows),
        feature_notes.features_note(settings, rows),
        feature_notes.clusters_note(settings),
        feature_notes.weights_note(rows),
        *feature_notes.missing_notes(rows),
        "Ours: mean ± sample standard deviation (n − 1) over n seeds.",
        comparison.gap_note(artifact),
        *comparison.notes(artifact, records),
        *artifact.published.notes,
    ]
    shown = [_row(artifact, record) for record in records]
    return Table.of(comparison.title(artifact, records), lines, shown, records, ("difference", "verdict"))


def _record(artifact: SilhouetteTable, cell: Cell, rows: Sequence[Mapping[str, str]]) -> Record:
    """Our numbers over seeds, and the published ones."""
    printed = artifact.number(cell, "silhouette")
    same = ("dataset", "dataset_title", "stand_in_for", "settings", "variants")
    return {
        "artifact": artifact.name,
        "scale": artifact.configuration.scale_name,
        "task": cell.task,
        "model": cell.model,
        "label": rows[0]["label"],
        "extra": cell.model not in artifact.settings.models,
        "metric": "silhouette",
        "size": comparison.size_of(rows[0]["size"]),
        "paper_size": cell.size,
        **{column: " | ".join(dict.fromkeys(row[column] for row in rows)) for column in same},
        "deviations": comparison.deviations_of(artifact, rows),
        "seeds": " ".join(row["seed"] for row in rows),
        "runs": len(rows),
        **comparison.over_seeds(float(row["silhouette"]) for row in rows if row["status"] == "measured"),
        "published_mean": printed and printed.value,
        "published_std": printed and printed.std,
        "failed": "; ".join(row["status"] for row in rows if row["status"] != "measured"),
    }


def _row(artifact: SilhouetteTable, record: Record) -> dict[str, str]:
    decimals = artifact.configuration.metrics["silhouette"].decimals
    failed = [status for status in record["failed"].split("; ") if status]
    return {
        "Model": record["label"],
        "N": comparison.size_text(record["size"], record["paper_size"]),
        "ours": comparison.ours_text(record, {status: failed.count(status) for status in failed}, decimals),
        "published": comparison.value_text(record["published_mean"], record["published_std"], decimals),
        **comparison.gap_texts(artifact, record, decimals),
    }
