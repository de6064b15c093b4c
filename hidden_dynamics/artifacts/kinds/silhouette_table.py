"""A table of silhouette scores of image features: ours over seeds beside the published ones."""

from collections.abc import Sequence

from hidden_dynamics.artifacts import beside_published
from hidden_dynamics.artifacts.base import REQUIRED, Artifact, SideBySide, SideBySideSettings
from hidden_dynamics.artifacts.beside_published import beside, score_of
from hidden_dynamics.artifacts.notes import divergence_notes, runs_note
from hidden_dynamics.artifacts.tables import Table
from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.measured import Features, FeatureSettings
from hidden_dynamics.results.record import RunRecord

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

    settings: FeaturedSettings
    summarised = True
    measured = "features"
    alike = ("silhouette_table", "embedding"), ("task", "size", "models", "features")


class Settings(FeaturedSettings):
    """`papers_data`: whether it is made of the paper's data alone, not of stand-ins or smaller images."""

    published: str = REQUIRED
    papers_data: bool = False


class SilhouetteTable(Featured):
    settings: Settings
    form = "table"
    needed = "data that the user leaves out (leave_out, only), or the paper's own, as scales pilot and paper have"

    def shown(self) -> list[Case]:
        task, configuration = self.settings.task, self.configuration
        others = self.settings.papers_data and (configuration.replaced(task) or configuration.reduced(task))
        return [] if others else super().shown()


def draw(artifact: SilhouetteTable, evidence: Evidence) -> Table:
    """One row per model, the paper's first, then the user's own."""
    features = measured_features(artifact, evidence)
    scores = [score_of(artifact, evidence, case, "silhouette") for case in artifact.cases()]
    data = [score.data(artifact) for score in scores]
    rows = [
        {"Model": line["label"], "N": beside(line["size"], line["paper_size"]), **score.texts(artifact)}
        for score, line in zip(scores, data, strict=True)
    ]
    measured, *lost = features_notes(artifact.settings.features, features)
    notes = [f"{measured} {runs_note(evidence.runs)}", " ".join([*lost, *divergence_notes(evidence.runs)])]
    return beside_published.table(artifact, evidence, rows, data, notes)


# Shared with the figure of features


def measured_features(artifact: Artifact, evidence: Evidence) -> list[tuple[RunRecord, Features]]:
    """Each run with its features; a `UserError` where one has no row, or two."""
    measured = {(row.model, row.seed): row for row in evidence.features}
    if len(measured) < len(evidence.features):
        raise artifact.wrong_input("features", "it has two rows for one run")
    for run in evidence.runs:
        if (run.model, run.seed) not in measured:
            raise artifact.wrong_input("features", f"it has no row for {run.run.id}")
    return [(run, measured[run.model, run.seed]) for run in evidence.runs]


def features_notes(settings: FeatureSettings, measured: Sequence[tuple[RunRecord, Features]]) -> list[str]:
    """Layer and images of the features, their clusters, the weights and devices; then the runs without a silhouette."""
    scaled = "every number scaled to mean 0 and deviation 1" if settings.standardise else "not scaled"
    sizes = dict.fromkeys(f"{row.dimensions} ({run.label})" for run, row in measured if row.dimensions)
    images = {f"{row.images:,}" for _, row in measured if row.images}
    weights = sorted({row.weights for _, row in measured if row.weights})
    devices = sorted({row.measured_on for _, row in measured if row.measured_on})
    lost = [(run, row) for run, row in measured if row.status not in ("measured", "diverged", "failed")]
    texts = [f"{run.label} seed {run.seed} ({row.failure or WITHOUT[row.status]})" for run, row in lost]
    return [
        f"Features: {LAYERS[settings.layer]}; numbers per image: {', '.join(sizes) or 'none'}; {scaled}. Images: "
        f"{' or '.join(images) or 'none'} of the {settings.split} set, the first ones. Silhouette: k-means with k = "
        f"{settings.clusters}, best of {settings.initialisations} initialisations, seed {settings.seed}. Weights: "
        f"those of the {' or '.join(weights)} evaluation. Features computed on: {'; '.join(devices)}.",
        *([f"Without a silhouette: {'; '.join(texts)}."] if texts else []),
    ]
