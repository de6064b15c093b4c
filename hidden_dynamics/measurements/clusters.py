"""Features of images in a trained network: the quality of their clusters, and a map of them in the plane.

ACE-NODE (Section 4.1) clusters "hidden representations" by k-means, gives the silhouette score of the clusters, and
shows a t-SNE of "feature maps"; it names no layer, no images and no settings. They are settings here, the `features` of
an artifact in config/artifacts.yaml. Clusters and maps are the same on any number of cores.
"""

import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import TSNE
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from hidden_dynamics.configuration import known
from hidden_dynamics.configuration.entries import mistake
from hidden_dynamics.errors import UserError
from hidden_dynamics.measurements.features import FeatureSettings
from hidden_dynamics.models.image_networks import output_of

LAYERS = {"pooled": "features", "state": "state"}  # of an `ImageOutput`


class Clusters(NamedTuple):
    """`assigned` (n,) tells each image's cluster, `silhouette` is their mean silhouette; None where there are fewer
    clusters than asked for, because fewer features differ."""

    assigned: NDArray
    silhouette: float | None


@torch.no_grad()
def features_of(network: nn.Module, task: Any, settings: FeatureSettings) -> tuple[NDArray, NDArray]:
    """A network's features of the first images of a split, (n, d) float64, and the images' classes, (n,).

    Args:
        network: it gives an `ImageOutput`. It is put into evaluation mode.
        task: its `evaluation_batches(split)` are the images as evaluations see them.

    Raises:
        SolverFailure: the network's solver could not reach the end.
        UserError: the task has no such images.
    """
    network.eval()
    layer = LAYERS[settings.layer]
    found, classes, left = [], [], settings.images
    for images, labels in _batches(task, settings.split):
        found.append(getattr(output_of(network, images[:left]), layer).flatten(1).double().cpu())
        classes.append(labels[:left].cpu())
        left -= len(found[-1])
        if left <= 0:
            break
    features = torch.cat(found).numpy()
    if settings.standardise and np.isfinite(features).all():
        features = StandardScaler().fit_transform(features)
    return features, torch.cat(classes).numpy()


def _batches(task: Any, split: str) -> Iterable[tuple[Tensor, Tensor]]:
    if not hasattr(task, "evaluation_batches"):
        raise UserError(f"features are those of images, and {type(task).__name__} is no task of images.")
    known(split, task.images, "split", "features.split in config/artifacts.yaml, as the task's variants have it")
    return task.evaluation_batches(split)


def check(settings: FeatureSettings, images: int) -> None:
    """Hold the settings to the number of images that there are.

    Raises:
        UserError: there are too many clusters, or the perplexity is too high.
    """
    embedded = min(images, settings.embedded)
    for key, allowed, text in (
        ("clusters", settings.clusters < images, f"{images} images make {images - 1} at most"),
        ("perplexity", settings.perplexity < embedded, f"for a map of {embedded} images it is below {embedded}"),
    ):
        if not allowed:
            place = f"config/artifacts.yaml: features.{key}"
            raise mistake(place, f"it is {getattr(settings, key)}: {text}.")


def cluster(features: NDArray, settings: FeatureSettings) -> Clusters:
    """k-means, the best of several k-means++ initialisations, and the mean silhouette over all images.

    An image's silhouette is (b - a) / max(a, b), where a is its mean Euclidean distance to the others of its cluster
    and b that to the images of the nearest other cluster (Rousseeuw 1987).

    Args:
        features: (n, d), finite.
    """
    means = KMeans(settings.clusters, n_init=settings.initialisations, random_state=settings.seed)
    # In one thread, because otherwise the order of its sums is that in which threads happen to end.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of clusters that are missing: the result says it
        assigned = means.fit_predict(features)
        complete = len(np.unique(assigned)) == settings.clusters
        return Clusters(assigned, float(silhouette_score(features, assigned)) if complete else None)


def embed(features: NDArray, settings: FeatureSettings) -> NDArray | None:
    """A map of the features by t-SNE (van der Maaten and Hinton 2008), (n, 2) float32; None where all are the same.

    Args:
        features: (n, d), finite.
    """
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
