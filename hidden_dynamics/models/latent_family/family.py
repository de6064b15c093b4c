"""The batches, answers and losses of the Latent-ODE family (Rubanova et al. 2019, Equation 5 and their released code).

Predictions are (K, R, D): K samples, R target rows, D features. The loss is an expression over the targets, with one
weight for each observed entry; nothing is padded.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from hidden_dynamics.errors import ObservationError
from hidden_dynamics.models.forecaster import Forecaster, TaskOfRows
from hidden_dynamics.models.layers import classifier
from hidden_dynamics.models.observations import Observations

NOISE = 0.01  # standard deviation of an observation, in units of the normalised data
LABEL_WEIGHT = 100.0  # of the cross-entropy of series beside the likelihood


@dataclass(frozen=True)
class SeriesBatch:
    """A batch of N series with D features.

    Attributes:
        context: what the network sees. Its times are in units of the batch's last time, the targets' included: they lie
            in [0, 1].
        targets: the rows to be predicted, in the same units; `context` itself where it is to be reconstructed.
            Where a row's mask is 0, nothing is known of the value.
        labels: of each series, (N,), 0 or 1 of the values' type; or of each target row, (R,) int64, a class, or -1
            where it has none; None where nothing is classified.
        divergence_weight: of the Kullback-Leibler divergence in the loss, from 0 to 1, as the epoch has it.

    Context or targets may have no rows: the encoder's initial state says what is latent, and the likelihood of nothing
    is 1.

    Raises:
        ObservationError: the two differ in their series or features.
    """

    context: Observations
    targets: Observations
    labels: Tensor | None = None
    divergence_weight: float = 1.0

    def __post_init__(self) -> None:
        context, targets = ((each.size, each.values.shape[1]) for each in (self.context, self.targets))
        if context != targets:
            raise ObservationError(f"(series, features) are {context} of the context and {targets} of the targets")

    def to(self, *target: object) -> "SeriesBatch":
        """The batch on another device, or with values of another type."""
        context = self.context.to(*target)
        targets = context if self.targets is self.context else self.targets.to(*target)
        labels = self.labels
        if labels is not None:
            labels = labels.to(context.values if labels.is_floating_point() else context.values.device)
        return SeriesBatch(context, targets, labels, self.divergence_weight)

    def reconstructed(self) -> Observations:
        """The context, for a network that predicts no others; a ValueError where others are targets."""
        if self.targets is not self.context:
            raise ValueError("this network predicts its context only")
        return self.context


class Prediction(NamedTuple):
    """The prediction of a batch.

    Attributes:
        values: means of the targets, (K, R, D), for each of K samples of what is latent (1 where nothing is).
        labels: logits: of each series, (K, N); of each target row, (K, R, classes); None where nothing is classified.
        divergence: of the posterior from the prior, averaged over latent dimensions and series, in nats, (); 0.0 where
            nothing is latent.
        extra: what the network adds to the loss, (), if anything.
    """

    values: Tensor
    labels: Tensor | None
    divergence: Tensor | float = 0.0
    extra: Tensor | float = 0.0


class LatentTask(TaskOfRows, Protocol):
    """The properties of a task that a network of the family needs.

    Attributes:
        labels: what is classified: "series", "rows" or None.
        classes: outputs of the classifier; 1 of series.
    """

    labels: str | None
    classes: int


class LatentNetwork(Forecaster):
    """A network of the family; derived classes add `forward`, from a batch to its `Prediction`."""

    def classifies(self, task: LatentTask, of_series: int, of_rows: int, rows: str = "linear") -> None:
        """Make the `classifier`, "mlp" of `of_series` entries for series, of the kind `rows` of `of_rows` for rows."""
        self.labels, self.classifier = task.labels, None
        if task.labels is not None:
            size, kind = (of_series, "mlp") if task.labels == "series" else (of_rows, rows)
            self.classifier = classifier(size, task.classes, kind)

    def logits(self, of_series: Tensor, of_rows: Tensor) -> Tensor | None:
        """The labels of a `Prediction`, given what they are read from, (K, ..., size)."""
        if self.classifier is None:
            return None
        return self.classifier(of_series).squeeze(-1) if self.labels == "series" else self.classifier(of_rows)

    def loss(self, prediction: Prediction, batch: SeriesBatch) -> Tensor:
        """The loss, (): where rows have labels, their cross-entropy; elsewhere the negative bound, with 100 times the
        cross-entropy of series where they have labels. What the prediction adds is added to each. A ValueError where
        the labels are not those of the network's task."""
        if batch.labels is None:
            return negative_bound(prediction, batch) + prediction.extra
        given = "series" if batch.labels.is_floating_point() else "rows"
        if prediction.labels is None or self.labels != given:
            needed = {"series": "(N,), 0 or 1 of the values' type", "rows": "(R,) int64"}.get(str(self.labels), "None")
            raise ValueError(f"the labels of a network of {self.labels or 'no'} labels must be {needed}")
        labelled = label_loss(prediction.labels, batch.labels)
        if not batch.labels.is_floating_point():
            return labelled + prediction.extra
        return negative_bound(prediction, batch) + LABEL_WEIGHT * labelled + prediction.extra


def negative_bound(prediction: Prediction, batch: SeriesBatch) -> Tensor:
    """-log sum_k exp(LL_k - weight * KL), in nats: the importance-weighted bound of the batch's mean, but for log K."""
    likelihoods = log_likelihood(prediction.values, batch.targets)
    return -torch.logsumexp(likelihoods - batch.divergence_weight * prediction.divergence, 0)


def log_likelihood(values: Tensor, targets: Observations) -> Tensor:
    """log N(x; mean, 0.01^2) of each sample, averaged with `entry_weights`, in nats: (K,)."""
    weights = entry_weights(targets)
    constant = (math.log(NOISE) + math.log(2 * math.pi) / 2) * weights.sum()
    return -squared_errors(values, targets, weights) / (2 * NOISE**2) - constant


def mean_squared_error(values: Tensor, targets: Observations) -> Tensor:
    """The released MSE, (): the mean over samples, series and features of the mean over a series' observed entries.

    Where a series has no entry of a feature, 0 is averaged: on PhysioNet a quarter of all pairs.
    """
    return squared_errors(values, targets, entry_weights(targets)).mean()


def squared_errors(values: Tensor, targets: Observations, weights: Tensor) -> Tensor:
    """The weighted sum of each sample's squared errors, (K,); weights (R, D)."""
    return ((values - targets.values).square() * weights).sum((1, 2))


def entry_weights(targets: Observations) -> Tensor:
    """The weight of each entry, (R, D): 1 / (n N D) of one of n observed entries of a feature in one of N series."""
    counts = observed_counts(targets)
    return targets.mask / (counts.clamp(min=1)[targets.series] * counts.numel())


def observed_counts(targets: Observations) -> Tensor:
    """The number of observed entries of each feature in each series: (N, D)."""
    counts = targets.mask.new_zeros(targets.size, targets.mask.shape[1])
    return counts.index_add_(0, targets.series, targets.mask)


def label_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """The cross-entropy of labels, in nats.

    Args:
        logits: (K, N) of series or (K, R, classes) of rows.
        labels: (N,), 0 or 1: the mean over samples and series, divided by K once more as released (the paper gives no
            formula). (R,) int64: the mean over samples and the rows whose label is not -1; 0 where there is none.
    """
    if labels.is_floating_point():
        return functional.binary_cross_entropy_with_logits(logits, labels.expand_as(logits)) / len(logits)
    rows = labels.repeat(len(logits))
    summed = functional.cross_entropy(logits.flatten(0, 1), rows, ignore_index=-1, reduction="sum")
    return summed / (rows >= 0).sum().clamp(min=1)
