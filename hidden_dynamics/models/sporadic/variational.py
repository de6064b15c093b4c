"""Latent Gaussian variables, and networks that are trained by the evidence lower bound (Kingma and Welling 2014)."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from hidden_dynamics.models.forecaster import Forecaster
from hidden_dynamics.models.gaussian import negative_log_likelihood
from hidden_dynamics.models.observations import Observations


class Gaussian(NamedTuple):
    """Independent entries, (..., N) each."""

    mean: Tensor
    std: Tensor


class Inferred(NamedTuple):
    """Predictions of rows, and the divergence that the bound needs.

    Attributes:
        p: (R, 2 D), mean and logvar of each row given one sample of the latent variables, or their means.
        divergence: of the posterior from the prior, of the whole batch, in nats.
    """

    p: Tensor
    divergence: Tensor


class Variational(Forecaster):
    """A network that infers latent variables; derived classes add `forward` and `predict`."""

    def loss(self, filtered: Inferred, observations: Observations) -> Tensor:
        """The evidence lower bound of all rows with its sign changed, in nats per series."""
        likelihood = negative_log_likelihood(filtered.p, observations.values, observations.mask)
        return (likelihood + filtered.divergence) / observations.size


class BackwardGRU(nn.Module):
    """A GRU that begins at the last row of each series and ends at the first."""

    def __init__(self, inputs: int, size: int):
        super().__init__()
        self.gru = nn.GRU(inputs, size, batch_first=True)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """The state after each row and those that follow it: (batch, S, size), 0 beyond the length of a series, of x,
        (batch, S, inputs), whose padding has no influence, and `lengths`, (batch,) int64."""
        place = lengths.unsqueeze(1) - 1 - torch.arange(x.shape[1], device=x.device)
        series, turned = torch.arange(len(x), device=x.device).unsqueeze(1), place.clamp(min=0)
        h, _ = self.gru(x[series, turned])
        return torch.where((place >= 0).unsqueeze(2), h[series, turned], 0)
