"""Flowing between observations and jumping at them: closed forms, and GRU-ODE-Bayes as its equations read."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from hidden_dynamics.errors import SolverFailure
from hidden_dynamics.models.continuous import Integral, flow_and_jump
from hidden_dynamics.models.gru_ode_bayes import GRUODEBayes
from hidden_dynamics.models.observations import Rows, batch_of
from hidden_dynamics.models.solver import Solver

TIMES = torch.tensor([0.0, 0.5, 0.75, 2.0], dtype=torch.float64)


class Decay(nn.Module):
    """dy/dt = -y."""

    def forward(self, t: Tensor, y: Tensor) -> Tensor:
        return -y


class Burst(nn.Module):
    """dy/dt = y^2, which ends at 1 / y(0)."""

    def forward(self, t: Tensor, y: Tensor) -> Tensor:
        return y**2


def raised(place: int, y: Tensor) -> Tensor:
    return y + place


SOLVERS = [
    (Solver("rk4", step_size=0.05), 1e-6),
    (Solver("midpoint", step_size=0.02, adjoint=False), 3e-4),
    (Solver("euler", step_size=0.01, adjoint=False), 2e-2),
    (Solver("dopri5", 1e-9, 1e-9), 1e-8),
    (Solver("dopri5", 1e-9, 1e-9, adjoint=False), 1e-8),
]


@pytest.mark.parametrize(("solver", "error"), SOLVERS)
@pytest.mark.parametrize("back", [False, True])
def test_a_decay_that_is_raised_at_its_times(solver: Solver, error: float, back: bool):
    y, times = torch.ones(2, dtype=torch.float64, requires_grad=True), TIMES.flip(0) if back else TIMES
    before, after = flow_and_jump(Integral(Decay(), solver), y, times, raised)
    level, slope, expected = 1.0, 1.0, []
    for place, gap in enumerate([0.0, *times.diff().tolist()]):
        level, slope = level * math.exp(-gap), slope * math.exp(-gap)
        expected.append(level)
        level += place
    assert before[:, 0].tolist() == pytest.approx(expected, rel=error)
    assert torch.equal(after, before + torch.arange(4)[:, None])
    before[-1].sum().backward()
    assert y.grad.tolist() == pytest.approx([slope] * 2, rel=error)


def test_a_tuple_flows_together():
    class Turn(nn.Module):
        def forward(self, t, state):
            return state[1], -state[0]

    start = torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    integral = Integral(Turn(), Solver("dopri5", 1e-9, 1e-9))
    (sine, cosine), _ = flow_and_jump(integral, start, TIMES, lambda place, state: state)
    assert sine[:, 0].tolist() == pytest.approx(TIMES.sin().tolist(), abs=1e-7)
    assert cosine[:, 0].tolist() == pytest.approx(TIMES.cos().tolist(), abs=1e-7)
    assert integral.evaluations.forward > 0 == integral.evaluations.backward


def test_a_failure_between_two_times_is_named():
    with pytest.raises(SolverFailure) as failure:
        flow_and_jump(Integral(Burst(), Solver("dopri5")), torch.ones(1), TIMES, lambda place, y: y)
    assert 0.75 <= failure.value.time < 2.0 and failure.value.during == "forward"


def test_gru_ode_bayes_is_a_gru_ode_that_jumps():
    """Where every observation lies on the grid of its Euler steps; outputs and gradients."""
    torch.manual_seed(0)
    random, lengths = np.random.default_rng(0), np.array([3, 4])
    times = np.array([0.5, 1.0, 2.0, 0.0, 1.0, 1.5, 2.0], np.float32)
    mask = random.random((7, 2)) < 0.7
    mask[~mask.any(1), 0] = True
    observed = batch_of(Rows(times, random.standard_normal((7, 2)), mask, lengths), np.arange(2))
    network = GRUODEBayes(SimpleNamespace(features=2, covariates=1), 5, prep=3, delta=0.25, end=2.0, dropout=0.0)
    network = network.double()

    def jumped(place: int, h: Tensor) -> Tensor:
        rows = slice(*observed.offsets[place : place + 2])
        there = observed.series[rows]
        new = network.jump(h[there], network.p(h[there]), observed.values[rows], observed.mask[rows])
        return h.index_copy(0, there, new)

    start = torch.tanh(network.covariates_out(torch.relu(network.covariates_in(torch.zeros(2, 1).double()))))
    integral = Integral(network.dynamics, Solver("euler", step_size=0.25, adjoint=False))
    before, after = flow_and_jump(integral, start, observed.times, jumped)
    rows = observed.rows_of_times(), observed.series
    filtered = network(observed)
    for fast, plain in ((filtered.before, before), (filtered.after, after)):
        assert torch.allclose(fast, network.p(plain[rows]), rtol=0, atol=1e-12)
    weights = list(network.parameters())
    ours = torch.autograd.grad(filtered.after.square().sum(), weights)
    theirs = torch.autograd.grad(network.p(after[rows]).square().sum(), weights)
    assert all(torch.allclose(a, b, rtol=0, atol=1e-10) for a, b in zip(ours, theirs, strict=True))
