"""The encoder of a Latent-ODE: an ODE-RNN backwards in time, from whose state that of the latent start is read."""

import torch
from torch import Tensor, nn

from hidden_dynamics.models.latent_family.layers import tanh_network
from hidden_dynamics.models.observations import Observations
from hidden_dynamics.models.ode_rnn.ode_rnn_core import ODERNNCore


class ODERNNEncoder(nn.Module):
    """Mean and standard deviation of the latent state z(0) of each series.

    Args:
        features: D, of a row.
        size: of the ODE-RNN's mean, and of its standard deviation.
        latent: of z.
        layers, units: of the ODE-RNN's dynamics, which have `layers` + 2 linear maps.
        gru_units: hidden units of the GRU unit's networks.
        z0_units: hidden units between the ODE-RNN's state and that of z(0).
    """

    def __init__(
        self,
        features: int,
        size: int,
        latent: int,
        layers: int,
        units: int,
        gru_units: int,
        z0_units: int = 100,
    ):
        super().__init__()
        self.core = ODERNNCore(features, size, layers, units, gru_units)
        self.z0 = tanh_network(2 * size, 2 * latent, 0, z0_units)

    def forward(self, observations: Observations) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation, (N, latent) each, of N series; times in units of the batch's last time."""
        passed = self.core(observations, "backwards", rows=False)
        mean, deviation = self.z0(torch.cat([passed.mean, passed.deviation], 1)).chunk(2, 1)
        return mean, deviation.abs()
