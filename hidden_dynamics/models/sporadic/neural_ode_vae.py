# pyright: reportUnknownMemberType=false
"""Neural-ODE-VAE (Chen et al. 2018, Section 5): a latent state flows by an ODE from where an encoder puts it."""

from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from hidden_dynamics.models.choices import Share
from hidden_dynamics.models.continuous.integral import FunctionEvaluations, Integral
from hidden_dynamics.models.forecaster import SeriesTask
from hidden_dynamics.models.gaussian import divergence
from hidden_dynamics.models.layers import Autonomous, tanh_maps
from hidden_dynamics.models.observations import Observations
from hidden_dynamics.models.series_major import padded
from hidden_dynamics.models.solver import Solver, SolverSettings
from hidden_dynamics.models.sporadic.row_by_row import Readout
from hidden_dynamics.models.sporadic.variational import BackwardGRU, Gaussian, Inferred, Variational


class NeuralODEVAE(Variational):
    """z(0) ~ q, Gaussian, of an RNN that reads the rows backwards in time; dz/dt = f(z), two linear maps and a tanh
    between them (ACE-NODE, Section 4.2); p is read from z(t).

    The prior of z(0) is N(0, 1). Ours: the RNN is a GRU; it sees the rows until the task's `until`, in training too,
    where the likelihood has all rows, so that the later ones are predicted as they are in the test; it is given values,
    0 where not observed, and each row's gap to the one before or to 0; time is in units of `until` in the ODE, and in
    units of the data elsewhere.

    Args:
        hidden_size: of z and all hidden layers; `dropout` is as of `RowByRow`.
        solver: a batch has a thousand union times and more: a method with fixed steps makes a step to each, and an
            adaptive one interpolates.
        mask: whether the encoder is given the mask too: Neural-ODE-VAE-Mask.
    """

    def __init__(
        self, task: SeriesTask, hidden_size: int, solver: SolverSettings, mask: bool = False, dropout: Share = 0.2
    ):
        super().__init__(task)
        self.until, self.mask = float(task.until), mask
        self.encoder = BackwardGRU(task.features * (2 if mask else 1) + 1, hidden_size)
        self.posterior = nn.Linear(hidden_size, 2 * hidden_size)
        self.function_evaluations = FunctionEvaluations()
        flow = Autonomous(tanh_maps(hidden_size, hidden_size, 0, hidden_size))
        self.integral = Integral(flow, Solver(**solver), self.function_evaluations)
        self.readout = Readout(hidden_size, hidden_size, task.features, dropout)

    def forward(self, observations: Observations) -> Inferred:
        """The prediction of all rows given those until `until`."""
        q = self.encoded(self.accepted(observations))
        z = q.mean + q.std * torch.randn_like(q.mean) if self.training else q.mean
        times = observations.times[observations.rows_of_times()].numpy()
        p = self.readout(self._flown(z, observations.series, times), drop=self.training)
        return Inferred(p, divergence(q.mean, q.std).sum())

    def predict(self, observations: Observations, series: Tensor, times: np.ndarray) -> Tensor:
        """p as of `RowByRow`, but from the mean of z(0), given all rows to `until`, later ones too; nothing drawn."""
        z = self.encoded(self.accepted(observations, times)).mean
        return self.readout(self._flown(z, series, times), drop=False)

    def encoded(self, observations: Observations) -> Gaussian:
        """q of z(0), (batch, size); of a series without rows, that of the encoder's initial state."""
        batch = padded(observations)
        given = [batch.values, *([batch.mask] if self.mask else []), batch.gaps().unsqueeze(2)]
        early = (batch.times <= float(np.float32(self.until))).sum(1)  # a row's time was of this type
        h = self.encoder(torch.cat(given, 2), torch.minimum(early, batch.lengths))[:, 0]
        mean, logvar = self.posterior(h).chunk(2, 1)
        return Gaussian(mean, torch.exp(logvar / 2))

    def _flown(self, z: Tensor, series: Tensor, times: np.ndarray) -> Tensor:
        """z of series of the batch at times, (N, size), of z(0), (batch, size)."""
        scaled = torch.as_tensor(np.concatenate([[0.0], times]) / self.until).to(z)  # where two may be alike
        union, which = cast(tuple[Tensor, Tensor], scaled.unique(return_inverse=True))
        order, counts = which[1:].argsort(stable=True), which[1:].bincount(minlength=len(union))
        offsets = functional.pad(counts.cumsum(0), (1, 0)).cpu()
        rows, _ = self.integral.of_rows(z[None], union.double().cpu(), offsets, series[order])
        return rows[0, order.argsort()]
