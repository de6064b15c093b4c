# pyright: reportUnknownMemberType=false
"""The solution of an initial value problem, its function evaluations counted and its failures named."""

import contextlib
import functools
import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torchdiffeq import odeint, odeint_adjoint

from hidden_dynamics.errors import SolverFailure
from hidden_dynamics.models.continuous.many_times import RowsOfSeries, method_on, refined, stepped
from hidden_dynamics.models.solver import ADAPTIVE, Solver

State = Tensor | tuple[Tensor, ...]


@dataclass
class FunctionEvaluations:
    """Numbers of evaluations of the dynamics, in forward solutions and in those of adjoint problems."""

    forward: int = 0
    backward: int = 0


class Integral(nn.Module):
    """Solutions of dy/dt = dynamics(t, y), one value of y given.

    `integral(y)` is y(1) where y is y(0); `integral.of_rows(y, ...)` is y of single series of a batch at single times.

    Args:
        dynamics: a module (of anything else the adjoint problem gives no gradients); `dynamics(t, y)` has the shape of
            y. y may be a tuple of tensors of one type: they share their steps, whose error is the root mean square over
            all entries.
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
        """y(1), of the shape of y(0); a `SolverFailure` where it could not be reached, raised by backward() where the
        adjoint problem could not be solved."""
        whole, shapes = flattened(y)
        if not whole.numel():  # a batch of none
            return y
        times = torch.tensor([0.0, 1.0], dtype=whole.dtype, device=whole.device)
        if self.solver.adjoint and torch.is_grad_enabled():
            solution = self._with_adjoint(whole, times, shapes)
        else:
            with self.watched.forwards(shapes):
                solution = odeint(self.watched, whole, times, **self._arguments(whole))
                self.watched.check_end([solution], 1.0, "forward")
        return solution[1] if shapes is None else _parts(solution[1], shapes)

    def of_rows(self, y: State, times: Tensor, offsets: Tensor, series: Tensor) -> tuple[Tensor, Tensor]:
        """y of each row's series at the row's time, and of all series at the last time; y is given at the first.

        A method with fixed steps cuts the interval between two neighbouring times into the fewest equal steps of at
        most `step_size`. An adaptive one steps over the times and interpolates; with the adjoint problem, its backward
        solution stops at each. It costs what the steps cost and what is asked: without the adjoint problem, whose
        solution at all times is made first, no tensor has all series at all times, and backpropagation is linear in the
        rows. The step budget is that of the whole solution.

        Args:
            y: (K, N, d) of N series; or a tuple of tensors, of which the first is meant and all are solved together.
            times: (U,) float64 on the CPU, ascending, no two alike, U at least 1.
            offsets: (U + 1,) int64 on the CPU: the rows of time u are offsets[u] to offsets[u + 1] - 1.
            series: (R,) int64 on the device of y, the place of each row's series.

        Returns:
            (K, R, d) and (K, N, d).

        Raises:
            SolverFailure: a time could not be reached; where the adjoint problem could not be solved, backward() raises
                it.
            ValueError: y is of another shape; the times do not ascend; the offsets are no such rows, or (looked at on a
                CPU alone) there is no such series.
        """
        if not len(times) or not bool((times.diff() > 0).all() & times.isfinite().all()):
            raise ValueError("the times must be (U,), finite, and all ascend")
        (whole, shapes), first = flattened(y), y if isinstance(y, Tensor) else y[0]
        if first.ndim != 3:
            raise ValueError(f"y, or its first tensor, must be (K, N, d), not {tuple(first.shape)}")
        _check_rows(len(times), offsets, series, first.shape[1])
        rows = RowsOfSeries(first.shape, offsets.numpy().tolist(), series)
        times = times.to(whole.device)
        unmoved = len(times) == 1 or not whole.numel()
        if unmoved or (self.solver.adjoint and torch.is_grad_enabled()):
            whole = whole.expand(len(times), *whole.shape) if unmoved else self._with_adjoint(whole, times, shapes)
            solution = rows.of(whole)
            which = torch.repeat_interleave(torch.arange(len(times)), offsets.diff()).to(series.device)
            return solution[which, :, series].transpose(0, 1), solution[-1]
        with self.watched.forwards(shapes):
            pieces = stepped(self.watched, whole, times, rows, self._arguments(whole))
            self.watched.check_end([each for piece in pieces for each in piece], times[-1].item(), "forward")
        return torch.cat([rows for rows, _ in pieces], 1), pieces[-1][1]

    def _with_adjoint(self, y: Tensor, times: Tensor, shapes: Sequence[torch.Size] | None) -> Tensor:
        given = self._arguments(y)
        if y.is_cuda and self.solver.method in ADAPTIVE:
            learned = [parameter for parameter in self.parameters() if parameter.requires_grad]
            given |= {"adjoint_params": learned, "adjoint_options": given["options"] | {"norm": _largest_norm}}
        with self.watched.forwards(shapes):
            solution = odeint_adjoint(self.watched, y, times, **given)
            self.watched.check_end([solution], times[-1].item(), "forward")
        if solution.grad_fn is not None:
            start = times[0].item()

            def check_end(gradients: Sequence[Tensor | None], _: object) -> None:
                self.watched.check_end(gradients, start, "backward")

            solution.grad_fn.register_prehook(functools.partial(self.watched.start_backwards, shapes))
            solution.grad_fn.register_hook(check_end)
        return solution

    def _arguments(self, y: Tensor) -> dict[str, Any]:
        """Those of `odeint` that say how y is solved."""
        method = method_on(y.device, y.dtype, self.solver.method)
        options: dict[str, Any] = {}
        if self.solver.min_step is not None:
            options["min_step"] = self.solver.min_step
        if self.solver.step_size is not None:
            options["grid_constructor"] = functools.partial(refined, self.solver.step_size)
        return {"rtol": self.solver.rtol, "atol": self.solver.atol, "method": method, "options": options}


class _Watched(nn.Module):
    """The dynamics as torchdiffeq sees them: every evaluation is counted, every step looked at before it is taken.
    `shapes` are of the tensors in a state that is a tuple, which torchdiffeq sees as one vector; None for a tensor."""

    def __init__(self, dynamics: nn.Module, max_steps: int, evaluations: FunctionEvaluations):
        super().__init__()
        self.dynamics, self.max_steps, self.evaluations = dynamics, max_steps, evaluations
        self.shapes: Sequence[torch.Size] | None = None
        self.forward_going, self.steps = False, 0

    @contextlib.contextmanager
    def forwards(self, shapes: Sequence[torch.Size] | None) -> Generator[None, None, None]:
        """Count evaluations and steps as those of a solution forwards within the block."""
        self.shapes, self.forward_going, self.steps = shapes, True, 0
        try:
            yield
        finally:
            self.forward_going = False

    def start_backwards(self, shapes: Sequence[torch.Size] | None, _: object) -> None:
        """Count evaluations and steps as those of an adjoint problem from here on."""
        self.shapes, self.steps = shapes, 0

    def forward(self, t: Tensor, y: Tensor) -> Tensor:
        if self.forward_going:
            self.evaluations.forward += 1
        else:
            self.evaluations.backward += 1
        if self.shapes is None:
            rate = self.dynamics(t, y)
            _check_shapes([rate], [y.shape])
            return rate
        rates = self.dynamics(t, _parts(y, self.shapes))
        _check_shapes(rates, self.shapes)
        return torch.cat([part.flatten() for part in rates])

    def callback_step(self, t: Tensor, y: Tensor, dt: Tensor) -> None:
        """Called by torchdiffeq before each step, accepted later or not."""
        self._look(t.detach(), [y], dt, "forward")

    def callback_step_adjoint(self, t: Tensor, y: Sequence[Tensor], dt: Tensor) -> None:
        """Called likewise for the adjoint problem, whose time runs from the last time to the first."""
        self._look(t.detach(), y, dt, "backward")

    def check_end(self, results: Sequence[Tensor | None], time: float, during: str) -> None:
        """torchdiffeq may take a last step whose result is not finite, backwards too; None is no gradient."""
        if not _are_finite([result for result in results if result is not None]):
            raise SolverFailure("state not finite", time, self.steps, during)

    def _look(self, t: Tensor, y: Sequence[Tensor], dt: Tensor, during: str) -> None:
        self.steps += 1
        # Where the sum of all entries is finite, all of them are. It may also overflow.
        entries = functools.reduce(torch.add, (part.detach().sum() for part in y))
        looked_at = torch.stack([entries.double(), t.double(), dt.detach().double()])
        total, time, step = looked_at.cpu().numpy().tolist()  # a GPU waits but once
        # torchdiffeq makes the step 0 where its error is not finite.
        if step == 0 or not (math.isfinite(total) or _are_finite(y)):
            raise SolverFailure("state not finite", time, self.steps, during)
        if abs(time) + step == abs(time):
            raise SolverFailure("step size underflow", time, self.steps, during)
        if self.steps > self.max_steps:
            raise SolverFailure("step budget exceeded", time, self.steps, during)


def _largest_norm(parts: Sequence[Tensor]) -> Tensor:
    """The largest root mean square of the adjoint state's parts: torchdiffeq's norm of it, which would wait for a GPU
    once for each part, to compare them."""
    norms: list[Tensor] = [torch.linalg.vector_norm(part) / math.sqrt(max(part.numel(), 1)) for part in parts]
    return torch.stack(norms).max()


def _check_shapes(rates: Sequence[Tensor], shapes: Sequence[torch.Size]) -> None:
    """A ValueError where the dynamics do not give dy/dt in the shapes of y."""
    found = [rate.shape for rate in rates]
    if found != list(shapes):
        needed, given = (", ".join(str(tuple(shape)) for shape in each) for each in (shapes, found))
        raise ValueError(f"the dynamics (f before g, of two) must give dy/dt in the shapes of y, {needed}, not {given}")


def _check_rows(times: int, offsets: Tensor, series: Tensor, size: int) -> None:
    """A ValueError where the rows are none of `Integral.of_rows`."""
    rows = len(series)
    if len(offsets) != times + 1 or offsets[0] != 0 or offsets[-1] != rows or (offsets.diff() < 0).any():
        raise ValueError(
            f"offsets must be ({times + 1},) and go from 0 to {rows}, the rows, not {[*map(int, offsets)]}"
        )
    if rows and series.device.type == "cpu" and not 0 <= series.min() <= series.max() < size:
        raise ValueError(f"series must lie in [0, {size}), not in [{series.min()}, {series.max()}]")


def flattened(y: State) -> tuple[Tensor, list[torch.Size] | None]:
    """y as torchdiffeq sees it, and the shapes of its parts: of a tuple, one vector; None of a tensor, as it is."""
    if isinstance(y, Tensor):
        return y, None
    return torch.cat([part.flatten() for part in y]), [part.shape for part in y]


def _parts(y: Tensor, shapes: Sequence[torch.Size]) -> tuple[Tensor, ...]:
    """The tensors of these shapes that lie in y, (..., sum of their sizes), one after another: (..., *shape) each."""
    each = zip(y.split_with_sizes([shape.numel() for shape in shapes], -1), shapes, strict=True)
    return tuple(part.reshape(*y.shape[:-1], *shape) for part, shape in each)


def _are_finite(tensors: Sequence[Tensor]) -> bool:
    return all(bool(torch.isfinite(tensor).all()) for tensor in tensors)
