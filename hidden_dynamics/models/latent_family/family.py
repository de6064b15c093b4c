"""What the networks of the Latent-ODE family have in common."""

from typing import Protocol

from torch import Tensor

from hidden_dynamics.models.forecaster import Forecaster
from hidden_dynamics.models.latent_family.objective import LABEL_WEIGHT, label_loss, negative_bound
from hidden_dynamics.models.latent_family.series_batch import Answer, SeriesBatch


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
    """A network of the family; derived classes add `forward`, from a batch to its `Answer`."""

    def loss(self, answer: Answer, batch: SeriesBatch) -> Tensor:
        """What is minimised, ().

        Where rows have labels, their cross-entropy alone; elsewhere the negative bound, and where series have labels,
        100 times their cross-entropy with it. What the answer adds is added to each.
        """
        if batch.labels is None:
            return negative_bound(answer, batch) + answer.extra
        labelled = label_loss(answer.labels, batch.labels)
        if not batch.labels.is_floating_point():
            return labelled + answer.extra
        return negative_bound(answer, batch) + LABEL_WEIGHT * labelled + answer.extra
