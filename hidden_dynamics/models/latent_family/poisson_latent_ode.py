"""Latent-ODE whose observation times are a Poisson process (Rubanova et al. 2019, Section 3.3)."""

from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from hidden_dynamics.models.choices import one_of
from hidden_dynamics.models.continuous.integral import State
from hidden_dynamics.models.latent_family.family import LatentTask, observed_counts
from hidden_dynamics.models.latent_family.latent_ode import LatentODE
from hidden_dynamics.models.layers import tanh_maps
from hidden_dynamics.models.observations import Observations

SCALE = 100.0  # the rate is integrated in this unit, so that its integral is of the size of z
WEIGHT = 0.1  # of the process's likelihood in the loss


class PoissonDynamics(nn.Module):
    """d[z, l]/dt = f([z, l]), and the integral of the rates exp(r(l)) of all features, in units of 100; `latent` is the
    size of [z, l], whose second half is l."""

    def __init__(self, flow: nn.Module, rate: nn.Module, latent: int):
        super().__init__()
        self.flow, self.rate, self.latent = flow, rate, latent

    def forward(self, t: Tensor, state: Tensor) -> Tensor:
        """The rate of [z, l, integrals], (..., 2 L + D)."""
        return torch.cat([self.flow(t, state[..., : self.latent]), self.log_rates(state).exp() / SCALE], -1)

    def log_rates(self, state: Tensor) -> Tensor:
        """(..., D)."""
        return self.rate(state[..., self.latent // 2 : self.latent])


class LatentODEPoisson(LatentODE):
    """A Latent-ODE whose latent state has a second half, which the rates of observations are read from.

    The loss has -0.1 times the log-likelihood of the times at which each feature of each series is observed: the sum of
    their log-rates less the rate's integral from the targets' first to their last union time, averaged over features,
    series and samples. It is not used where rows are classified, whose cross-entropy is the whole loss.

    Args:
        task, hidden_size, options: of `LatentODE`; it is not augmented.
        unobserved: the likelihood of a feature that a series has no entry of: "integral", less the integral, as of any;
            "zero", 0, as released.
    """

    halves = 2

    def __init__(
        self, task: LatentTask, hidden_size: int, unobserved: Literal["integral", "zero"] = "integral", **options: Any
    ):
        one_of("unobserved", unobserved, ("integral", "zero"))
        if options.get("augmented"):
            raise ValueError("a Latent-ODE with a Poisson process is not augmented")
        super().__init__(task, hidden_size, **options)
        self.unobserved = unobserved
        *_, units = self.flow_shape
        rate = tanh_maps(hidden_size, task.features, 1, units)
        self._solve(PoissonDynamics(self.integral.dynamics, rate, self.latent))

    def _state(self, z: Tensor) -> Tensor:
        return functional.pad(z, (0, self.decoder.out_features))

    def _solution(self, state: State, targets: Observations) -> tuple[Tensor, Tensor]:
        """The solution, with integrals over the targets' times: at the first and last, each series has one row more."""
        if not len(targets.times):
            return super()._solution(state, targets)
        everyone = torch.arange(targets.size, device=targets.series.device)
        offsets = torch.cat([targets.offsets[:1], targets.offsets[1:] + targets.size])
        offsets[-1] += targets.size
        series = torch.cat([everyone, targets.series, everyone])
        rows, end = self.integral.of_rows(state, *self._times(targets.times, offsets), series)
        first, rows, last = rows.split_with_sizes([targets.size, len(targets.series), targets.size], 1)
        return rows, torch.cat([end[..., : self.latent], (last - first)[..., self.latent :]], -1)

    def _extra(self, rows: Tensor, end: Tensor, targets: Observations) -> Tensor | float:
        """-0.1 times the process's log-likelihood in nats, given the state at the targets, (K, R, 2 L + D), and at the
        end, (K, N, 2 L + D), with the integrals over the targets' times."""
        if self.labels == "rows":
            return 0.0
        integrals = SCALE * end[..., self.latent :]
        if self.unobserved == "zero":
            integrals = integrals * (observed_counts(targets) > 0)
        dynamics = self.integral.dynamics
        assert isinstance(dynamics, PoissonDynamics)
        observed = dynamics.log_rates(rows) * targets.mask
        return -WEIGHT * ((observed.sum() - integrals.sum()) / integrals.numel())
