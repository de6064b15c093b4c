"""A table of silhouette scores of image features: ours over seeds beside the published ones."""

from collections import Counter
from collections.abc import Iterator

from hidden_dynamics.artifacts import comparison
from hidden_dynamics.artifacts.base import REQUIRED, BesidePublished, SideBySide, SideBySideSettings
from hidden_dynamics.artifacts.comparison import Record, Rows
from hidden_dynamics.artifacts.notes import divergence_notes, runs_note
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import Table
from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.measurements.features import FeatureSettings
from hidden_dynamics.papers.deviations import data_text

SAME = ("dataset", "dataset_title", "stand_in_for", "settings", "variants")  # of all runs of a model
LAYERS = {
    "pooled": "what the last linear map sees, means over all places",
    "state": "all entries of the maps before the head, h(1) of a neural ODE",
}
WITHOUT = {
    "diverged": "the training diverged",
    "failed": "the training failed",
    "solver failed": "the solver failed on these images",
    "not finite": "features are not finite",
    "collapsed": "fewer features differ than there are to be clusters",
}


class FeaturedSettings(SideBySideSettings):
    features: FeatureSettings


class Featured(SideBySide):
    """Image features of models of one size on one task."""

    Settings = FeaturedSettings
    measured = "features"
    alike = ("silhouette_table", "embedding"), ("task", "size", "models", "features")


class Settings(FeaturedSettings):
    """
    Attributes:
        papers_data: whether it is made of the paper's data alone, not of stand-ins or smaller images.
    """

    published: str = REQUIRED
    papers_data: bool = False


class SilhouetteTable(BesidePublished, Featured):
    Settings = Settings
    form = "table"
    needed = "data that the user leaves out (leave_out, only), or the paper's own, as scales pilot and paper have"

    def shown(self) -> list[Case]:
        task, configuration = self.settings.task, self.configuration
        others = self.settings.papers_data and (configuration.replaced(task) or configuration.reduced(task))
        return [] if others else super().shown()

    @property
    def is_left_out(self) -> bool:
        return super().is_left_out or not self.shown()

    def metrics(self) -> list[str]:
        return ["silhouette"]

    def printed(self) -> Iterator[tuple[Case, str]]:
        for cell in self.shown():
            yield cell, "silhouette"


def draw(artifact: SilhouetteTable, sources: Sources) -> Table:
    """One row per model, the paper's first, then the user's own."""
    rows = measured_features(sources)
    records = [
        _record(artifact, cell, [row for row in rows if row["model"] == cell.model]) for cell in artifact.cases()
    ]
    records = comparison.compared(artifact, records, sources.verdicts)
    lines = [
        *(f"Data: {data_text(artifact.configuration, row)}." for row in rows),
        runs_note(rows),
        *features_notes(artifact.settings.features, rows),
        *divergence_notes(rows),
    ]
    return comparison.table(artifact, records, [_row(artifact, record) for record in records], lines)


def _record(artifact: SilhouetteTable, cell: Case, rows: Rows) -> Record:
    """Our numbers over seeds, and the published ones."""
    printed = artifact.number(cell, "silhouette")
    return {
        **comparison.begun(artifact, cell, "silhouette", rows),
        **{column: " | ".join(dict.fromkeys(row[column] for row in rows)) for column in SAME},
        "seeds": " ".join(row["seed"] for row in rows),
        "runs": len(rows),
        **comparison.over_seeds(float(row["silhouette"]) for row in rows if row["status"] == "measured"),
        "published_mean": printed and printed.value,
        "published_std": printed and printed.std,
        "failed": "; ".join(row["status"] for row in rows if row["status"] != "measured"),
    }


def _row(artifact: SilhouetteTable, record: Record) -> dict[str, str]:
    decimals = artifact.configuration.metrics["silhouette"].decimals
    failed = Counter(filter(None, record["failed"].split("; ")))
    return {
        "Model": record["label"],
        "N": comparison.size_text(record["size"], record["paper_size"]),
        "ours": comparison.ours_text(record, decimals, failed=failed),
        "published": comparison.value_text(record["published_mean"], record["published_std"], decimals),
        **comparison.gap_texts(artifact, record, decimals),
    }


# Shared with the figure of features


def measured_features(sources: Sources) -> list[dict[str, str]]:
    """The measured features of an artifact, a row for each run; a `UserError` where they have not one row for each run,
    as those of a publication with fewer seeds."""
    artifact, rows = sources.artifact, sources.features
    found = [(row["model"], row["seed"]) for row in rows]
    for run in artifact.runs:
        if found.count((run.model, str(run.seed))) != 1:
            raise sources.wrong("features", f"it has not one row for {run.id}")
    return rows


def features_notes(settings: FeatureSettings, rows: Rows) -> list[str]:
    """Layer and images of the features, their clusters, the weights and devices, the runs without a silhouette."""
    scaled = "every number scaled to mean 0 and deviation 1" if settings.standardise else "not scaled"
    sizes = dict.fromkeys(f"{row['dimensions']} ({row['label']})" for row in rows if row["dimensions"])
    images = {f"{int(row['images']):,}" for row in rows if row["images"]}
    kept, devices = (sorted({row[column] for row in rows} - {""}) for column in ("weights", "measured_on"))
    lost = [row for row in rows if row["status"] not in ("measured", "diverged", "failed")]
    texts = [f"{row['label']} seed {row['seed']} ({row['failure'] or WITHOUT[row['status']]})" for row in lost]
    return [
        f"Features: {LAYERS[settings.layer]}; numbers per image: {', '.join(sizes) or 'none'}; {scaled}. Images: "
        f"{' or '.join(images) or 'none'} of the {settings.split} set, the first ones. Silhouette: k-means with k = "
        f"{settings.clusters}, best of {settings.initialisations} initialisations, seed {settings.seed}. Weights: "
        f"those of the {' or '.join(kept)} evaluation. Features computed on: {'; '.join(devices)}.",
        *([f"Without a silhouette: {'; '.join(texts)}."] if texts else []),
    ]
