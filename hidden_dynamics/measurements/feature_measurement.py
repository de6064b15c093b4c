"""The image features of trained networks: a measurement of every run, and a map of each model's first seed.

A run.json of another specification than is configured is refused; `hidden_dynamics.measurements.clusters` says what is
taken from a network.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Run
from hidden_dynamics.errors import SolverFailure
from hidden_dynamics.measurements import clusters
from hidden_dynamics.measurements.features import FeatureSettings
from hidden_dynamics.results.run_files import RECORD, RunFiles, check_is_of
from hidden_dynamics.results.trained import load_data, load_weights
from hidden_dynamics.training import devices
from hidden_dynamics.training.building import build


class Measured(NamedTuple):
    """The measurement of one run.

    Attributes:
        row: by column (hidden_dynamics.measurements.features.COLUMNS), all but `settings` and `embeddings`. `status`
            is "measured", or why there is no silhouette: "diverged" (in training), "solver failed" (on these images),
            "not finite" or "collapsed" (fewer features differ than there are to be clusters). `weights` are those of
            the "reported" evaluation, where the training keeps them, or of the "last".
        maps: `labels` (m,) of the images that are mapped, `<model>.embedding` (m, 2) and `<model>.clusters` (m,),
            k-means' numbers; none of a run that is not to be mapped, or that has no silhouette.
    """

    row: dict[str, Any]
    maps: dict[str, NDArray]


def measure(
    configuration: Configuration, runs: Sequence[Run], settings: FeatureSettings, device: torch.device
) -> Iterator[Measured]:
    """Each run in its turn; the first of each model is mapped, too.

    Raises:
        UserError: a run has not finished, is damaged or of another specification than configured, or the settings do
            not fit its images.
    """
    first = {run.model: run.id for run in reversed(runs)}
    for run in runs:
        record = RunFiles(Path(run.directory)).record()
        check_is_of(run, record, Path(run.directory, RECORD))
        about = describe(configuration, run, record) | {"measured_on": devices.name_of(device)}
        found, *of_images = _measure_run(configuration, run, record, settings, device)
        mapped = of_images and run.id == first[run.model]
        yield Measured(about | found, _mapped(run, *of_images, settings) if mapped else {})


def _measure_run(
    configuration: Configuration, run: Run, record: Mapping[str, Any], settings: FeatureSettings, device: torch.device
) -> tuple[Any, ...]:
    """The run's row and, where its features fall into clusters, the features, the images' labels and clusters."""
    if record["diverged_at"] is not None:
        failure = json.dumps(record["failure"]) if record["failure"] else None
        return ({"status": "diverged", "diverged_at": record["diverged_at"], "failure": failure},)
    task, network = build(run, load_data(configuration, run, record).arrays, device)
    load_weights(network, Path(run.directory))
    kept = record["reported"] is not None and hasattr(task, "evaluate_test")
    about = {"weights": "reported" if kept else "last"}
    try:
        features, labels = clusters.features_of(network, task, settings)
    except SolverFailure as failure:
        return ({**about, "status": "solver failed", "failure": str(failure)},)
    images, dimensions = features.shape
    clusters.check(settings, images)
    about |= {"images": images, "dimensions": dimensions}
    if not np.isfinite(features).all():
        return ({**about, "status": "not finite"},)
    found = clusters.cluster(features, settings)
    if found.silhouette is None:
        return ({**about, "status": "collapsed"},)
    return {**about, "silhouette": found.silhouette, "status": "measured"}, features, labels, found.assigned


def _mapped(
    run: Run, features: NDArray, labels: NDArray, assigned: NDArray, settings: FeatureSettings
) -> dict[str, NDArray]:
    most = settings.embedded
    embedding = clusters.embed(features[:most], settings)
    if embedding is None:
        return {}
    return {"labels": labels[:most], f"{run.model}.embedding": embedding, f"{run.model}.clusters": assigned[:most]}


def describe(configuration: Configuration, run: Run, record: Mapping[str, Any]) -> dict[str, Any]:
    """A run's record, by column."""
    return {
        "scale": record["scale"],
        "task": run.task,
        "task_title": configuration.tasks[run.task].title,
        "model": run.model,
        "label": record["label"],
        "size": run.spec["hyperparameters"].get("hidden_size"),
        "paper_size": run.paper_size,
        "seed": run.seed,
        "dataset": record["dataset"]["name"],
        "dataset_title": record["dataset"]["title"],
        "stand_in_for": record["dataset"]["stand_in_for"],
        "data": json.dumps(run.spec["data"]),
        "readings": json.dumps(run.spec["readings"], sort_keys=True),
        "device": record["device"],
        "precision": run.spec["precision"],
        "directory": run.directory,
        "fingerprint": record["fingerprint"],
        "commit": record.get("commit"),
    }
