"""Sequential VAE: the deep Kalman filter (Krishnan, Shalit and Sontag 2015), with the networks of their 2017 paper."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from hidden_dynamics.models.choices import Share
from hidden_dynamics.models.forecaster import SeriesTask
from hidden_dynamics.models.gaussian import divergence
from hidden_dynamics.models.observations import Observations
from hidden_dynamics.models.series_major import Padded, padded
from hidden_dynamics.models.sporadic.row_by_row import Readout
from hidden_dynamics.models.sporadic.variational import BackwardGRU, Gaussian, Inferred, Variational


def _std(spread: Tensor) -> Tensor:
    """sqrt(softplus(y)), kept off 0 where softplus underflows: there the root's gradient is NaN."""
    return functional.softplus(spread).clamp(min=torch.finfo(spread.dtype).tiny).sqrt()


class Transition(nn.Module):
    """z_k given z_{k-1} and the gap between their rows: the gated transition of 2017,

        g = sigmoid(MLP(z, gap)),  u = MLP(z, gap);  mean (1 - g)(W_m z + b_m) + g u,  variance softplus(W ReLU(u) + b).

    The MLPs have a hidden layer of ReLUs. W_m starts as the identity, b_m as 0. In the paper of 2015 a transition knows
    the gap; ours is how: beside z, in both MLPs.
    """

    def __init__(self, size: int):
        super().__init__()
        self.gate, self.proposed = (
            nn.Sequential(nn.Linear(size + 1, size), nn.ReLU(), nn.Linear(size, size)) for _ in range(2)
        )
        self.linear, self.spread = nn.Linear(size, size), nn.Linear(size, size)
        nn.init.eye_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, z: Tensor, gap: Tensor) -> Gaussian:
        """The next z, given z, (N, size), and gaps, (N,)."""
        given = torch.cat([z, gap.unsqueeze(1)], 1)
        proposed = self.proposed(given)
        mean = torch.lerp(self.linear(z), proposed, torch.sigmoid(self.gate(given)))
        return Gaussian(mean, _std(self.spread(torch.relu(proposed))))


class SequentialVAE(Variational):
    """z_k follows z_{k-1} by `Transition`; row k is read from z_k; q(z_k | z_{k-1}, x_k, x_{k+1}, ...) is structured:

        h = (tanh(W z_{k-1} + b) + r_k) / 2,  mean W_m h + b_m,  variance softplus(W_v h + b_v),

    with r_k the state of an RNN that reads the rows backwards in time (2017, "DKS").

    Ours: the RNN is a GRU, given values, 0 where not observed, the mask and each row's gap to the one before or to 0,
    in units of the data; z_0 is learnt; a prediction is read from the mean of the transition from the mean of the last
    z before it, so its variance is that of a row given z alone.

    Args:
        hidden_size: of z and all hidden layers; `dropout` is as of `RowByRow`.
    """

    def __init__(self, task: SeriesTask, hidden_size: int, dropout: Share = 0.2):
        super().__init__(task)
        self.start = nn.Parameter(torch.zeros(hidden_size))
        self.transition = Transition(hidden_size)
        self.later = BackwardGRU(2 * task.features + 1, hidden_size)
        self.combiner, self.posterior = nn.Linear(hidden_size, hidden_size), nn.Linear(hidden_size, 2 * hidden_size)
        self.readout = Readout(hidden_size, hidden_size, task.features, dropout)

    def forward(self, observations: Observations) -> Inferred:
        """The prediction of every row, read from its own z."""
        batch = padded(self.accepted(observations))
        z, q = self.chain(batch, draw=self.training)
        series, row, elapsed, _ = batch.own()
        prior = self.transition(z[series, row], elapsed)
        p = self.readout(z[series, row + 1], drop=self.training)
        moved = (q.mean[series, row] - prior.mean) / prior.std
        return Inferred(p, divergence(moved, q.std[series, row] / prior.std).sum())

    def predict(self, observations: Observations, series: Tensor, times: np.ndarray) -> Tensor:
        """p as of `RowByRow`; the last z before a time is inferred from all rows, later ones too. Nothing is drawn."""
        batch = padded(self.accepted(observations, times))
        z, _ = self.chain(batch, draw=False)
        places = batch.at(series, torch.as_tensor(times).to(series.device, torch.float64))
        return self.readout(self.transition(z[series, places.rows], places.elapsed).mean, drop=False)

    def chain(self, batch: Padded, draw: bool) -> tuple[Tensor, Gaussian]:
        """z_0 to z_S, (batch, S + 1, size), row after row, with one sample each, or with the means; and q of z_1
        to z_S, (batch, S, size), each given the z before."""
        rows = torch.cat([batch.values, batch.mask, batch.gaps().unsqueeze(2)], 2)
        later = self.later(rows, batch.lengths)
        noise = torch.randn_like(later) if draw else torch.zeros_like(later)
        z, parameters = [self.start.expand(len(later), -1)], list[Tensor]()
        for r, drawn in zip(later.unbind(1), noise.unbind(1), strict=True):
            parameters.append(self.posterior((torch.tanh(self.combiner(z[-1])) + r) / 2))
            mean, spread = parameters[-1].chunk(2, 1)
            z.append(mean + _std(spread) * drawn)
        mean, spread = torch.stack(parameters, 1).chunk(2, 2)
        return torch.stack(z, 1), Gaussian(mean, _std(spread))
