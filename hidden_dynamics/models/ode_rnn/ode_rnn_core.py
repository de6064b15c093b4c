"""The passage of an ODE-RNN's state over the union times of a batch."""

from typing import NamedTuple

from torch import Tensor, nn

from hidden_dynamics.models.latent_family.layers import tanh_network
from hidden_dynamics.models.observations import Observations
from hidden_dynamics.models.ode_rnn.gru_unit import GRUUnit
from hidden_dynamics.models.ode_rnn.union_passage import passage
from hidden_dynamics.models.ode_rnn.union_times import gaps


class Passed(NamedTuple):
    """
    Attributes:
        mean, deviation: (N, S), the state of each series in the end.
        before: (R, S), the mean of each row's series as the union time visited before left it, 0 where there is none.
        after: (R, S), its mean after the row was seen. Both are (0, S) where they are not wanted.
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

    def forward(self, observations: Observations, way: str, rows: bool = True) -> Passed:
        """The state's passage over a batch of N series with R rows.

        Args:
            observations: times in units of the batch's last time.
            way: over the union times (hidden_dynamics.models.ode_rnn.union_times.gaps).
            rows: the states at the rows are wanted, too.
        """
        way_over = gaps(observations.times, way)
        unit = [*self.unit.update.parameters(), *self.unit.reset.parameters(), *self.unit.candidate.parameters()]
        state, before, after = passage(observations, way_over, list(self.flow.parameters()), unit, rows)
        return Passed(*state.split(observations.size), before, after)
