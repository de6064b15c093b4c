"""Measure the image features of trained networks: how well they fall into clusters, and a map of them in the plane.

    python scripts/measure_features.py --artifact acenode_table5 --output results/demo/features/acenode_table5.csv

The runs are the artifact's, which must be there, as must the prepared data; which features, and how, say its `features`
in config/artifacts.yaml. Every network is built as its run.json says, whatever is configured now.

Writes one row per run (hidden_dynamics.measurements.features.COLUMNS); an empty cell means "none". `status` is "measured", or why
there is no silhouette: "diverged" (in training), "solver failed" (on these images), "not finite" or "collapsed" (fewer
features differ than there are to be clusters). `weights` are those of the "reported" evaluation, where the training
keeps them, or of the "last".

Writes <output without .csv>.npz, too: `labels` (m,) of the images that are mapped, and of each model's first seed
`<model>.embedding` (m, 2) and `<model>.clusters` (m,), k-means' numbers; none where nothing was measured.
"""

import _bootstrap  # noqa: F401  isort: skip

import argparse
import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from hidden_dynamics.measurements import clusters
from hidden_dynamics.system.arguments import positive
from hidden_dynamics.training.building import build
from hidden_dynamics.configuration import Configuration, known, load, parse_settings
from hidden_dynamics.data.prepared import Prepared
from hidden_dynamics.errors import SolverFailure, UserError, run_main
from hidden_dynamics.measurements.features import COLUMNS, measurement_of
from hidden_dynamics.system.files import atomic
from hidden_dynamics.results.trained import load_data, load_weights, read_record
from hidden_dynamics.results.seals import check_is_of, vouched
from hidden_dynamics.configuration.runs import Run, runs_of
from hidden_dynamics.training import devices


def main() -> None:
    arguments = parse_arguments()
    configuration = load(parse_settings(arguments.config))
    artifact = known(arguments.artifact, configuration.artifacts, "artifact", "--artifact")
    measurement_of(configuration, artifact)  # it shows features
    device = devices.choose(arguments.device or configuration.settings["device"])
    devices.set_arithmetic(arguments.threads or configuration.scale["threads"], configuration.settings["precision"])
    path = arguments.output.with_suffix(".npz")
    with devices.turn(device, configuration.settings["runs_per_gpu"], Path(".snakemake/gpu-places")) as device:
        rows, arrays = measure(configuration, artifact, device)
    with atomic(path, "wb") as handle:
        np.savez(handle, **arrays)
    with vouched(arguments.output) as handle:
        writer = csv.DictWriter(handle, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows({**row, "embeddings": str(path)} for row in rows)


def measure(
    configuration: Configuration, artifact: str, device: torch.device
) -> tuple[list[dict[str, Any]], dict[str, NDArray]]:
    """A row for each run of the artifact, and the maps of each model's first seed."""
    settings = configuration.artifacts[artifact]["features"]
    rows: list[dict[str, Any]] = []
    arrays: dict[str, NDArray] = {}
    seen: set[str] = set()
    for configured in runs_of(configuration, artifact):
        run, record = read_record(Path(configured.directory))
        check_is_of(configured, record, Path(run.directory, "run.json"))
        measured, maps = measure_run(configuration, run, record, settings, device, mapped=run.model not in seen)
        seen.add(run.model)
        rows.append({**describe(configuration, run, record, settings, device), **measured})
        arrays |= maps
        silhouette = measured.get("silhouette")
        print(run.id, measured["status"], "" if silhouette is None else f"silhouette {silhouette:.4f}", flush=True)
    return rows, arrays


def measure_run(
    configuration: Configuration,
    run: Run,
    record: Mapping[str, Any],
    settings: Mapping[str, Any],
    device: torch.device,
    mapped: bool,
) -> tuple[dict[str, Any], dict[str, NDArray]]:
    """What is measured of a run, by column, and where it is to be `mapped`, the arrays of its map."""
    if record["diverged_at"] is not None:
        failure = json.dumps(record["failure"]) if record["failure"] else None
        return {"status": "diverged", "diverged_at": record["diverged_at"], "failure": failure}, {}
    task, network = trained(run, load_data(configuration, run, record), device)
    kept = record["reported"] is not None and hasattr(task, "evaluate_test")
    about = {"weights": "reported" if kept else "last"}
    try:
        features, labels = clusters.features_of(network, task, settings)
    except SolverFailure as failure:
        return {**about, "status": "solver failed", "failure": str(failure)}, {}
    images, dimensions = features.shape
    clusters.check(settings, images)
    about |= {"images": images, "dimensions": dimensions}
    if not np.isfinite(features).all():
        return {**about, "status": "not finite"}, {}
    found = clusters.cluster(features, settings)
    about |= {"silhouette": found.silhouette, "status": "collapsed" if found.silhouette is None else "measured"}
    if not mapped or found.silhouette is None:
        return about, {}
    most = settings["embedded"]
    embedding = clusters.embed(features[:most], settings)
    if embedding is None:
        return about, {}
    names = {"embedding": embedding, "clusters": found.assigned[:most]}
    return about, {"labels": labels[:most], **{f"{run.model}.{name}": array for name, array in names.items()}}


def trained(run: Run, data: Prepared, device: torch.device) -> tuple[Any, torch.nn.Module]:
    """The task of a run, and its network with the weights that it left."""
    task, network = build(run, data.arrays, device)
    load_weights(network, Path(run.directory))
    return task, network


def describe(
    configuration: Configuration,
    run: Run,
    record: Mapping[str, Any],
    settings: Mapping[str, Any],
    device: torch.device,
) -> dict[str, Any]:
    try:
        return {
            "scale": record["scale"],
            "task": run.task,
            "task_title": configuration.tasks[run.task]["title"],
            "model": run.model,
            "label": record["label"],
            "size": run.spec["hyperparameters"].get("hidden_size"),
            "paper_size": run.paper_size,
            "seed": run.seed,
            "settings": json.dumps(settings, sort_keys=True),
            "dataset": record["dataset"]["name"],
            "dataset_title": record["dataset"]["title"],
            "stand_in_for": record["dataset"]["stand_in_for"],
            "data": json.dumps(run.spec["data"]),
            "readings": json.dumps(run.spec["readings"], sort_keys=True),
            "device": record["device"],
            "precision": run.spec["precision"],
            "measured_on": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
            "directory": run.directory,
            "fingerprint": record["fingerprint"],
        }
    except KeyError as error:
        raise UserError(f"{run.directory}/run.json lacks {error}: remove it and train the run again.") from None


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifact", required=True, help="a table or figure of features, such as acenode_table5")
    parser.add_argument("--config", help="settings as JSON, merged over config.yaml")
    parser.add_argument("--output", required=True, type=Path, help="CSV to write, one row per run")
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], help="default: as in config.yaml")
    parser.add_argument("--threads", type=positive, help="CPU threads of the networks; default: the scale's")
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
