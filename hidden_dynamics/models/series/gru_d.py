"""GRU-D (Che et al. 2018): inputs and the hidden state decay while a feature is not observed."""

import math

import torch
from torch import Tensor, nn

from hidden_dynamics.models.forecaster import SeriesTask
from hidden_dynamics.models.series.padding import Padded, Places
from hidden_dynamics.models.series.row_by_row import RowByRow


class GRUD(RowByRow):
    """With delta, the time since each feature was last observed, and x', its value then:

        gamma_x = exp(-ReLU(w delta + b)),           x^ = m x + (1 - m) gamma_x x';
        gamma_h = exp(-ReLU(W delta + b)),           h^ = gamma_h h_{k-1};
        r, z = sigmoid(W [x^; m] + U h^ + b),        u = tanh(W [x^; m] + U (r h^) + b);
        h_k = (1 - z) h^ + z u.

    The mean that inputs decay to is 0: values are standardised. Ours: delta is in units of the data, and counts from 0
    before the first observation, where x' is the mean; a prediction is read from the h^ of its time.

    Args:
        task, hidden_size, dropout: as for `RowByRow`.

    Parameters: `input_decay`, w over b, (2, D), drawn as those of a linear map of D entries; `hidden_decay`, W and b of
    gamma_h; `inputs`, W and b of r, z and u; `gates`, U of r and z; `candidate`, U of u.
    """

    def __init__(self, task: SeriesTask, hidden_size: int, dropout: float = 0.2):
        super().__init__(task, hidden_size, hidden_size, dropout)
        bound = 1 / math.sqrt(task.features)
        self.input_decay = nn.Parameter(torch.empty(2, task.features).uniform_(-bound, bound))
        self.hidden_decay = nn.Linear(task.features, hidden_size)
        self.inputs = nn.Linear(2 * task.features, 3 * hidden_size)
        self.gates = nn.Linear(hidden_size, 2 * hidden_size, bias=False)
        self.candidate = nn.Linear(hidden_size, hidden_size, bias=False)

    def states(self, batch: Padded) -> Tensor:
        since, size = batch.since(), self.candidate.in_features
        weight, bias = self.input_decay
        decayed = torch.exp(-torch.relu(weight * since + bias)) * batch.last_values()
        x = torch.where(batch.mask > 0, batch.values, decayed)
        of_gates, of_candidate = self.inputs(torch.cat([x, batch.mask], 2)).split([2 * size, size], 2)
        states = [x.new_zeros(len(x), size)]
        of_rows = (each.unbind(1) for each in (self.decay(since), of_gates, of_candidate))
        for decay, gates, candidate in zip(*of_rows, strict=True):
            h = decay * states[-1]
            r, z = torch.sigmoid(gates + self.gates(h)).chunk(2, 1)
            states.append(torch.lerp(h, torch.tanh(candidate + self.candidate(r * h)), z))
        return torch.stack(states, 1)

    def decay(self, since: Tensor) -> Tensor:
        """gamma_h, (..., N), of delta, (..., D)."""
        return torch.exp(-torch.relu(self.hidden_decay(since)))

    def seen(self, state: Tensor, places: Places) -> Tensor:
        return self.decay(places.since) * state
