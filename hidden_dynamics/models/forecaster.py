"""What networks of irregular series have in common, and what they ask of a task."""

from typing import Protocol

from torch import Tensor, nn


class SeriesTask(Protocol):
    """The properties of a task that a network of irregular series needs.

    Attributes:
        features: D, of a row.
        covariates: of a series.
        until: the time until which rows are given where the later ones are to be predicted.
        end: of the time.
    """

    features: int
    covariates: int
    until: float
    end: float


class Forecaster(nn.Module):
    """A network of irregular series; derived classes add `forward`, `loss` and `predict`."""

    def penalty(self, filtered: object, part: str | None = None) -> Tensor | float:
        """The term added to the loss when `part` is trained, or when all is (None): none."""
        return 0.0

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        """All parameters, in one group."""
        return {"main": list(self.parameters())}
