"""T-LSTM (Baytas et al. 2017): an LSTM that forgets a part of its memory by the time that has passed."""

import math

import torch
from torch import Tensor, nn

from hidden_dynamics.models.forecaster import SeriesTask
from hidden_dynamics.models.series.padding import Padded, Places
from hidden_dynamics.models.series.row_by_row import RowByRow


class TLSTM(RowByRow):
    """Before each row, the memory's short-term part is discounted by the time passed, g(t) = 1 / log(e + t):

        c_S = tanh(W_d c_{k-1} + b_d),                     c* = (c_{k-1} - c_S) + g(gap_k) c_S;
        i, f, o = sigmoid(W x_k + U h_{k-1} + b),          u = tanh(W x_k + U h_{k-1} + b);
        c_k = f c* + i u,                                  h_k = o tanh(c_k).

    Ours: x_k is the values, 0 where not observed, and the mask; time is in units of the data, and the first gap counts
    from 0; a prediction is read from o tanh(c*), c* of its time, which is h where no time has passed.

    Args:
        task, hidden_size, dropout: as for `RowByRow`.

    Parameters: `short`, W_d; `inputs`, `recurrent`: W and U of i, f, o and u.
    """

    def __init__(self, task: SeriesTask, hidden_size: int, dropout: float = 0.2):
        super().__init__(task, hidden_size, hidden_size, dropout)
        self.short = nn.Linear(hidden_size, hidden_size)
        self.inputs = nn.Linear(2 * task.features, 4 * hidden_size)
        self.recurrent = nn.Linear(hidden_size, 4 * hidden_size, bias=False)

    def adjusted(self, memory: Tensor, elapsed: Tensor) -> Tensor:
        """c*, (N, size), of c and the time passed, (N,)."""
        lost = 1 - 1 / torch.log(math.e + elapsed)
        return memory - lost.unsqueeze(1) * torch.tanh(self.short(memory))

    def states(self, batch: Padded) -> Tensor:
        """c and o side by side."""
        inputs, size = self.inputs(torch.cat([batch.values, batch.mask], 2)), self.short.in_features
        memory = h = inputs.new_zeros(len(inputs), size)
        states = [inputs.new_zeros(len(inputs), 2 * size)]
        for x, gap in zip(inputs.unbind(1), batch.gaps().unbind(1), strict=True):
            gates, candidate = (x + self.recurrent(h)).split([3 * size, size], 1)
            i, f, o = torch.sigmoid(gates).chunk(3, 1)
            memory = f * self.adjusted(memory, gap) + i * torch.tanh(candidate)
            h = o * torch.tanh(memory)
            states.append(torch.cat([memory, o], 1))
        return torch.stack(states, 1)

    def seen(self, state: Tensor, places: Places) -> Tensor:
        memory, gate = state.chunk(2, 1)
        return gate * torch.tanh(self.adjusted(memory, places.elapsed))
