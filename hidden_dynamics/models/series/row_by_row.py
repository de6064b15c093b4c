"""Recurrent networks that are told each row, and predict the next from their state and the time passed."""

import numpy as np
import torch
from torch import Tensor

from hidden_dynamics.models.forecaster import Forecaster, SeriesTask
from hidden_dynamics.models.gru_ode_bayes.parts import negative_log_likelihood
from hidden_dynamics.models.observations import Observations
from hidden_dynamics.models.series.padding import Padded, Places, padded
from hidden_dynamics.models.series.readout import Readout


class RowByRow(Forecaster):
    """A state that changes at rows; derived classes say how, and what the readout sees of it some time later.

    Args:
        task: gives the features D of a row.
        hidden_size: of all hidden layers.
        seen: entries of what the readout sees.
        dropout: share of the readout's hidden units that are dropped when training.
    """

    def __init__(self, task: SeriesTask, hidden_size: int, seen: int, dropout: float):
        super().__init__(task)
        self.readout = Readout(seen, hidden_size, task.features, dropout)

    def states(self, batch: Padded) -> Tensor:
        """The state after the first 0 to S rows: (batch, S + 1, ...)."""
        raise NotImplementedError

    def seen(self, state: Tensor, places: Places) -> Tensor:
        """What the readout sees at these places, (N, seen), of the state (N, ...) that the last rows left."""
        raise NotImplementedError

    def forward(self, observations: Observations) -> Tensor:
        """What is predicted of each row given those before it: (R, 2 D), mean and logvar."""
        batch = padded(self.accepted(observations))
        return self._read(batch, batch.own, drop=self.training)

    def loss(self, filtered: Tensor, observations: Observations) -> Tensor:
        """-log p of each row given those before it, in nats per series."""
        return negative_log_likelihood(filtered, observations.values, observations.mask) / observations.size

    def predict(self, observations: Observations, series: Tensor, times: np.ndarray) -> Tensor:
        """p of these series, (N,) int64, at these times, (N,), given the rows before: (N, 2 D), mean and logvar.

        Nothing is dropped, whether training or not.
        """
        batch = padded(self.accepted(observations, times))
        return self._read(batch, batch.at(series, torch.from_numpy(times).to(series.device, torch.float64)), drop=False)

    def _read(self, batch: Padded, places: Places, drop: bool) -> Tensor:
        return self.readout(self.seen(self.states(batch)[places.series, places.rows], places), drop)
