"""What the networks of the Latent-ODE family have in common."""

from typing import Protocol

from torch import Tensor

from hidden_dynamics.models.forecaster import Forecaster
from hidden_dynamics.models.latent_family.objective import LABEL_WEIGHT, label_loss, negative_bound
from hidden_dynamics.models.latent_family.series_batch import Prediction, SeriesBatch


class LatentTask(Protocol):
    """The properties of a task that a network of the family needs.

    Attributes:
        features: D, of a row.
        labels: what is classified: "series", "rows" or None.
        classes: outputs of the classifier; 1 of series.
    """

    features: int
    labels: str | None
    classes: int


class LatentNetwork(Forecaster):
    """A network of the family; derived classes add `forward`, from a batch to its `Prediction`."""

    def loss(self, prediction: Prediction, batch: SeriesBatch) -> Tensor:
        """What is minimised, ().

        Where rows have labels, their cross-entropy alone; elsewhere the negative bound, and where series have labels,
        100 times their cross-entropy with it. What the prediction adds is added to each.
        """
        if batch.labels is None:
            return negative_bound(prediction, batch) + prediction.extra
        labelled = label_loss(prediction.labels, batch.labels)
        if not batch.labels.is_floating_point():
            return labelled + prediction.extra
        return negative_bound(prediction, batch) + LABEL_WEIGHT * labelled + prediction.extra
