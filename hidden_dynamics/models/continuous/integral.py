"""The solution of an initial value problem at one time, its function evaluations counted and its failures named."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torchdiffeq import odeint, odeint_adjoint

from hidden_dynamics.errors import SolverFailure
from hidden_dynamics.models.solver import Solver

State = Tensor | tuple[Tensor, ...]


@dataclass
class FunctionEvaluations:
    """Numbers of evaluations of the dynamics, in forward solutions and in those of adjoint problems."""

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
        if isinstance(y, Tensor):
            return self._solve(y, None)
        shapes = [part.shape for part in y]
        return _parts(self._solve(torch.cat([part.flatten() for part in y]), shapes), shapes)

    def _solve(self, y: Tensor, shapes: Sequence[torch.Size] | None) -> Tensor:
        adjoint = self.solver.adjoint and torch.is_grad_enabled()
        with self.watched.forwards(shapes):
            solution = (odeint_adjoint if adjoint else odeint)(
                self.watched,
                y,
                torch.tensor([0.0, 1.0], dtype=y.dtype, device=y.device),
                rtol=self.solver.rtol,
                atol=self.solver.atol,
                method=self.solver.method,
                options={} if self.solver.step_size is None else {"step_size": self.solver.step_size},
            )
            self.watched.check_end(solution[1:], 1.0, "forward")
        if adjoint and solution.grad_fn is not None:
            solution.grad_fn.register_prehook(lambda _: self.watched.start_backwards(shapes))
            solution.grad_fn.register_hook(lambda found, _: self.watched.check_end(found, 0.0, "backward"))
        return solution[1]


class _Watched(nn.Module):
    """The dynamics as torchdiffeq sees them: every evaluation is counted, every step looked at before it is taken.

    Attributes:
        shapes: of the tensors in a state that is a tuple, which torchdiffeq sees as one vector; None for a tensor.
    """

    def __init__(self, dynamics: nn.Module, max_steps: int, evaluations: FunctionEvaluations):
        super().__init__()
        self.dynamics, self.max_steps, self.evaluations = dynamics, max_steps, evaluations
        self.shapes: Sequence[torch.Size] | None = None
        self.forward_going, self.steps = False, 0

    @contextlib.contextmanager
    def forwards(self, shapes: Sequence[torch.Size] | None) -> Iterator[None]:
        """Within it, evaluations and steps belong to a solution forwards."""
        self.shapes, self.forward_going, self.steps = shapes, True, 0
        try:
            yield
        finally:
            self.forward_going = False

    def start_backwards(self, shapes: Sequence[torch.Size] | None) -> None:
        """From here on, they belong to an adjoint problem."""
        self.shapes, self.steps = shapes, 0

    def forward(self, t: Tensor, y: Tensor) -> Tensor:
        if self.forward_going:
            self.evaluations.forward += 1
        else:
            self.evaluations.backward += 1
        if self.shapes is None:
            return self.dynamics(t, y)
        return torch.cat([part.flatten() for part in self.dynamics(t, _parts(y, self.shapes))])

    def callback_step(self, t: Tensor, y: Tensor, dt: Tensor) -> None:
        """torchdiffeq calls it before each step, accepted later or not."""
        self._look(t.detach(), [y], dt, "forward")

    def callback_step_adjoint(self, t: Tensor, y: Sequence[Tensor], dt: Tensor) -> None:
        """The same for the adjoint problem, whose time runs from 1 to 0."""
        self._look(t.detach(), y, dt, "backward")

    def check_end(self, results: Sequence[Tensor | None], time: float, during: str) -> None:
        """torchdiffeq may take a last step whose result is not finite, backwards too; None is no gradient."""
        if not _are_finite([result for result in results if result is not None]):
            raise SolverFailure("state not finite", time, self.steps, during)

    def _look(self, t: Tensor, y: Sequence[Tensor], dt: Tensor, during: str) -> None:
        self.steps += 1
        total, time, step = torch.stack([_total(y).double(), t.double(), dt.double()]).tolist()  # a GPU waits but once
        # torchdiffeq makes the step 0 where its error is not finite.
        if step == 0 or not (math.isfinite(total) or _are_finite(y)):
            raise SolverFailure("state not finite", time, self.steps, during)
        if abs(time) + step == abs(time):
            raise SolverFailure("step size underflow", time, self.steps, during)
        if self.steps > self.max_steps:
            raise SolverFailure("step budget exceeded", time, self.steps, during)


def _parts(y: Tensor, shapes: Sequence[torch.Size]) -> tuple[Tensor, ...]:
    """The tensors of these shapes that lie in y, (sum of their sizes,), one after another."""
    return tuple(
        part.view(shape) for part, shape in zip(y.split([shape.numel() for shape in shapes]), shapes, strict=True)
    )


def _total(tensors: Sequence[Tensor]) -> Tensor:
    """The sum of all entries: where it is finite, all of them are. It may also overflow."""
    return sum(tensor.detach().sum() for tensor in tensors)


def _are_finite(tensors: Sequence[Tensor]) -> bool:
    return all(bool(torch.isfinite(tensor).all()) for tensor in tensors)
