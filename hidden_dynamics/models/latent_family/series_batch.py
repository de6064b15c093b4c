"""What a network of the Latent-ODE family sees and predicts of a batch of irregular series."""

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from hidden_dynamics.errors import ObservationError
from hidden_dynamics.models.observations import Observations


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
        divergence_weight: of the Kullback-Leibler divergence in the loss, from 0 to 1: its schedule depends on the
            epoch.

    Either may have no rows: the encoder's initial state says what is latent, and the likelihood of nothing is 1.

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
        """On another device, or with values of another type."""
        context = self.context.to(*target)
        targets = context if self.targets is self.context else self.targets.to(*target)
        labels = self.labels
        if labels is not None:
            labels = labels.to(context.values.device)
            labels = labels.to(context.values.dtype) if labels.is_floating_point() else labels
        return SeriesBatch(context, targets, labels, self.divergence_weight)

    def reconstructed(self) -> Observations:
        """The context, for a network that predicts no others.

        Raises:
            ValueError: others are targets.
        """
        if self.targets is not self.context:
            raise ValueError("this network predicts its context only")
        return self.context


class Prediction(NamedTuple):
    """
    Attributes:
        values: predicted means of the targets, (K, R, D), for each of K samples of what is latent (1 where nothing
            is).
        labels: logits: of each series, (K, N); of each target row, (K, R, classes); None where nothing is classified.
        divergence: of the posterior from the prior, averaged over latent dimensions and series, in nats, (); 0 where
            nothing is latent.
        extra: what the network adds to the loss, ().
    """

    values: Tensor
    labels: Tensor | None
    divergence: Tensor
    extra: Tensor

    @classmethod
    def certain(cls, values: Tensor, labels: Tensor | None) -> "Prediction":
        """Of a network in which nothing is latent: values (R, D), labels with the axis of the one sample."""
        nothing = values.new_zeros(())
        return cls(values[None], labels, nothing, nothing)
