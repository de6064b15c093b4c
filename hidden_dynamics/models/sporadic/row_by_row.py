"""Recurrent networks that are told each row, and predict the next from their state and the time passed: GRU-Simple,
GRU-D and T-LSTM."""

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from hidden_dynamics.models.choices import Share, number
from hidden_dynamics.models.forecaster import Forecaster, SeriesTask
from hidden_dynamics.models.gaussian import negative_log_likelihood
from hidden_dynamics.models.observations import Observations
from hidden_dynamics.models.series_major import Padded, Places, padded


class Readout(nn.Module):
    """p = V_2 drop(ReLU(V_1 x + b_1)) + b_2, the mean and logvar of a row, as in GRU-ODE-Bayes."""

    def __init__(self, inputs: int, hidden_size: int, features: int, dropout: float):
        super().__init__()
        self.dropout = number("dropout", dropout, 0, below=1)
        self.hidden, self.out = nn.Linear(inputs, hidden_size), nn.Linear(hidden_size, 2 * features)

    def forward(self, x: Tensor, drop: bool) -> Tensor:
        """p, (..., 2 D), of x, (..., inputs)."""
        return self.out(functional.dropout(torch.relu(self.hidden(x)), self.dropout, drop))


class RowByRow(Forecaster):
    """A state that changes at rows; derived classes say how, and what, of `seen` entries, the readout sees of it later.
    Training drops the share `dropout` of the readout's hidden units."""

    def __init__(self, task: SeriesTask, hidden_size: int, seen: int, dropout: float):
        super().__init__(task)
        self.readout = Readout(seen, hidden_size, task.features, dropout)

    def states(self, batch: Padded) -> Tensor:
        """The state after the first 0 to S rows: (batch, S + 1, ...)."""
        raise NotImplementedError

    def seen(self, state: Tensor, places: Places) -> Tensor:
        """The readout's input at these places, (N, seen), given the state (N, ...) that the last rows left."""
        raise NotImplementedError

    def forward(self, observations: Observations) -> Tensor:
        """The prediction of each row given those before it: (R, 2 D), mean and logvar."""
        batch = padded(self.accepted(observations))
        return self._read(batch, batch.own(), drop=self.training)

    def loss(self, filtered: Tensor, observations: Observations) -> Tensor:
        """-log p of each row given those before it, in nats per series."""
        return negative_log_likelihood(filtered, observations.values, observations.mask) / observations.size

    def predict(self, observations: Observations, series: Tensor, times: np.ndarray) -> Tensor:
        """p as of `GRUODEBayes.predict`, at the very times, given the rows before."""
        batch = padded(self.accepted(observations, times))
        return self._read(batch, batch.at(series, torch.as_tensor(times).to(series.device, torch.float64)), drop=False)

    def _read(self, batch: Padded, places: Places, drop: bool) -> Tensor:
        return self.readout(self.seen(self.states(batch)[places.series, places.rows], places), drop)


class GRUSimple(RowByRow):
    """h_k = GRU([x_k; m_k; delta_k], h_{k-1}): values, mask, and time since each feature was last observed (Che et al.
    2018).

    Ours: what is not observed is 0, the mean of standardised values; delta is in units of the data, and counts from 0
    before the first observation; a prediction is read from [h; t], t the time since the last row.
    """

    def __init__(self, task: SeriesTask, hidden_size: int, dropout: Share = 0.2):
        super().__init__(task, hidden_size, hidden_size + 1, dropout)
        self.gru = nn.GRU(3 * task.features, hidden_size, batch_first=True)

    def states(self, batch: Padded) -> Tensor:
        h, _ = self.gru(torch.cat([batch.values, batch.mask, batch.since()], 2))
        return torch.cat([torch.zeros_like(h[:, :1]), h], 1)

    def seen(self, state: Tensor, places: Places) -> Tensor:
        return torch.cat([state, places.elapsed.unsqueeze(1)], 1)


class GRUD(RowByRow):
    """GRU-D (Che et al. 2018). With delta, the time since each feature was last observed, and x', its value then:

        gamma_x = exp(-ReLU(w delta + b)),           x^ = m x + (1 - m) gamma_x x';
        gamma_h = exp(-ReLU(W delta + b)),           h^ = gamma_h h_{k-1};
        r, z = sigmoid(W [x^; m] + U h^ + b),        u = tanh(W [x^; m] + U (r h^) + b);
        h_k = (1 - z) h^ + z u.

    The mean that inputs decay to is 0: values are standardised. Ours: delta is in units of the data, and counts from 0
    before the first observation, where x' is the mean; a prediction is read from the h^ of its time.

    Parameters: `input_decay`, w over b, (2, D), drawn as those of a linear map of D entries; `hidden_decay`, W and b of
    gamma_h; `inputs`, W and b of r, z and u; `gates`, U of r and z; `candidate`, U of u.
    """

    def __init__(self, task: SeriesTask, hidden_size: int, dropout: Share = 0.2):
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


class TLSTM(RowByRow):
    """T-LSTM (Baytas et al. 2017). Before each row, the memory's short-term part is discounted by the time passed,
    g(t) = 1 / log(e + t):

        c_S = tanh(W_d c_{k-1} + b_d),                     c* = (c_{k-1} - c_S) + g(gap_k) c_S;
        i, f, o = sigmoid(W x_k + U h_{k-1} + b),          u = tanh(W x_k + U h_{k-1} + b);
        c_k = f c* + i u,                                  h_k = o tanh(c_k).

    Ours: x_k is the values, 0 where not observed, and the mask; time is in units of the data, and the first gap counts
    from 0; a prediction is read from o tanh(c*), c* of its time, which is h where no time has passed.

    Parameters: `short`, W_d; `inputs`, `recurrent`: W and U of i, f, o and u.
    """

    def __init__(self, task: SeriesTask, hidden_size: int, dropout: Share = 0.2):
        super().__init__(task, hidden_size, hidden_size, dropout)
        self.short = nn.Linear(hidden_size, hidden_size)
        self.inputs = nn.Linear(2 * task.features, 4 * hidden_size)
        self.recurrent = nn.Linear(hidden_size, 4 * hidden_size, bias=False)

    def adjusted(self, memory: Tensor, elapsed: Tensor) -> Tensor:
        """c*, (N, size), of c and the time passed, (N,)."""
        lost = 1 - 1 / torch.log(math.e + elapsed)
        return memory - lost.unsqueeze(1) * torch.tanh(self.short(memory))

    def states(self, batch: Padded) -> Tensor:
        """The memory c and the gate o, side by side."""
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
