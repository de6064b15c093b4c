"""The passage of an ODE-RNN's state over the union times of a batch."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from hidden_dynamics.models.observations import Observations
from hidden_dynamics.models.ode_rnn.gru_unit import GRUUnit
from hidden_dynamics.models.latent_ode.layers import tanh_network
from hidden_dynamics.models.ode_rnn.union_times import gaps


class Passed(NamedTuple):
    """
    Attributes:
        mean, deviation: (N, S), the state of each series in the end.
        before: (R, S), the mean of each row's series as the union time before left it; zeros where there is none.
        after: (R, S), its mean after the row was seen.
    """

    mean: Tensor
    deviation: Tensor
    before: Tensor
    after: Tensor


class ODERNNCore(nn.Module):
    """A mean y and a standard deviation s for each series, 0 at first.

    Between union times y alone moves, dy/dt = f(y), by explicit Euler steps; at each, the GRU unit moves y and s of the
    series that are observed there (Rubanova et al. 2019, Algorithm 1; Latent-ODE's released encoder).

    Args:
        features: D, of a row.
        size: S, of y and of s.
        layers: f has `layers` + 2 linear maps.
        units: hidden units of f.
        gru_units: hidden units of the GRU unit's networks.
    """

    def __init__(self, features: int, size: int, layers: int, units: int, gru_units: int):
        super().__init__()
        self.size = size
        self.flow = tanh_network(size, size, layers, units)
        self.unit = GRUUnit(size, 2 * features, gru_units)

    def forward(self, observations: Observations, way: str) -> Passed:
        """The state's passage over a batch of N series with R rows.

        Args:
            observations: times in units of the batch's last time.
            way: over the union times (hidden_dynamics.models.ode_rnn.union_times.gaps).
        """
        way_over = gaps(observations.times, way)
        offsets = observations.offsets.tolist()
        x = torch.cat([observations.values, observations.mask], 1)
        seen = observations.mask.any(1)
        y = s = observations.values.new_zeros(observations.size, self.size)
        before, after = {}, {}
        for visit, steps, length in zip(*way_over, strict=True):
            rows = slice(offsets[visit], offsets[visit + 1])
            series = observations.series[rows]
            before[visit] = y[series]
            for _ in range(steps):
                y = y + length * self.flow(y)
            found = self.unit(y[series], s[series], x[rows])
            new_y, new_s = (
                torch.where(seen[rows, None], each, old[series]) for each, old in zip(found, (y, s), strict=True)
            )
            after[visit] = new_y
            y, s = y.index_copy(0, series, new_y), s.index_copy(0, series, new_s)
        empty = y.new_zeros(0, self.size)
        in_order = [torch.cat([empty, *(each[visit] for visit in sorted(each))]) for each in (before, after)]
        return Passed(y, s, *in_order)
