"""What the table and the figure of image features share: whether a measurement is theirs, and what they say of it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.errors import UserError
from hidden_dynamics.artifacts.notes import divergence_notes
from hidden_dynamics.configuration.runs import runs_of

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


def check_features(configuration: Configuration, artifact: str, rows: Sequence[Mapping[str, str]]) -> None:
    """Hold a measurement to what the artifact shows.

    Args:
        rows: what scripts/measure_features.py wrote, as text by column.

    Raises:
        UserError: it is of another scale, task, size or settings, or has not one row for each run.
    """
    entry = configuration.artifacts[artifact]
    expected = {
        "scale": configuration.scale_name,
        "task": entry["task"],
        "paper_size": str(entry.get("size", "")),
        "settings": json.dumps(entry["features"], sort_keys=True),
    }
    for column, value in expected.items():
        other = sorted({row[column] for row in rows} - {value})
        if other:
            raise UserError(f"the features' {column} is {', '.join(other)}, and {value or 'none'} was expected.")
    found = [(row["model"], row["seed"]) for row in rows]
    for run in runs_of(configuration, artifact):
        if found.count((run.model, str(run.seed))) != 1:
            raise UserError(f"the features have not one row for {run.id}: measure them again.")


def features_note(settings: Mapping[str, Any], rows: Sequence[Mapping[str, str]]) -> str:
    """Of which layer and which images the features are."""
    extracted = [row for row in rows if row["dimensions"]]
    if not extracted:
        return f"Features: {LAYERS[settings['layer']]}."
    images = {row["images"] for row in extracted}
    dimensions: dict[str, list[str]] = {}
    for row in extracted:
        dimensions.setdefault(row["dimensions"], []).append(row["label"])
    each = [f"{number} ({', '.join(dict.fromkeys(labels))})" for number, labels in dimensions.items()]
    numbers = ", ".join(each if len(each) > 1 else dimensions)
    scaled = "every number scaled to mean 0 and deviation 1" if settings["standardise"] else "not scaled"
    return (
        f"Features: {LAYERS[settings['layer']]}; numbers per image: {numbers}; {scaled}. Images: {int(images.pop()):,} "
        f"of the {settings['split']} set, the first ones, at most {settings['images']:,}, as evaluations see them."
    )


def clusters_note(settings: Mapping[str, Any]) -> str:
    """What the silhouette is that of."""
    return (
        "Silhouette: the mean over these images, with Euclidean distances between features, of the clusters that "
        f"k-means finds (k = {settings['clusters']}, best of {settings['initialisations']} k-means++ initialisations, "
        f"seed {settings['seed']}); classes play no part in it."
    )


def weights_note(rows: Sequence[Mapping[str, str]]) -> str:
    """At which of their evaluations the runs' weights are, and where their features were computed."""
    of = {"reported": "the reported evaluation", "last": "the last evaluation"}
    kept = [of[weights] for weights in of if weights in {row["weights"] for row in rows}]
    devices = "; ".join(sorted({row["measured_on"] for row in rows}))
    return f"Weights: those of {' or '.join(kept) or 'no run'}. Features computed on: {devices}."


def missing_notes(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Which runs have no silhouette, and why."""
    lines = []
    for status, reason in WITHOUT.items():
        runs = [row for row in rows if row["status"] == status]
        if runs and status != "diverged":
            names = ", ".join(f"{row['label']} seed {row['seed']}{_solver(row)}" for row in runs)
            lines.append(f"Without a silhouette, because {reason}: {names}.")
    return [*divergence_notes(rows), *lines]


def _solver(row: Mapping[str, str]) -> str:
    return f" ({row['failure']})" if row["failure"] else ""
