"""Latent-ODE (Rubanova et al. 2019), and Augmented-Latent-ODE (ACE-NODE, Section 4.3)."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from hidden_dynamics.models.choices import one_of
from hidden_dynamics.models.continuous.integral import FunctionEvaluations, Integral, State
from hidden_dynamics.models.divergence import divergence
from hidden_dynamics.models.latent_family.family import LatentNetwork, LatentTask
from hidden_dynamics.models.latent_family.layers import Autonomous, classifier, initialised, tanh_network
from hidden_dynamics.models.latent_family.series_batch import Answer, SeriesBatch
from hidden_dynamics.models.latent_ode.rnn_encoder import RNNEncoder
from hidden_dynamics.models.observations import Observations
from hidden_dynamics.models.ode_rnn.ode_rnn_network import ODERNNEncoder
from hidden_dynamics.models.solver import Solver

SOLVER = {"method": "dopri5", "rtol": 1e-4, "atol": 1e-5, "adjoint": False}
CHOICES = {"encoder": ("ode", "rnn"), "label_from": ("end", "start"), "start": ("zero", "first_asked")}


class LatentODE(LatentNetwork):
    """z(0) ~ N(m, s^2), which an encoder reads from a series backwards; dz/dt = f(z); a row is a linear map of z(t).

    The divergence is averaged over latent dimensions and series. Samples of z(0) are drawn in evaluation too.

    Args:
        task: its rows, and what of it is classified: a series by two hidden layers of 300 ReLU units, a row by a linear
            map of z(t).
        hidden_size: L, of what a row is read from, without what augments it.
        encoder: "ode", an ODE-RNN over the union times; "rnn", a GRU.
        recognition_size: of the encoder's state.
        recognition_layers, generative_layers: the dynamics of the encoder and f have these + 2 linear maps with tanh
            between any two. (ACE-NODE's Section 4.3 speaks of three layers of 50 units and Table 14 lists four, and a
            tanh after the last, on PhysioNet; the released code has five, none after the last.)
        units, gru_units: hidden units of the dynamics and of the encoder's GRU unit.
        samples: K, of z(0).
        solver: of f, the settings of `hidden_dynamics.models.continuous.Solver`.
        augmented: zeros added to z(0).
        label_from: what a series is classified by: "end", z at the end of the batch's time, which what flows can reach;
            "start", the sample of z(0) itself, as released.
        start: the time at which z is z(0): "zero"; "first_asked", the first union time asked, as released, although the
            encoder ends at the first one given.

    Attributes:
        samples: may be changed at any time.
        function_evaluations: of f.

    Raises:
        ValueError: an argument is out of its range.
    """

    halves = 1  # of the latent state, of the size L each

    def __init__(
        self,
        task: LatentTask,
        hidden_size: int,
        encoder: str = "ode",
        recognition_size: int = 40,
        recognition_layers: int = 3,
        generative_layers: int = 3,
        units: int = 50,
        gru_units: int = 50,
        samples: int = 3,
        solver: Mapping[str, Any] = SOLVER,
        augmented: int = 0,
        label_from: str = "end",
        start: str = "zero",
    ):
        super().__init__(task)
        for name, value in {"encoder": encoder, "label_from": label_from, "start": start}.items():
            one_of(name, value, CHOICES[name])
        if samples < 1 or augmented < 0:
            raise ValueError(f"samples must be 1 or more and augmented 0 or more, not {samples} and {augmented}")
        self.labels, self.label_from, self.start = task.labels, label_from, start
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
        self.classifier = self._classifier(task)

    def forward(self, batch: SeriesBatch, noise: Tensor | None = None) -> Answer:
        """What is predicted of the rows asked, from samples of z(0).

        Args:
            noise: (K, N, L) (or twice L where the latent state has two halves), what the samples are made of, standard
                normal; None draws it.

        Raises:
            SolverFailure: the ODE could not be solved.
        """
        mean, deviation = self.encoder(self.accepted(batch.given))
        if noise is None:
            noise = torch.randn(self.samples, *mean.shape, dtype=mean.dtype, device=mean.device)
        z = mean + deviation * noise
        rows, end = self._solution(self._state(functional.pad(z, (0, self.augmented))), batch.asked)
        values = self.decoder(rows[..., : self.decoder.in_features])
        labels, extra = self._labels(z, rows, end), self._extra(rows, end, batch.asked)
        return Answer(values, labels, divergence(mean, deviation).mean(), extra)

    def _flow(self) -> nn.Module:
        """Dynamics of the shape of f."""
        return Autonomous(tanh_network(*self.flow_shape))

    def _solve(self, dynamics: nn.Module) -> None:
        """These are the dynamics of the state from now on."""
        self.integral = Integral(dynamics, self.solver, self.function_evaluations)

    def _state(self, z: Tensor) -> State:
        """The state at the start, given z(0), (K, N, size)."""
        return z

    def _solution(self, state: State, asked: Observations) -> tuple[Tensor, Tensor]:
        """The state at the rows asked, (K, R, d), and at the end, (K, N, d), given that at the start."""
        return self.integral.of_rows(state, *self._times(asked.times, asked.offsets), asked.series)

    def _extra(self, rows: Tensor, end: Tensor, asked: Observations) -> Tensor:
        """What is added to the loss, (), given the solution."""
        return rows.new_zeros(())

    def _classifier(self, task: LatentTask) -> nn.Module | None:
        if task.labels is None:
            return None
        if task.labels == "rows":
            return classifier(self.size, task.classes, "linear")
        return classifier(self.latent if self.label_from == "start" else self.size, task.classes, "mlp")

    def _labels(self, z: Tensor, rows: Tensor, end: Tensor) -> Tensor | None:
        if self.labels is None:
            return None
        if self.labels == "rows":
            return self.classifier(rows[..., : self.size])
        return self.classifier(z if self.label_from == "start" else end[..., : self.size]).squeeze(-1)

    def _times(self, times: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
        """The start, these union times and the end of the batch's time, 1; and the offsets of their rows."""
        start = times[0].item() if self.start == "first_asked" and len(times) else 0.0
        before = times.new_full((0 if len(times) and times[0] <= start else 1,), start)
        after = times.new_ones(0 if len(times) and times[-1] >= 1 else 1)
        zero, rows = offsets[:1].expand(len(before)), offsets[-1:].expand(len(after))
        return torch.cat([before, times, after]), torch.cat([zero, offsets, rows])
