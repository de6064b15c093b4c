"""The image features of trained networks: a measurement of every run, and a map of each model's first seed.

A run.json of another specification than is configured is refused; `hidden_dynamics.measurements.clusters` says what is
taken from a network.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Run
from hidden_dynamics.errors import SolverFailure, UserError
from hidden_dynamics.measurements import clusters
from hidden_dynamics.results.run_files import RunFiles
from hidden_dynamics.results.seals import RECORD, check_is_of, remedy
from hidden_dynamics.results.trained import load_data, load_weights
from hidden_dynamics.training import devices
from hidden_dynamics.training.building import build


@dataclass(frozen=True)
class Measured:
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
    configuration: Configuration, runs: Sequence[Run], settings: clusters.Settings, device: torch.device
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
        measured = _measure_run(configuration, run, record, settings, device)
        mapped = _mapped(run, measured, settings) if run.id == first[run.model] else {}
        yield Measured(about | measured.about, mapped)


@dataclass(frozen=True)
class _Found:
    """The report on a run's features and, where they fall into clusters, the features."""

    about: dict[str, Any]
    features: NDArray | None = None
    labels: NDArray | None = None
    assigned: NDArray | None = None


def _measure_run(
    configuration: Configuration,
    run: Run,
    record: Mapping[str, Any],
    settings: clusters.Settings,
    device: torch.device,
) -> _Found:
    if record["diverged_at"] is not None:
        failure = json.dumps(record["failure"]) if record["failure"] else None
        return _Found({"status": "diverged", "diverged_at": record["diverged_at"], "failure": failure})
    task, network = build(run, load_data(configuration, run, record).arrays, device)
    load_weights(network, Path(run.directory))
    kept = record["reported"] is not None and hasattr(task, "evaluate_test")
    about = {"weights": "reported" if kept else "last"}
    try:
        features, labels = clusters.features_of(network, task, settings)
    except SolverFailure as failure:
        return _Found({**about, "status": "solver failed", "failure": str(failure)})
    images, dimensions = features.shape
    clusters.check(settings, images)
    about |= {"images": images, "dimensions": dimensions}
    if not np.isfinite(features).all():
        return _Found({**about, "status": "not finite"})
    found = clusters.cluster(features, settings)
    if found.silhouette is None:
        return _Found({**about, "status": "collapsed"})
    return _Found({**about, "silhouette": found.silhouette, "status": "measured"}, features, labels, found.assigned)


def _mapped(run: Run, found: _Found, settings: clusters.Settings) -> dict[str, NDArray]:
    if found.features is None:
        return {}
    most = settings.embedded
    embedding = clusters.embed(found.features[:most], settings)
    if embedding is None:
        return {}
    maps = {"embedding": embedding, "clusters": found.assigned[:most]}
    return {"labels": found.labels[:most], **{f"{run.model}.{name}": array for name, array in maps.items()}}


def describe(configuration: Configuration, run: Run, record: Mapping[str, Any]) -> dict[str, Any]:
    """A run's record, by column.

    Raises:
        UserError: the record lacks something.
    """
    try:
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
    except KeyError as error:
        path = Path(run.directory, RECORD)
        raise UserError(f"{path} lacks {error}: {remedy(path)}", file=path, key=str(error.args[0])) from None
