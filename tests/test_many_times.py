"""Initial value problems at many times: closed forms, segments, counts, failures, and what backpropagation costs."""

import math

import pytest
import torch
from cases import Given, Watching, assert_all_close, noise
from hypothesis import given
from hypothesis import strategies as st
from test_continuous import either_gradient, failure_of, found_of
from torch import nn
from torchdiffeq import odeint

from hidden_dynamics.errors import SolverFailure
from hidden_dynamics.models.continuous.integral import Integral
from hidden_dynamics.models.solver import ADAPTIVE, FIXED, Solver

TIMES = [0.0, 0.1, 0.15, 0.4, 0.75, 1.3]
SOLVERS = {  # by method, its settings, and how near the solution has to be
    "dopri5": ({"rtol": 1e-9, "atol": 1e-9, "max_steps": 10_000}, 1e-6),
    "bosh3": ({"rtol": 1e-7, "atol": 1e-7, "max_steps": 10_000}, 1e-3),
    "rk4": ({"step_size": 1 / 40}, 1e-5),
    "midpoint": ({"step_size": 1 / 150}, 1e-3),
    "euler": ({"step_size": 1 / 150}, 3e-2),
}


class Turning(nn.Module):
    """dy/dt = t A y: y(t) = exp(A (t^2 - s^2) / 2) y(s). Of a tuple, the first part turns, and the second shrinks."""

    def __init__(self, n=3):
        super().__init__()
        self.matrix, self.calls = nn.Parameter(0.7 * noise(n, n)), 0

    def forward(self, t, y):
        self.calls += 1
        if isinstance(y, torch.Tensor):
            return t * y @ self.matrix.t()
        return t * y[0] @ self.matrix.t(), -y[1]

    def solution(self, y, times):
        return torch.stack([y @ torch.matrix_exp(self.matrix * (t**2 - times[0] ** 2) / 2).t() for t in times])


def start_of(dynamics, rows=4):
    return noise(rows, len(dynamics.matrix), seed=1).requires_grad_()


def at(integral, y, times):
    """The solution at ascending times, (times, *y.shape), of y (..., rows, n): all rows asked at all times."""
    first = y[0] if isinstance(y, tuple) else y
    size, given = first.shape[-2], y if first.ndim == 3 else y[None]
    rows = torch.arange(size).repeat(len(times))
    found, _ = integral.of_rows(given, times, torch.arange(len(times) + 1) * size, rows)
    return found.unflatten(1, (len(times), size)).transpose(0, 1).reshape(len(times), *first.shape)


@either_gradient
@pytest.mark.parametrize("method", SOLVERS)
def test_a_linear_problem_is_its_matrix_exponential_at_all_times_and_so_are_its_gradients(method, adjoint):
    (settings, tolerance), dynamics = SOLVERS[method], Turning()
    start, times = start_of(dynamics), torch.tensor(TIMES, dtype=torch.float64)
    integral, wanted = Integral(dynamics, Solver(method, adjoint=adjoint, **settings)), [start, dynamics.matrix]
    both = at(integral, start, times), dynamics.solution(start, times)
    assert_all_close(*(found_of([each], wanted, 5) for each in both), tolerance)


@pytest.mark.parametrize("name", ADAPTIVE + FIXED)
def test_the_solution_at_many_times_is_torchdiffeqs_own_with_its_gradients(name):
    """Of a method with fixed steps where the grid is that of the times."""
    dynamics = Turning()
    start, times = start_of(dynamics), torch.tensor(TIMES[1:], dtype=torch.float64)
    solver = Solver(name, adjoint=False, **({"rtol": 1e-6, "atol": 1e-6} if name in ADAPTIVE else {}))
    theirs = odeint(dynamics, start, times, rtol=solver.rtol, atol=solver.atol, method=solver.method)
    calls, wanted = dynamics.calls, [start, dynamics.matrix]
    integral = Integral(dynamics, solver)
    ours = at(integral, start, times)
    assert_all_close(*(found_of([each], wanted, 5) for each in (ours, theirs)), 1e-12)
    assert integral.evaluations.forward == calls == dynamics.calls - calls


@either_gradient
def test_fixed_steps_are_as_few_as_the_step_size_allows_and_counted(adjoint):
    """Gaps of 0.1, 0.05, 0.25, 0.35 and 0.55 in steps of at most 0.1: 1 + 1 + 3 + 4 + 6, one evaluation each."""
    dynamics, times = Turning(), torch.tensor(TIMES, dtype=torch.float64)
    integral = Integral(dynamics, Solver("euler", step_size=0.1, adjoint=adjoint))
    at(integral, start_of(dynamics), times).sum().backward()
    assert (integral.evaluations.forward, integral.evaluations.backward) == (15, 15 if adjoint else 0)
    assert dynamics.calls == (30 if adjoint else 15)


def rows_at(times, series=4):
    """Offsets and series of rows: at each time some of the series, at the first none."""
    random = torch.Generator().manual_seed(0)
    counts = [0, *(1 + torch.randperm(3, generator=random)[0].item() for _ in times[1:])]
    each = [torch.randperm(series, generator=random)[:count].sort().values for count in counts]
    return torch.tensor([0, *counts]).cumsum(0), torch.cat(each)


@either_gradient
@pytest.mark.parametrize("method", ["dopri5", "midpoint"])
@pytest.mark.parametrize("beside", [False, True], ids=["tensor", "tuple"])
def test_rows_of_series_are_those_of_the_solution_at_all_times(method, adjoint, beside):
    dynamics, times = Turning(), torch.tensor(TIMES, dtype=torch.float64)
    start, other = noise(2, 4, 3, seed=1).requires_grad_(), noise(2, 3, 3, seed=2).requires_grad_()
    offsets, series = rows_at(TIMES)
    integral, y = Integral(dynamics, Solver(method, adjoint=adjoint)), (start, other) if beside else start
    wanted = [start, dynamics.matrix]
    whole = at(integral, y, times)
    which = torch.repeat_interleave(torch.arange(len(times)), offsets.diff())
    rows, end = integral.of_rows(y, times, offsets, series)
    assert rows.shape == (2, len(series), 3) and end.shape == start.shape
    expected = torch.cat([whole[which, :, series].transpose(0, 1), whole[-1]], 1)
    assert_all_close(*(found_of([each], wanted, 5) for each in (torch.cat([rows, end], 1), expected)), 1e-12)


def test_rows_at_the_one_time_are_of_the_start_and_cost_nothing():
    dynamics = Turning()
    start, series = noise(2, 4, 3, seed=1), torch.tensor([1, 3])
    rows, end = Integral(dynamics, Solver()).of_rows(start, torch.tensor([0.3]), torch.tensor([0, 2]), series)
    assert torch.equal(rows, start[:, [1, 3]]) and torch.equal(end, start) and dynamics.calls == 0


@given(
    method=st.sampled_from(ADAPTIVE + FIXED),
    adjoint=st.booleans(),
    start=st.floats(-1e9, 1e9),
    gaps=st.lists(st.floats(1e-15, 10), min_size=1, max_size=4),
)
def test_wherever_the_times_lie_there_is_a_solution_with_its_gradients_or_a_solver_failure(
    method, adjoint, start, gaps
):
    """And never an assertion of torchdiffeq's, in single precision either."""
    times = torch.tensor([start, *gaps], dtype=torch.float64).cumsum(0).unique()
    swinging = Given(lambda t, y: torch.sin(y) + torch.cos(t))  # it stays in bounds, as its gradients do
    y = noise(4, 3).float().requires_grad_()
    try:
        solution = at(Integral(swinging, Solver(method, max_steps=20, adjoint=adjoint)), y, times)
        solution.sum().backward()
    except SolverFailure:
        return
    assert solution.isfinite().all() and y.grad.isfinite().all()


@either_gradient
@pytest.mark.parametrize("method", ["dopri5", "rk4"])
def test_times_that_single_precision_does_not_tell_apart_are_two(method, adjoint):
    times = torch.tensor([0.0, 0.5, 0.5 + 1e-9, 1.0], dtype=torch.float64)
    start = noise(4, 3).float().requires_grad_()
    found = at(Integral(Turning().float(), Solver(method, adjoint=adjoint)), start, times)
    gradients = [torch.autograd.grad(found[k].sum(), start, retain_graph=True)[0] for k in (1, 2)]
    assert_all_close([found[1], gradients[0]], [found[2], gradients[1]], 1e-5)


@either_gradient
def test_the_step_budget_is_that_of_all_times_together(adjoint):
    dynamics, times = Turning(), torch.linspace(0, 1, 11)
    start = start_of(dynamics)
    at(Integral(dynamics, Solver("rk4", max_steps=10, adjoint=adjoint)), start, times).sum().backward()
    failure = failure_of(at, Integral(dynamics, Solver("rk4", max_steps=9, adjoint=adjoint)), start, times)
    assert (failure.cause, failure.step) == ("step budget exceeded", 10)
    assert failure.time == pytest.approx(0.9)


def test_a_state_that_is_no_number_at_the_last_time_is_found():
    late = Given(lambda t, y: y * (math.nan if t > 1.5 else 1.0))
    integral = Integral(late, Solver("rk4", adjoint=False))
    failure = failure_of(at, integral, noise(1, 2), torch.tensor([0.0, 1.0, 2.0]))
    assert (failure.cause, failure.time) == ("state not finite", 2.0)


def entries_made(solver, times):
    """The entries of all tensors that a solution and its backpropagation make, outside of the dynamics."""
    dynamics, sizes = Turning(), []
    start = start_of(dynamics, rows=20)
    with Watching(lambda name, result: sizes.append(getattr(result, "numel", int)())):
        at(Integral(dynamics, solver), start, torch.linspace(0, 1, times, dtype=torch.float64)).sum().backward()
    return sum(sizes)


@pytest.mark.parametrize("solver", [Solver(adjoint=False), Solver("rk4", adjoint=False)], ids=["dopri5", "rk4"])
def test_backpropagation_through_many_times_is_linear_in_their_number(solver):
    """Where every time was written into one tensor, four times as many would cost sixteen times as much."""
    few, many = entries_made(solver, 30), entries_made(solver, 120)
    assert many < 4.5 * few, (few, many)


def test_an_interpolant_is_evaluated_at_all_times_of_its_step_at_once():
    """What is done with states does not depend on the number of times."""

    def operations(times):
        dynamics, sizes = Turning(), []
        start = start_of(dynamics)
        with Watching(lambda name, result: sizes.append(getattr(result, "numel", int)())):
            at(Integral(dynamics, Solver(adjoint=False)), start, torch.linspace(0, 1, times).double())
        return sum(size >= start.numel() for size in sizes if size != times)

    assert abs(operations(400) - operations(100)) < 20  # a small step without a time among the fewer is not evaluated


@pytest.mark.parametrize("solver", [Solver(adjoint=False), Solver("rk4", adjoint=False)], ids=["dopri5", "rk4"])
def test_of_many_series_no_tensor_holds_all_at_all_times(solver):
    dynamics, sizes, times = Turning(), [], torch.linspace(0, 1, 200, dtype=torch.float64)
    start = noise(2, 50, 3, seed=1).requires_grad_()
    offsets, series = rows_at(times, series=50)
    with Watching(lambda name, result: sizes.append(getattr(result, "numel", int)())):
        rows, end = Integral(dynamics, solver).of_rows(start, times, offsets, series)
        (rows.sum() + end.sum()).backward()
    assert max(sizes) <= max(rows.numel(), 7 * start.numel())  # the solver keeps seven rates of a step
