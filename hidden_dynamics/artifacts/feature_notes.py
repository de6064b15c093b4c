"""Shared by the table and the figure of image features: their measurement, and sentences on it."""

import json
import math
from collections.abc import Mapping, Sequence

from hidden_dynamics.artifacts.kinds.silhouette_table import FeatureSettings
from hidden_dynamics.artifacts.notes import divergence_notes
from hidden_dynamics.artifacts.sources import Sources

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


def measured_features(sources: Sources) -> list[dict[str, str]]:
    """The measured features of an artifact, a row for each run.

    Raises:
        UserError: they are of another scale, task, size or settings, have not one row for each run, or a row whose
            status does not fit its silhouette.
    """
    artifact, rows = sources.artifact, sources.features
    settings, size = artifact.settings, artifact.settings.size
    sources.check(
        "features",
        scale=[artifact.configuration.scale_name],
        task=[settings.task],
        paper_size=["" if size is None else str(size)],
        settings=[json.dumps(settings.features.given(), sort_keys=True)],
        status=["measured", *WITHOUT],
    )
    found = [(row["model"], row["seed"]) for row in rows]
    for run in artifact.runs:
        if found.count((run.model, str(run.seed))) != 1:
            raise sources.wrong("features", f"it has not one row for {run.id}")
    for row in rows:
        if (row["status"] == "measured") != _is_number(row["silhouette"]):
            text = f"{row['model']}, seed {row['seed']}, is {row['status']} with the silhouette '{row['silhouette']}'"
            raise sources.wrong("features", text)
    return rows


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def features_note(settings: FeatureSettings, rows: Sequence[Mapping[str, str]]) -> str:
    """The layer and the images that the features are of."""
    extracted = [row for row in rows if row["dimensions"]]
    if not extracted:
        return f"Features: {LAYERS[settings.layer]}."
    images = {row["images"] for row in extracted}
    dimensions: dict[str, list[str]] = {}
    for row in extracted:
        dimensions.setdefault(row["dimensions"], []).append(row["label"])
    each = [f"{number} ({', '.join(dict.fromkeys(labels))})" for number, labels in dimensions.items()]
    numbers = ", ".join(each if len(each) > 1 else dimensions)
    scaled = "every number scaled to mean 0 and deviation 1" if settings.standardise else "not scaled"
    return (
        f"Features: {LAYERS[settings.layer]}; numbers per image: {numbers}; {scaled}. Images: {int(images.pop()):,} "
        f"of the {settings.split} set, the first ones, at most {settings.images:,}, as evaluations see them."
    )


def clusters_note(settings: FeatureSettings) -> str:
    """The clusters that the silhouette is of."""
    return (
        "Silhouette: the mean over these images, with Euclidean distances between features, of the clusters that "
        f"k-means finds (k = {settings.clusters}, best of {settings.initialisations} k-means++ initialisations, "
        f"seed {settings.seed}); classes play no part in it."
    )


def weights_note(rows: Sequence[Mapping[str, str]]) -> str:
    """The evaluation that the runs' weights are of, and the devices that computed their features."""
    of = {"reported": "the reported evaluation", "last": "the last evaluation"}
    kept = [of[weights] for weights in of if weights in {row["weights"] for row in rows}]
    devices = "; ".join(sorted({row["measured_on"] for row in rows}))
    return f"Weights: those of {' or '.join(kept) or 'no run'}. Features computed on: {devices}."


def missing_notes(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """The runs without a silhouette, and the reasons."""
    lines = []
    for status, reason in WITHOUT.items():
        runs = [row for row in rows if row["status"] == status]
        if runs and status != "diverged":
            names = ", ".join(f"{row['label']} seed {row['seed']}{_solver(row)}" for row in runs)
            lines.append(f"Without a silhouette, because {reason}: {names}.")
    return [*divergence_notes(rows), *lines]


def _solver(row: Mapping[str, str]) -> str:
    return f" ({row['failure']})" if row["failure"] else ""
