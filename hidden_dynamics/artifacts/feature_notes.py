"""Shared by the table and the figure of image features: their measurement, and sentences on it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hidden_dynamics.artifacts.notes import divergence_notes

if TYPE_CHECKING:
    from hidden_dynamics.artifacts.sources import Sources
    from hidden_dynamics.measurements.features import FeatureSettings

LAYERS = {
    "pooled": "what the last linear map sees, means over all places",
    "state": "all entries of the maps before the head, h(1) of a neural ODE",
}
WITHOUT = {
    "diverged": "the training diverged",
    "solver failed": "the solver failed on these images",
    "not finite": "features are not finite",
    "collapsed": "fewer features differ than there are to be clusters",
}


def measured_features(sources: "Sources") -> list[dict[str, str]]:
    """The measured features of an artifact, a row for each run.

    Raises:
        UserError: they have not one row for each run, as those of a publication with fewer seeds.
    """
    artifact, rows = sources.artifact, sources.features
    found = [(row["model"], row["seed"]) for row in rows]
    for run in artifact.runs:
        if found.count((run.model, str(run.seed))) != 1:
            raise sources.wrong("features", f"it has not one row for {run.id}")
    return rows


def features_note(settings: "FeatureSettings", rows: Sequence[Mapping[str, str]]) -> str:
    """The layer and the images that the features are of."""
    scaled = "every number scaled to mean 0 and deviation 1" if settings.standardise else "not scaled"
    sizes = dict.fromkeys(f"{row['dimensions']} ({row['label']})" for row in rows if row["dimensions"])
    images = {f"{int(row['images']):,}" for row in rows if row["images"]}
    return (
        f"Features: {LAYERS[settings.layer]}; numbers per image: {', '.join(sizes) or 'none'}; {scaled}. Images: "
        f"{' or '.join(images) or 'none'} of the {settings.split} set, the first ones, at most {settings.images:,}, as "
        "evaluations see them."
    )


def clusters_note(settings: "FeatureSettings") -> str:
    """The clusters that the silhouette is of."""
    return (
        "Silhouette: the mean over these images, with Euclidean distances between features, of the clusters that "
        f"k-means finds (k = {settings.clusters}, best of {settings.initialisations} k-means++ initialisations, "
        f"seed {settings.seed}); classes play no part in it."
    )


def weights_note(rows: Sequence[Mapping[str, str]]) -> str:
    """The evaluation that the runs' weights are of, and the devices that computed their features."""
    kept, devices = (sorted({row[column] for row in rows} - {""}) for column in ("weights", "measured_on"))
    return f"Weights: those of the {' or '.join(kept)} evaluation. Features computed on: {'; '.join(devices)}."


def missing_notes(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """The runs without a silhouette, and the reasons."""
    found = [row for row in rows if row["status"] not in ("measured", "diverged")]
    texts = [f"{row['label']} seed {row['seed']} ({row['failure'] or WITHOUT[row['status']]})" for row in found]
    return [*divergence_notes(rows), *([f"Without a silhouette: {'; '.join(texts)}."] if texts else [])]
