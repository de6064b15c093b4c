"""ODE-RNN (Rubanova et al. 2019): a state that flows by an ODE between union times and meets a GRU unit at rows.

It is a network of its own (ACE-NODE, Tables 7 and 9), and encodes for Latent-ODE.
"""

from typing import Literal

import torch
from torch import Tensor, nn

from hidden_dynamics.models.choices import Whole, one_of, whole
from hidden_dynamics.models.latent_family.family import LatentNetwork, LatentTask, Prediction, SeriesBatch
from hidden_dynamics.models.latent_family.lockstep import gaps
from hidden_dynamics.models.latent_family.ode_rnn_rollout import Passed, rollout
from hidden_dynamics.models.layers import tanh_network
from hidden_dynamics.models.observations import Observations

STEPS = {"forwards": "forwards", "backwards": "released"}
Z0_UNITS = 100  # hidden units between the encoder's state and that of z(0)


class GRUUnit(nn.Module):
    """Moves a state, mean y and standard deviation s, each of `size` entries, to what is seen, x, of `inputs`.

        u = sigmoid(U [y, s, x]), r = sigmoid(R [y, s, x]), [n, e] = N [r y, r s, x];
        y <- (1 - u) n + u y, s <- (1 - u) |e| + u s.

    U, R and N are networks of one hidden layer of `units` with tanh; `rollout` applies them.
    """

    def __init__(self, size: int, inputs: int, units: int):
        super().__init__()
        self.update = tanh_network(2 * size + inputs, size, 0, units)
        self.reset = tanh_network(2 * size + inputs, size, 0, units)
        self.candidate = tanh_network(2 * size + inputs, 2 * size, 0, units)


class ODERNNCore(nn.Module):
    """A mean y and a standard deviation s for each series, 0 at first.

    Between union times y alone moves, dy/dt = f(y), by explicit Euler steps; at each, the GRU unit moves y and s of the
    series that are observed there (Rubanova et al. 2019, Algorithm 1; Latent-ODE's released encoder).

    Args:
        features, size: D, of a row; S, of y and of s.
        layers, units: f has `layers` + 2 linear maps, and hidden layers of so many units.
        gru_units: hidden units of the GRU unit's networks.
    """

    def __init__(self, features: int, size: int, layers: int, units: int, gru_units: int):
        super().__init__()
        self.size = size
        self.flow = tanh_network(size, size, layers, units)
        self.unit = GRUUnit(size, 2 * features, gru_units)

    def forward(self, observations: Observations, way: str, rows: bool = True) -> Passed:
        """The rollout over N series with R rows, whose times are in units of the batch's last, by this `way` (`gaps`);
        `rows`: the states at the rows are wanted, too."""
        return rollout(observations, gaps(observations.times, way), self.flow, self.unit, rows)


class ODERNNEncoder(nn.Module):
    """Mean and standard deviation of the latent state z(0) of each series.

    Args:
        features, size, layers, units, gru_units: of the ODE-RNN (`ODERNNCore`).
        latent: entries of z.
    """

    def __init__(self, features: int, size: int, latent: int, layers: int, units: int, gru_units: int):
        super().__init__()
        self.core = ODERNNCore(features, size, layers, units, gru_units)
        self.z0 = tanh_network(2 * size, 2 * latent, 0, Z0_UNITS)

    def forward(self, observations: Observations) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation, (N, latent) each, of N series; times in units of the batch's last time."""
        passed = self.core(observations, "backwards", rows=False)
        mean, std = self.z0(torch.cat([passed.mean, passed.std], 1)).chunk(2, 1)
        return mean, std.abs()


class ODERNN(LatentNetwork):
    """An ODE-RNN that predicts each row from the state in which the union time before left its series.

    A series is classified by its last state, a row by the state after it was seen.

    Args:
        hidden_size, layers, units, gru_units: of the `ODERNNCore`.
        decoder_units: hidden units between the state and what is predicted.
        steps: "forwards", by the true gaps; "backwards", as released: those of a rollout backwards, one visit late
            (hidden_dynamics.models.latent_family.lockstep.gaps).
        classifier: of rows, "linear" or "mlp" (hidden_dynamics.models.layers.classifier); of series, always the latter.
    """

    def __init__(
        self,
        task: LatentTask,
        hidden_size: int,
        layers: Whole = 3,
        units: Whole = 50,
        gru_units: Whole = 50,
        decoder_units: Whole = 100,
        steps: Literal["forwards", "backwards"] = "forwards",
        classifier: Literal["linear", "mlp"] = "linear",
    ):
        super().__init__(task)
        self.way = STEPS[one_of("steps", steps, STEPS)]
        whole("layers", layers, 0)
        sizes = {"hidden_size": hidden_size, "units": units, "gru_units": gru_units}
        for name, value in {**sizes, "decoder_units": decoder_units}.items():
            whole(name, value)
        self.core = ODERNNCore(task.features, hidden_size, layers, units, gru_units)
        self.decoder = tanh_network(hidden_size, task.features, 0, decoder_units)
        self.classifies(task, hidden_size, hidden_size, classifier)

    def forward(self, batch: SeriesBatch) -> Prediction:
        """The context's rows; at the first union time what is observed, as released. A ValueError for other targets."""
        context = self.accepted(batch.reconstructed())
        passed = self.core(context, self.way)
        values = self.decoder(passed.before)
        first = context.rows_at_first()
        values[:first] = context.values[:first]
        return Prediction(values[None], self.logits(passed.mean[None], passed.after[None]))
