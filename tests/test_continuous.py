"""Initial value problems: closed forms, gradients, counts, failures; pairs that evolve together; their convolutions."""

import math

import pytest
import torch
from cases import assert_all_close, noise
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torchdiffeq import odeint

from hidden_dynamics.errors import SolverFailure
from hidden_dynamics.models.continuous.co_evolving import CoEvolving
from hidden_dynamics.models.continuous.convolution import TimeConv2d, group_norm
from hidden_dynamics.models.continuous.integral import Integral
from hidden_dynamics.models.solver import ADAPTIVE, FIXED, Solver

SOLVERS = {"dopri5": {"rtol": 1e-8, "atol": 1e-8}, "rk4": {"method": "rk4", "step_size": 1 / 40}}
either_gradient = pytest.mark.parametrize("adjoint", [True, False], ids=["adjoint", "backpropagation"])


class Rate(nn.Module):
    """dy/dt = function(t, y), of a tensor or a tuple, counting itself; `weight` is 1."""

    def __init__(self, function):
        super().__init__()
        self.function, self.calls = function, 0
        self.weight = nn.Parameter(torch.ones((), dtype=torch.float64))

    def forward(self, t, y):
        self.calls += 1
        rates = self.function(t, y)
        return tuple(self.weight * r for r in rates) if isinstance(rates, tuple) else self.weight * rates


def leaves(*tensors):
    return [tensor.clone().requires_grad_() for tensor in tensors]


def found_of(outputs, wanted, seed=7):
    """Values, and the gradients of one random linear map of them."""
    loss = sum((output * noise(*output.shape, seed=seed + k)).sum() for k, output in enumerate(outputs))
    return [*(output.detach() for output in outputs), *torch.autograd.grad(loss, wanted)]


class Map(nn.Module):
    """x -> x M^T, at any time."""

    def __init__(self, rows, columns, seed):
        super().__init__()
        self.matrix = nn.Parameter(noise(rows, columns, seed=seed))

    def forward(self, t, x):
        return x @ self.matrix.t()


@pytest.mark.parametrize("solver", SOLVERS)
@either_gradient
def test_a_linear_pair_with_a_linear_rule_ends_at_the_matrix_exponential(solver, adjoint):
    """h' = h R^T + a S^T: with f = F and g = G, (h, a) has the matrix [[F R, F S], [G R, G S]]."""
    f, g = Map(3, 2, 1), Map(4, 2, 2)
    r, s = noise(2, 3, seed=3), noise(2, 4, seed=4)
    h, a = leaves(noise(5, 3, seed=5), noise(5, 4, seed=6))
    pair = CoEvolving(f, g, lambda h, a: h @ r.t() + a @ s.t())
    whole = torch.matrix_exp(torch.cat([f.matrix, g.matrix]) @ torch.cat([r, s], 1))
    expected = (torch.cat([h, a], 1) @ whole.t()).split([3, 4], 1)
    ends = Integral(pair, Solver(**SOLVERS[solver], adjoint=adjoint))((h, a))
    wanted = [h, a, f.matrix, g.matrix]
    assert_all_close(found_of(ends, wanted), found_of(expected, wanted), 1e-5)


@pytest.mark.parametrize(
    "solver",
    [Solver(), Solver(adjoint=False), Solver("rk4", step_size=0.1), Solver("euler", adjoint=False), Solver("bosh3")],
    ids=str,
)
def test_evaluations_are_counted_as_they_happen_forwards_and_backwards(solver):
    dynamics = Rate(lambda t, y: torch.sin(5 * y) + t)
    integral = Integral(dynamics, solver)
    end = integral(noise(3, 2).requires_grad_())
    forward, evaluations = dynamics.calls, integral.evaluations
    end.sum().backward()
    assert (evaluations.forward, evaluations.backward) == (forward, dynamics.calls - forward)
    assert forward > 0 and (evaluations.backward > 0) == solver.adjoint


def test_without_gradients_only_the_solution_forwards_is_counted_and_it_is_the_same():
    dynamics = Rate(lambda t, y: torch.sin(5 * y) + t)
    integral = Integral(dynamics, Solver())
    with_gradients = integral(noise(3, 2))
    once = integral.evaluations.forward
    with torch.no_grad():
        end = integral(noise(3, 2))
    assert torch.equal(end, with_gradients) and not end.requires_grad
    assert (integral.evaluations.forward, integral.evaluations.backward) == (2 * once, 0) == (dynamics.calls, 0)


def oscillation(parts):
    """(1,) that is hard, among many that are easy; as one tensor or as two."""

    def function(t, y):
        hard, easy = (y[:1], y[1:]) if parts == 1 else y
        rates = 5 * torch.cos(9 * t) * torch.ones_like(hard) - hard, -easy
        return torch.cat(rates) if parts == 1 else rates

    return function


@pytest.mark.parametrize(("seed", "easy", "exponent"), [(0, 60, 3), (1, 30, 4), (2, 80, 5)])
def test_a_tuple_is_solved_as_its_entries_in_one_tensor_would_be(seed, easy, exponent):
    """Its error is the root mean square over all entries: the largest over the parts would need more evaluations."""
    tolerances = {"rtol": 10.0**-exponent, "atol": 10.0**-exponent}
    start, found, evaluations = noise(1 + easy, seed=seed), [], []
    for parts in (1, 2):
        dynamics, y = Rate(oscillation(parts)), start.clone().requires_grad_()
        integral = Integral(dynamics, Solver(**tolerances))
        end = integral(y if parts == 1 else (y[:1], y[1:]))
        end = end if parts == 1 else torch.cat(end)
        found.append(found_of([end], [y, dynamics.weight]))
        evaluations.append((integral.evaluations.forward, integral.evaluations.backward))
    assert_all_close(*found, 1e-10)
    assert evaluations[0] == evaluations[1]
    mixed = Rate(oscillation(2))
    with torch.no_grad():
        odeint(mixed, (start[:1], start[1:]), torch.tensor([0.0, 1.0]).double(), method="dopri5", **tolerances)
    assert mixed.calls > evaluations[1][0]


@either_gradient
@pytest.mark.parametrize("method", ADAPTIVE + FIXED)
def test_every_method_solves_a_batch_of_one_in_the_precision_that_it_is_moved_to(method, adjoint):
    """h' = h a, f = alpha, g = 0: h(1) = exp(alpha a) h. Moved by .to, as to another device."""
    fixed = {} if method in ADAPTIVE else {"step_size": 1 / 100}
    loose = {"euler": 3e-2, "bosh3": 1e-3, "adaptive_heun": 1e-3, "fehlberg2": 1e-3}.get(method, 2e-4)
    pair = CoEvolving(Rate(lambda t, x: 0.7 * x), Rate(lambda t, x: 0 * x), torch.mul)
    integral = Integral(pair, Solver(method, 1e-6, 1e-6, adjoint, **fixed))
    wanted = [h, a] = leaves(noise(1, 3, seed=1), noise(1, 3, seed=2))
    for dtype in (torch.float32, torch.float64):
        ends = integral.to(dtype)((h.to(dtype), a.to(dtype)))
        assert {end.dtype for end in ends} == {parameter.dtype for parameter in integral.parameters()} == {dtype}
        expected = ((0.7 * a).exp() * h, a)
        assert_all_close(found_of([end.double() for end in ends], wanted), found_of(expected, wanted), loose)


@pytest.mark.parametrize("method", ["dopri5", "rk4"])
def test_a_batch_of_none_stays_as_it_is(method):
    integral = Integral(CoEvolving(Map(2, 2, 1), Map(2, 2, 3)), Solver(method))
    h, a = integral((noise(0, 2), noise(0, 2)))
    assert h.shape == a.shape == (0, 2)
    none, start = torch.zeros(0, dtype=torch.int64), noise(1, 0, 2)
    rows, end = integral.of_rows((start, start), torch.linspace(0, 1, 3), torch.zeros(4, dtype=torch.int64), none)
    assert rows.shape == end.shape == start.shape


def failing(dynamics, solver, start=None):
    start = torch.tensor([2.0, 0.5], dtype=torch.float64) if start is None else start
    return failure_of(lambda: Integral(dynamics, solver)(start))


def failure_of(function, *arguments):
    with pytest.raises(SolverFailure) as caught:
        function(*arguments)
    return caught.value


@either_gradient
@pytest.mark.parametrize(
    "function",
    [lambda t, y: y**2, lambda t, y: 1 / (1 - 2 * t) ** 2 + 0 * y],
    ids=["the state is infinite at t = 1/2", "the rate is infinite at t = 1/2"],
)
def test_a_solution_that_ends_before_its_time_has_its_step_underflow_there(function, adjoint):
    failure = failing(Rate(function), Solver(adjoint=adjoint))
    assert (failure.cause, failure.during) == ("step size underflow", "forward")
    assert failure.time == pytest.approx(0.5, abs=1e-4) and 10 < failure.step < 1000
    assert str(failure) == f"step size underflow at t = {failure.time:.6g}, step {failure.step} (forward)"


@either_gradient
def test_a_shortest_step_goes_on_where_the_step_would_underflow(adjoint):
    y = torch.ones(1, 1, dtype=torch.float64, requires_grad=True)
    solver = Solver(adjoint=adjoint, min_step=1e-3)
    end = Integral(Rate(lambda t, y: 1 / (1 - 2 * t).abs().clamp(min=1e-9) + 0 * y), solver)(y)
    end.sum().backward()
    assert end.isfinite().all() and y.grad.isfinite().all()


def steps_of(evaluations):
    """dopri5: two to choose the first step, six for every step, accepted or not."""
    assert (evaluations - 2) % 6 == 0
    return (evaluations - 2) // 6


@pytest.mark.parametrize("start", [noise(3), (noise(3), noise(2))], ids=["tensor", "tuple"])
def test_the_budget_is_of_the_steps_that_are_made_rejected_ones_too_forwards_and_again_backwards(start):
    """The solution decays, and grows where time runs backwards: that takes more steps."""

    def rate(t, y):
        return -9 * y if isinstance(y, torch.Tensor) else tuple(-9 * part for part in y)

    def solve(max_steps):
        torch.manual_seed(0)
        integral = Integral(Rate(rate), Solver(max_steps=max_steps))
        end = integral(start)
        end = end if isinstance(end, torch.Tensor) else torch.cat(end)
        end.sum().backward()
        return integral.evaluations

    forward, backward = (steps_of(count) for count in vars(solve(1000)).values())
    assert 1 < forward < backward
    assert vars(solve(backward)) == vars(solve(1000))  # just met, backwards
    for budget, during in ((forward - 1, "forward"), (forward, "backward"), (backward - 1, "backward")):
        failure = failure_of(solve, budget)
        assert (failure.cause, failure.step, failure.during) == ("step budget exceeded", budget + 1, during)
        assert 0 < failure.time < 1


@pytest.mark.parametrize(
    ("solver", "times", "steps"),
    [
        (Solver(), (0.0, 0.5), (2, 20)),
        (Solver(adjoint=False), (0.0, 0.5), (2, 20)),
        (Solver("rk4", step_size=0.25), (0.75, 0.75), (4, 4)),
        (Solver("rk4"), (1.0, 1.0), (1, 1)),
        (Solver("rk4", step_size=0.5, adjoint=False), (1.0, 1.0), (2, 2)),
    ],
    ids=str,
)
def test_dynamics_that_are_no_number_after_half_of_the_time_are_found_there(solver, times, steps):
    failure = failing(Rate(lambda t, y: -y if t <= 0.5 else y * math.nan), solver)
    assert (failure.cause, failure.during) == ("state not finite", "forward")
    assert times[0] <= failure.time <= times[1] and steps[0] <= failure.step <= steps[1]


@pytest.mark.parametrize("solver", [Solver(), Solver("rk4"), Solver("rk4", step_size=0.25, adjoint=False)], ids=str)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [0, 1])
def test_an_initial_state_that_is_not_finite_is_found_at_once(solver, value, place):
    state = [noise(2, 2), noise(2, 3)]
    state[place][1, 1] = value
    pair = CoEvolving(Map(2, 2, 1), Map(3, 2, 2), lambda h, a: h)
    failure = failing(pair, solver, tuple(state))
    assert (failure.cause, failure.time, failure.step) == ("state not finite", 0.0, 1)
    assert failure.during == "forward"


class Rough(nn.Module):
    """dy/dt = -w y, whose derivatives are no numbers before `until`."""

    def __init__(self, until=0.5):
        super().__init__()
        self.weight, self.rough, self.until = nn.Parameter(torch.ones((), dtype=torch.float64)), True, until

    def forward(self, t, y):
        rate = -self.weight * y
        if self.rough and rate.requires_grad and t < self.until:
            rate.register_hook(lambda gradient: gradient * math.nan)
        return rate


@pytest.mark.parametrize(
    ("until", "solver", "times", "steps"),
    [
        (0.5, Solver(), (0.0, 0.6), (2, 20)),
        (0.5, Solver("rk4", step_size=0.25), (0.25, 0.25), (4, 4)),
        *((0.01, solver, (0, 0.99), (1, 20)) for solver in (Solver(), Solver("rk4"), Solver("rk4", step_size=0.25))),
    ],
    ids=str,
)
def test_an_adjoint_problem_that_fails_says_so_where_the_gradients_are_asked_for(until, solver, times, steps):
    """One that fails in its last step is not taken for solved either."""
    dynamics, (start,) = Rough(until), leaves(noise(3))
    failure = failure_of(Integral(dynamics, solver)(start).sum().backward)
    assert (failure.cause, failure.during) == ("state not finite", "backward")
    assert times[0] <= failure.time <= times[1] and steps[0] <= failure.step <= steps[1]
    assert dynamics.weight.grad is None and start.grad is None


def test_a_solution_that_failed_leaves_the_counter_and_the_next_solution_in_order():
    def solve(integral):
        (start,) = leaves(noise(3))
        before = vars(integral.evaluations).copy()
        end = integral(start)
        end.sum().backward()
        counts = {key: value - before[key] for key, value in vars(integral.evaluations).items()}
        return end.detach(), start.grad, counts

    dynamics = Rough()
    dynamics.rough = False
    fresh = solve(Integral(dynamics, Solver(max_steps=20)))
    integral = Integral(dynamics, Solver(max_steps=20))
    for _ in range(3):
        assert failure_of(integral, torch.full((3,), math.nan, dtype=torch.float64)).during == "forward"
        dynamics.rough = True
        assert failure_of(solve, integral).during == "backward"
        dynamics.rough = False
        again = solve(integral)
        assert torch.equal(again[0], fresh[0]) and torch.equal(again[1], fresh[1]) and again[2] == fresh[2]


def test_several_solutions_have_a_budget_each_backwards_too():
    """All are made before the gradients of any."""

    def solve(max_steps, solutions):
        integral = Integral(Rate(lambda t, y: -9 * y), Solver(max_steps=max_steps))
        sum(integral(noise(3, seed=k)).sum() for k in range(solutions)).backward()
        return integral.evaluations

    needed = max(steps_of(count) for k in range(6) for count in vars(solve(1000, 1)).values())
    once, all_ = solve(needed, 1), solve(needed, 6)
    assert all_.forward > 5 * once.forward and all_.backward > 5 * once.backward


@given(st.integers(1, 6), st.integers(1, 7), st.integers(1, 7), st.floats(-2, 2), st.integers(0, 10**6))
def test_a_convolution_with_time_is_one_of_the_time_and_the_channels_after_it(channels, height, width, t, seed):
    torch.manual_seed(seed)
    ours = TimeConv2d(channels).double()
    stock = nn.Conv2d(1 + channels, channels, 3, padding=1).double()
    stock.load_state_dict(ours.state_dict())
    x, t = leaves(noise(2, channels, height, width, seed=seed), torch.tensor(t, dtype=torch.float64))
    expected = stock(torch.cat([t * torch.ones_like(x[:, :1]), x], 1))
    pairs = ((ours(t, x), ours), (expected, stock))
    assert_all_close(*(found_of([output], [x, t, module.weight, module.bias]) for output, module in pairs), 1e-12)


@pytest.mark.parametrize(("channels", "groups"), [(64, 32), (128, 32), (69, 23), (8, 4), (16, 8), (37, 1), (1, 1)])
def test_norms_have_32_groups_or_the_most_below_of_at_least_two_channels_each(channels, groups):
    norm = group_norm(channels)
    assert (norm.num_channels, norm.num_groups) == (channels, groups)
