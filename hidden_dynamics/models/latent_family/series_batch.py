"""What a network of the Latent-ODE family is given and asked about a batch of irregular series, and what it answers."""

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from hidden_dynamics.errors import ObservationError
from hidden_dynamics.models.observations import Observations


@dataclass(frozen=True)
class SeriesBatch:
    """A batch of N series with D features.

    Attributes:
        given: what the network sees. Its times are in units of the batch's last time, given or asked: they lie in
            [0, 1].
        asked: the rows to be predicted, in the same units; `given` itself where what is seen is to be reconstructed.
            Where a row's mask is 0, nothing is known of the answer.
        labels: of each series, (N,), 0 or 1 of the values' type; or of each row of `asked`, (R,) int64, a class, or -1
            where it has none; None where nothing is classified.
        divergence_weight: of the Kullback-Leibler divergence in the loss, from 0 to 1: its schedule depends on the
            epoch.

    Either may have no rows: the encoder's initial state says what is latent, and the likelihood of nothing is 1.

    Raises:
        ObservationError: the two differ in their series or features.
    """

    given: Observations
    asked: Observations
    labels: Tensor | None = None
    divergence_weight: float = 1.0

    def __post_init__(self) -> None:
        given, asked = ((each.size, each.values.shape[1]) for each in (self.given, self.asked))
        if given != asked:
            raise ObservationError(f"(series, features) are {given} of what is given and {asked} of what is asked")

    def to(self, *target: object) -> "SeriesBatch":
        """On another device, or with values of another type."""
        given = self.given.to(*target)
        asked = given if self.asked is self.given else self.asked.to(*target)
        labels = self.labels
        if labels is not None:
            labels = labels.to(given.values.device)
            labels = labels.to(given.values.dtype) if labels.is_floating_point() else labels
        return SeriesBatch(given, asked, labels, self.divergence_weight)

    def reconstructed(self) -> Observations:
        """The rows given, for a network that predicts no others.

        Raises:
            ValueError: others are asked.
        """
        if self.asked is not self.given:
            raise ValueError("this network is only asked for what it is given")
        return self.given


class Answer(NamedTuple):
    """
    Attributes:
        values: predicted means of the rows asked, (K, R, D), for each of K samples of what is latent (1 where nothing
            is).
        labels: logits: of each series, (K, N); of each row asked, (K, R, classes); None where nothing is classified.
        divergence: of the posterior from the prior, averaged over latent dimensions and series, in nats, (); 0 where
            nothing is latent.
        extra: what the network adds to the loss of its answers, ().
    """

    values: Tensor
    labels: Tensor | None
    divergence: Tensor
    extra: Tensor

    @classmethod
    def certain(cls, values: Tensor, labels: Tensor | None) -> "Answer":
        """Of a network in which nothing is latent: values (R, D), labels with the axis of the one sample."""
        nothing = values.new_zeros(())
        return cls(values[None], labels, nothing, nothing)
