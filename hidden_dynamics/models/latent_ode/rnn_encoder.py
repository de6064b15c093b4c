"""The RNN encoder of a Latent-ODE: a GRU backwards over the union times, from whose state the latent start is read."""

import torch
from torch import Tensor, nn

from hidden_dynamics.models.latent_family.layers import tanh_network
from hidden_dynamics.models.observations import Observations

BLOCK = 256  # union times whose input is laid out at once


class RNNEncoder(nn.Module):
    """Mean and standard deviation of the latent state z(0) of each series.

    At every union time, last to first, the GRU is given the gap to the union time before (0 at the first) and a row's
    values and mask, 0 where the series has none. Its state moves there too, and so depends on when other series of the
    batch were seen: this is what the authors' code does, and the papers say no more than that the gap is an input.

    Args:
        features: D, of a row.
        size: of the GRU's state.
        latent: of z.
        z0_units: hidden units between the GRU's state and that of z(0).
    """

    def __init__(self, features: int, size: int, latent: int, z0_units: int = 50):
        super().__init__()
        self.gru = nn.GRU(1 + 2 * features, size)
        self.z0 = tanh_network(size, 2 * latent, 0, z0_units)

    def forward(self, observations: Observations) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation, (N, latent) each, of N series; times in units of the batch's last time."""
        state = observations.values.new_zeros(1, observations.size, self.gru.hidden_size)
        for end in range(len(observations.times), 0, -BLOCK):
            _, state = self.gru(self._inputs(observations, max(end - BLOCK, 0), end), state)
        mean, std = self.z0(state[0]).chunk(2, 1)
        return mean, std.abs()

    def _inputs(self, observations: Observations, start: int, end: int) -> Tensor:
        """Of the union times `start` to `end` - 1, backwards: (times, N, 1 + 2 D)."""
        like, times = observations.values, observations.times
        gaps = times.diff(prepend=times[:1])[start:end].flip(0).to(like)
        x = like.new_zeros(end - start, observations.size, self.gru.input_size)
        x[:, :, 0] = gaps.unsqueeze(1)
        rows = slice(*observations.offsets[[start, end]].tolist())
        place = end - 1 - observations.rows_of_times()[rows].to(like.device)
        x[place, observations.series[rows], 1:] = torch.cat([observations.values[rows], observations.mask[rows]], 1)
        return x
