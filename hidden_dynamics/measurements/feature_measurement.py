"""Features of images in trained networks: the quality of their clusters, and a map of them in the plane.

ACE-NODE (Section 4.1) clusters "hidden representations" by k-means, gives the silhouette score of the clusters, and
shows a t-SNE of "feature maps"; it names no layer, no images and no settings. They are settings here, the `features` of
an artifact in config/artifacts.yaml. Clusters and maps are the same on any number of cores.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import TSNE
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits
from torch import nn

from hidden_dynamics.configuration import Configuration, known
from hidden_dynamics.configuration.runs import WEIGHTS, Run
from hidden_dynamics.data import prepared
from hidden_dynamics.errors import SolverFailure, UserError
from hidden_dynamics.models.image_networks import output_of
from hidden_dynamics.results.archives import KEPT
from hidden_dynamics.results.measured import FeatureSettings
from hidden_dynamics.results.run_files import RECORD, RunFiles, check_is_of, verified
from hidden_dynamics.tasks.images import ImageClassification
from hidden_dynamics.tasks.task import AnyTask, as_validated
from hidden_dynamics.training import devices
from hidden_dynamics.training.building import build

LAYERS = {"pooled": "features", "state": "state"}  # of an `ImageOutput`


def measure(
    configuration: Configuration, runs: Sequence[Run], settings: FeatureSettings, device: torch.device
) -> Iterator[tuple[dict[str, Any], dict[str, NDArray]]]:
    """The row and the maps of each run in its turn; the first of each model is mapped.

    Yields:
        The row, by column (hidden_dynamics.results.measured.Features) all but `settings`; the maps: `labels` (m,) of
        the images that are mapped, `<model>.embedding` (m, 2) and `<model>.clusters` (m,), k-means' numbers, or none
        where there is no silhouette.

    Raises:
        UserError: a run has not finished, is damaged or of another specification than configured.
        ValueError: of scikit-learn: there are too few images for the clusters or the perplexity.
    """
    first = {run.model: run.id for run in reversed(runs)}
    for run in runs:
        files = RunFiles(Path(run.directory), run.epochs)
        files.check_weights()
        record = files.record()
        check_is_of(run, record, files.directory / RECORD)
        row = {"task": run.task, "model": run.model, "paper_size": run.paper_size, "seed": run.seed}
        row["measured_on"] = devices.name_of(device)
        measured, maps = _measure_run(configuration, run, record, settings, device, run.id == first[run.model])
        yield row | measured, maps


def _measure_run(
    configuration: Configuration,
    run: Run,
    record: Mapping[str, Any],
    settings: FeatureSettings,
    device: torch.device,
    mapped: bool,
) -> tuple[dict[str, Any], dict[str, NDArray]]:
    """The run's row and, where it is to be mapped and its features fall into clusters, its maps."""
    if record["status"] != "finished":
        return {"status": record["status"]}, {}
    task, network = build(run, load_data(configuration, run, record).arrays, device)
    load_weights(network, Path(run.directory))
    kept = record["reported"] is not None and as_validated(task) is not None
    columns = {"weights": "reported" if kept else "last"}
    try:
        features, labels = features_of(network, task, settings)
    except SolverFailure as failure:
        return {**columns, "status": "solver failed", "failure": str(failure)}, {}
    columns |= {"images": features.shape[0], "dimensions": features.shape[1]}
    if not np.isfinite(features).all():
        return {**columns, "status": "not finite"}, {}
    assigned, silhouette = cluster(features, settings)
    if silhouette is None:
        return {**columns, "status": "collapsed"}, {}
    maps, most = {}, settings.embedded
    if mapped and (embedding := embed(features[:most], settings)) is not None:
        maps = {"labels": labels, f"{run.model}.clusters": assigned}
        maps = {name: array[:most] for name, array in maps.items()} | {f"{run.model}.embedding": embedding}
    return {**columns, "silhouette": silhouette, "status": "measured"}, maps


def load_data(configuration: Configuration, run: Run, record: Mapping[str, Any]) -> prepared.Prepared:
    """The prepared data that a run was trained on, where the configuration has them; a `UserError` where they are
    missing, or are not what the run was trained on."""
    path = configuration.paths.prepared(run.spec["dataset"], run.spec["data"])
    data = prepared.load(path)
    trained_on = record["dataset"]["digest"]
    if data.digest != trained_on:
        text = f"{path} (digest {data.digest}) is not what {run.id} was trained on ({trained_on}): train it again."
        raise UserError(text, file=path)
    return data


def load_weights(network: nn.Module, directory: Path) -> None:
    """Put the weights of the run in `directory` into its network, wherever that is; a `UserError` where they are
    missing or were altered."""
    path = directory / WEIGHTS
    if not path.is_file():
        again = directory if (directory / KEPT).is_dir() else directory / RECORD  # a restored run has no checkpoint
        raise UserError(f"{path} is missing: remove {again}, and run snakemake again, which makes it.", file=path)
    verified(path)
    network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))


@torch.no_grad()
def features_of(network: nn.Module, task: AnyTask, settings: FeatureSettings) -> tuple[NDArray, NDArray]:
    """A network's features of the first images of a split, (n, d) float64, as the task's evaluations see them, and the
    images' classes, (n,); a `UserError` where the task has no such images, a `SolverFailure` where the solver fails."""
    if not isinstance(task, ImageClassification):
        raise UserError(f"features are those of images, and {type(task).__name__} is no task of images.")
    origin = "features.split in config/artifacts.yaml, as the task's variants have it"
    split, layer = known(settings.split, task.images, "split", origin), LAYERS[settings.layer]
    network.eval()
    parts, classes, left = [], [], settings.images
    for images, labels in task.evaluation_batches(split):
        parts.append(getattr(output_of(network, images[:left]), layer).flatten(1).double().cpu())
        classes.append(labels[:left].cpu())
        left -= len(parts[-1])
        if left <= 0:
            break
    features = torch.cat(parts).numpy()
    if settings.standardise and np.isfinite(features).all():
        features = StandardScaler().fit_transform(features)
    return features, torch.cat(classes).numpy()


def cluster(features: NDArray, settings: FeatureSettings) -> tuple[NDArray, float | None]:
    """Each image's cluster, (n,), by k-means, the best of several k-means++ initialisations; the mean silhouette
    (Rousseeuw 1987), None where fewer features (n, d) differ than there are to be clusters.

    An image's silhouette is (b - a) / max(a, b), where a is its mean Euclidean distance to the others of its cluster
    and b that to the images of the nearest other cluster.
    """
    given: dict[str, Any] = {"n_init": settings.initialisations, "random_state": settings.seed}
    means = KMeans(settings.clusters, **given)
    # In one thread, because otherwise the order of its sums is that in which threads happen to end.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of clusters that are missing: the result says it
        assigned = means.fit_predict(features)
        complete = len(np.unique(assigned)) == settings.clusters
        return assigned, float(silhouette_score(features, assigned)) if complete else None


def embed(features: NDArray, settings: FeatureSettings) -> NDArray | None:
    """A map of the features (n, d) by t-SNE (van der Maaten and Hinton 2008), (n, 2) float32; None where all are the
    same."""
    centred = features - features.mean(0)
    spread = np.sqrt(np.mean(centred**2))
    if not spread > 0:
        return None
    given = {"perplexity": settings.perplexity, "max_iter": settings.iterations, "random_state": settings.seed}
    mapped = TSNE(init="pca", learning_rate="auto", **given)
    with threadpool_limits(1):
        # t-SNE does not depend on the unit. scikit-learn does: where float32 cannot hold the features' squares, it
        # divides by zero and crashes (1.9.1).
        return mapped.fit_transform(centred / spread)
