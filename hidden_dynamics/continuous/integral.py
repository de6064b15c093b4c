"""The solution of an initial value problem at one time, its function evaluations counted and its failures named."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torchdiffeq import odeint, odeint_adjoint

from hidden_dynamics.errors import SolverFailure

State = Tensor | tuple[Tensor, ...]
ADAPTIVE = ("dopri8", "dopri5", "bosh3", "fehlberg2", "adaptive_heun")
FIXED = ("euler", "midpoint", "heun2", "heun3", "rk4", "explicit_adams", "implicit_adams")


@dataclass(frozen=True)
class Solver:
    """How an initial value problem is solved.

    Attributes:
        method: of torchdiffeq: adaptive ("dopri5", ...) or with fixed steps ("rk4", ...).
        rtol, atol: relative and absolute tolerance of a step's error, forwards and backwards.
        adjoint: gradients from the adjoint problem, solved backwards in memory that does not depend on the number of
            steps (Chen et al. 2018); otherwise by backpropagation through the solver.
        max_steps: the step budget of one solution, forwards and again backwards; rejected steps count.
        step_size: of a method with fixed steps; None is one step.

    Raises:
        ValueError: a value is unknown or out of its range.
    """

    method: str = "dopri5"
    rtol: float = 1e-5
    atol: float = 1e-5
    adjoint: bool = True
    max_steps: int = 1000
    step_size: float | None = None

    def __post_init__(self) -> None:
        if self.method not in ADAPTIVE + FIXED:
            raise ValueError(f"the solver's method must be one of {', '.join(ADAPTIVE + FIXED)}, not {self.method!r}")
        if not (self.rtol > 0 and self.atol > 0):
            raise ValueError(f"the solver's tolerances must be above 0, not rtol {self.rtol} and atol {self.atol}")
        if type(self.max_steps) is not int or self.max_steps < 1:
            raise ValueError(f"the solver's max_steps must be a whole number above 0, not {self.max_steps!r}")
        if self.step_size is not None and (self.method in ADAPTIVE or not self.step_size > 0):
            raise ValueError("the solver's step_size must be above 0, and is for methods with fixed steps alone")


@dataclass
class FunctionEvaluations:
    """How often the dynamics were evaluated, by solutions forwards and by those of adjoint problems."""

    forward: int = 0
    backward: int = 0


class Integral(nn.Module):
    """y(1) of dy/dt = dynamics(t, y), y(0) given.

    Args:
        dynamics: a module; `dynamics(t, y)` has the shape of y. y may be a tuple of tensors: they share their steps,
            whose error is the root mean square over all entries.
        solver: how it is solved.
        evaluations: where evaluations are counted; several integrals may share it.
    """

    def __init__(self, dynamics: nn.Module, solver: Solver, evaluations: FunctionEvaluations | None = None):
        super().__init__()
        self.solver, self.evaluations = solver, evaluations or FunctionEvaluations()
        self.watched = _Watched(dynamics, solver.max_steps, self.evaluations)

    @property
    def dynamics(self) -> nn.Module:
        return self.watched.dynamics

    def forward(self, y: State) -> State:
        """y(1), of the shape of y(0).

        Raises:
            SolverFailure: the end could not be reached; where the adjoint problem could not be solved, backward()
                raises it.
        """
        first = y if isinstance(y, Tensor) else y[0]
        times = torch.tensor([0.0, 1.0], dtype=first.dtype, device=first.device)
        solve = odeint_adjoint if self.solver.adjoint and torch.is_grad_enabled() else odeint
        with self.watched.forwards():
            solution = solve(
                self.watched,
                y,
                times,
                rtol=self.solver.rtol,
                atol=self.solver.atol,
                method=self.solver.method,
                options=self._options(y),
            )
            end = solution[1] if isinstance(y, Tensor) else tuple(part[1] for part in solution)
            self.watched.check_end(end)
        return end

    def _options(self, y: State) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if self.solver.step_size is not None:
            options["step_size"] = self.solver.step_size
        if not isinstance(y, Tensor) and self.solver.method in ADAPTIVE:
            options["norm"] = _root_mean_square
        return options


class _Watched(nn.Module):
    """The dynamics as torchdiffeq sees them: every evaluation is counted, every step looked at before it is taken."""

    def __init__(self, dynamics: nn.Module, max_steps: int, evaluations: FunctionEvaluations):
        super().__init__()
        self.dynamics, self.max_steps, self.evaluations = dynamics, max_steps, evaluations
        self.forward_going, self.steps = False, 0

    def forwards(self) -> "_Forwards":
        return _Forwards(self)

    def forward(self, t: Tensor, y: State) -> State:
        if self.forward_going:
            self.evaluations.forward += 1
        else:
            self.evaluations.backward += 1
        return self.dynamics(t, y)

    def callback_step(self, t: Tensor, y: State, dt: Tensor) -> None:
        """torchdiffeq calls it before each step, accepted later or not."""
        self._look(t, y, dt, "forward")

    def callback_step_adjoint(self, t: Tensor, y: State, dt: Tensor) -> None:
        """The same for the adjoint problem, whose time runs from 1 to 0."""
        self._look(t, y, dt, "backward")

    def check_end(self, y: State) -> None:
        if not _is_finite(y):
            raise SolverFailure("state not finite", 1.0, self.steps, "forward")

    def _look(self, t: Tensor, y: State, dt: Tensor, during: str) -> None:
        self.steps += 1
        if not _is_finite(y) or dt == 0:  # torchdiffeq makes the step 0 where its error is not finite
            raise SolverFailure("state not finite", float(t), self.steps, during)
        if abs(t) + dt == abs(t):
            raise SolverFailure("step size underflow", float(t), self.steps, during)
        if self.steps > self.max_steps:
            raise SolverFailure("step budget exceeded", float(t), self.steps, during)


class _Forwards:
    """Within it, evaluations and steps belong to a solution forwards; after it, to its adjoint problem."""

    def __init__(self, watched: _Watched):
        self.watched = watched

    def __enter__(self) -> None:
        self.watched.forward_going, self.watched.steps = True, 0

    def __exit__(self, *_: object) -> None:
        self.watched.forward_going, self.watched.steps = False, 0


def _parts(y: State) -> Iterable[Tensor]:
    return (y,) if isinstance(y, Tensor) else y


def _is_finite(y: State) -> bool:
    """Where the sum of all entries is finite, all are: one pass and one number to wait for. It may also overflow."""
    total = sum(part.detach().sum() for part in _parts(y))
    return math.isfinite(total) or all(bool(torch.isfinite(part).all()) for part in _parts(y))


def _root_mean_square(y: State) -> Tensor:
    parts = list(_parts(y))
    return torch.sqrt(sum(part.square().sum() for part in parts) / sum(part.numel() for part in parts))
