"""Latent-ODE (Rubanova et al. 2019), and Augmented-Latent-ODE (ACE-NODE, Section 4.3)."""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from hidden_dynamics.models.choices import Whole, one_of, whole
from hidden_dynamics.models.continuous.integral import FunctionEvaluations, Integral, State
from hidden_dynamics.models.gaussian import divergence
from hidden_dynamics.models.latent_family.family import LatentNetwork, LatentTask, Prediction, SeriesBatch
from hidden_dynamics.models.latent_family.ode_rnn import ODERNNEncoder
from hidden_dynamics.models.layers import Autonomous, initialised, tanh_network
from hidden_dynamics.models.observations import Observations
from hidden_dynamics.models.solver import Solver, SolverSettings

SOLVER: SolverSettings = {"method": "dopri5", "rtol": 1e-4, "atol": 1e-5, "adjoint": False}
CHOICES = {"encoder": ("ode", "rnn"), "label_from": ("end", "start"), "start": ("zero", "first_target")}
Z0_UNITS = 50  # hidden units between the RNN encoder's state and that of z(0)
BLOCK = 256  # union times whose input is laid out at once


class RNNEncoder(nn.Module):
    """Mean and standard deviation of the latent state z(0) of each series; `features`, `size` and `latent` are the
    entries of a row, of the GRU's state, and of z.

    At every union time, last to first, the GRU is given the gap to the union time before (0 at the first) and a row's
    values and mask, 0 where the series has none. Its state moves there too, and so depends on when other series of the
    batch were seen: this is what the authors' code does, and the papers say no more than that the gap is an input.
    """

    def __init__(self, features: int, size: int, latent: int):
        super().__init__()
        self.gru = nn.GRU(1 + 2 * features, size)
        self.z0 = tanh_network(size, 2 * latent, 0, Z0_UNITS)

    def forward(self, observations: Observations) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation, (N, latent) each, of N series; times in units of the batch's last time."""
        state = observations.values.new_zeros(1, observations.size, self.gru.hidden_size)
        for end in range(len(observations.times), 0, -BLOCK):
            _, state = self.gru(self._inputs(observations, max(end - BLOCK, 0), end), state)
        mean, std = self.z0(state[0]).chunk(2, 1)
        return mean, std.abs()

    def _inputs(self, observations: Observations, start: int, end: int) -> Tensor:
        """The GRU's input at the union times `start` to `end` - 1, backwards: (times, N, 1 + 2 D)."""
        like, times = observations.values, observations.times
        gaps = times.diff(prepend=times[:1])[start:end].flip(0).to(like)
        x = like.new_zeros(end - start, observations.size, self.gru.input_size)
        x[:, :, 0] = gaps.unsqueeze(1)
        rows = slice(*map(int, observations.offsets[[start, end]]))
        place = end - 1 - observations.rows_of_times()[rows].to(like.device)
        x[place, observations.series[rows], 1:] = torch.cat([observations.values[rows], observations.mask[rows]], 1)
        return x


class LatentODE(LatentNetwork):
    """z(0) ~ N(m, s^2), which an encoder reads from a series backwards; dz/dt = f(z); a row is a linear map of z(t).

    The divergence is averaged over latent dimensions and series. Samples of z(0) are drawn in evaluation too.

    Args:
        task: its rows, and what is classified: a series by two hidden layers of 300 ReLU units, a row by a linear map.
        hidden_size: L, of what a row is read from, without what augments it.
        encoder: "ode", an ODE-RNN over the union times; "rnn", a GRU.
        recognition_size: of the encoder's state.
        recognition_layers, generative_layers: the dynamics of the encoder and f have these + 2 linear maps with tanh
            between any two. (ACE-NODE's Section 4.3 speaks of three layers of 50 units and Table 14 lists four, and a
            tanh after the last, on PhysioNet; the released code has five, none after the last.)
        units, gru_units: hidden units of the dynamics and of the encoder's GRU unit.
        samples: K, of z(0).
        solver: of f, the settings of `hidden_dynamics.models.solver.Solver`.
        augmented: zeros added to z(0).
        label_from: what a series is classified by: "end", z at the end of the batch's time, which what flows can reach;
            "start", the sample of z(0) itself, as released.
        start: the time at which z is z(0): "zero"; "first_target", the targets' first union time, as released, although
            the encoder ends at the context's first.

    Attributes:
        samples: may be changed at any time.
        function_evaluations: of f.
    """

    halves = 1  # of the latent state, of the size L each

    def __init__(
        self,
        task: LatentTask,
        hidden_size: int,
        encoder: Literal["ode", "rnn"] = "ode",
        recognition_size: Whole = 40,
        recognition_layers: Whole = 3,
        generative_layers: Whole = 3,
        units: Whole = 50,
        gru_units: Whole = 50,
        samples: Whole = 3,
        solver: SolverSettings = SOLVER,
        augmented: int = 0,
        label_from: Literal["end", "start"] = "end",
        start: Literal["zero", "first_target"] = "zero",
    ):
        super().__init__(task)
        for name, value in {"encoder": encoder, "label_from": label_from, "start": start}.items():
            one_of(name, value, CHOICES[name])
        sizes = {"hidden_size": hidden_size, "recognition_size": recognition_size, "units": units}
        for name, value in {**sizes, "gru_units": gru_units, "samples": samples}.items():
            whole(name, value)
        layers = {"recognition_layers": recognition_layers, "generative_layers": generative_layers}
        for name, value in {**layers, "augmented": augmented}.items():
            whole(name, value, 0)
        self.label_from, self.start = label_from, start
        self.samples, self.augmented, self.latent = samples, augmented, self.halves * hidden_size
        self.size = size = self.latent + augmented  # of the state that flows
        if encoder == "ode":
            sizes = {"layers": recognition_layers, "units": units, "gru_units": gru_units}
            self.encoder = ODERNNEncoder(task.features, recognition_size, self.latent, **sizes)
        else:
            self.encoder = RNNEncoder(task.features, recognition_size, self.latent)
        self.flow_shape = (size, size, generative_layers, units)
        self.solver, self.function_evaluations = Solver(**solver), FunctionEvaluations()
        self._solve(self._flow())
        self.decoder = initialised(nn.Linear(hidden_size + augmented, task.features))
        self.classifies(task, self.latent if label_from == "start" else size, size)

    def forward(self, batch: SeriesBatch) -> Prediction:
        """The prediction of the targets, from samples of z(0); a `SolverFailure` where the ODE could not be solved."""
        mean, std = self.encoder(self.accepted(batch.context))
        z = mean + std * torch.randn(self.samples, *mean.shape, dtype=mean.dtype, device=mean.device)
        rows, end = self._solution(self._state(functional.pad(z, (0, self.augmented))), batch.targets)
        values = self.decoder(rows[..., : self.decoder.in_features])
        labels = self.logits(z if self.label_from == "start" else end[..., : self.size], rows[..., : self.size])
        return Prediction(values, labels, divergence(mean, std).mean(), self._extra(rows, end, batch.targets))

    def _flow(self) -> nn.Module:
        """Dynamics of the shape of f."""
        return Autonomous(tanh_network(*self.flow_shape))

    def _solve(self, dynamics: nn.Module) -> None:
        """Make these the dynamics of the state from now on."""
        self.integral = Integral(dynamics, self.solver, self.function_evaluations)

    def _state(self, z: Tensor) -> State:
        """The state at the start, given z(0), (K, N, size)."""
        return z

    def _solution(self, state: State, targets: Observations) -> tuple[Tensor, Tensor]:
        """The state at the targets, (K, R, d), and at the end, (K, N, d), given that at the start."""
        return self.integral.of_rows(state, *self._times(targets.times, targets.offsets), targets.series)

    def _extra(self, rows: Tensor, end: Tensor, targets: Observations) -> Tensor | float:
        """The term added to the loss, (), given the solution."""
        return 0.0

    def _times(self, times: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
        """The start, these union times and the end of the batch's time, 1; and the offsets of their rows."""
        start = times[0].item() if self.start == "first_target" and len(times) else 0.0
        before = times.new_full((0 if len(times) and times[0] <= start else 1,), start)
        after = times.new_ones(0 if len(times) and times[-1] >= 1 else 1)
        zero, rows = offsets[:1].expand(len(before)), offsets[-1:].expand(len(after))
        return torch.cat([before, times, after]), torch.cat([zero, offsets, rows])
