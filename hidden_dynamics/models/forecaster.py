"""The base of networks of irregular series, and what they ask of a task."""

from typing import Protocol

import numpy as np
from torch import Tensor, nn

from hidden_dynamics.errors import ObservationError
from hidden_dynamics.models.observations import Observations


class TaskOfRows(Protocol):
    """A task whose series have rows of D `features`."""

    features: int


class SeriesTask(TaskOfRows, Protocol):
    """The properties of a task that a network of irregular series needs; until `until` rows are context, where the
    later ones are to be predicted."""

    covariates: int
    until: float
    end: float


class Forecaster(nn.Module):
    """A network of series of D features, the task's; derived classes add `forward`, `loss` and `predict`."""

    def __init__(self, task: TaskOfRows):
        super().__init__()
        self.features = task.features

    def accepted(self, observations: Observations, times: np.ndarray | None = None) -> Observations:
        """The observations; an ObservationError if they are not of D features, or one of `times`, (N,), is no time."""
        if observations.values.shape[1] != self.features:
            raise ObservationError(f"the network has {self.features} features, not {observations.values.shape[1]}")
        if times is not None and not (np.isfinite(times) & (times >= 0)).all():
            raise ObservationError("the times to be predicted must be finite and 0 or more")
        return observations

    def penalty(self, output: object, part: str | None = None) -> Tensor | float:
        """The term added to the loss when `part` is trained, or when all is (None): none."""
        return 0.0
