"""The solution of an initial value problem at many times: the solver's few steps, and what is read of each.

Of torchdiffeq this uses what is private to it, its solvers' classes and single steps, and no other file does. Hence
pyproject.toml pins its version, by which the tests hold this to `odeint`.
"""

# pyright: reportPrivateUsage=false, reportUnknownMemberType=false

import bisect
import functools
from itertools import pairwise
from typing import Any, cast

import torch
from torch import Tensor, nn
from torchdiffeq._impl.misc import _check_inputs
from torchdiffeq._impl.odeint import SOLVERS
from torchdiffeq._impl.rk_common import RKAdaptiveStepsizeODESolver
from torchdiffeq._impl.rk_common import _RungeKuttaState as Step
from torchdiffeq._impl.solvers import FixedGridODESolver


class RowsOfSeries:
    """Reads each row's series at the row's time: pieces of (K, rows, d), each with y of all series at its last time.

    `shape` is (K, N, d), of y or of the first part of it; `offsets` are of the rows of each time, `series`, (R,), the
    rows'.
    """

    def __init__(self, shape: torch.Size, offsets: list[int], series: Tensor):
        self.shape, self.offsets, self.series = shape, offsets, series

    def of(self, y: Tensor) -> Tensor:
        """The first part of y, (..., K, N, d)."""
        if y.shape[-3:] == self.shape:
            return y
        return torch.unflatten(y[..., : self.shape.numel()], -1, self.shape)

    def at(self, y: Tensor, place: int) -> tuple[Tensor, Tensor]:
        """The rows of y at time number `place`, and all series of y."""
        y = self.of(y)
        return y.index_select(1, self.series[self.offsets[place] : self.offsets[place + 1]]), y

    def within(self, step: Step, times: Tensor, first: int) -> tuple[Tensor, Tensor]:
        """The step's interpolant at `times`, which start at number `first` of all times: their rows, and all series at
        the last."""
        offsets = self.offsets[first : first + len(times) + 1]
        series = self.series[offsets[0] : offsets[-1]]
        counts = torch.tensor(offsets, device=times.device).diff()
        x = ((times - step.t0) / (step.t1 - step.t0)).to(step.y1.dtype)
        each = torch.repeat_interleave(x, counts, output_size=len(series)).unsqueeze(1)
        *others, last = [self.of(coefficient) for coefficient in step.interp_coeff]
        rows, end = last.index_select(1, series), last
        for coefficient in reversed(others):
            rows, end = rows * each + coefficient.index_select(1, series), end * x[-1] + coefficient
        return rows, end


def stepped(
    dynamics: nn.Module, y: Tensor, times: Tensor, rows: RowsOfSeries, arguments: dict[str, Any]
) -> list[tuple[Tensor, Tensor]]:
    """The solution at two ascending times or more, in pieces, by backpropagation through the solver; `arguments` are
    rtol, atol, method and options of `odeint`.

    odeint would write every time into one tensor, in place: backpropagation through that copies the whole tensor once
    for each time. Its solvers are run here instead, and what they give is put together once.
    """
    _, func, y, times, rtol, atol, method, options, _, _ = _check_inputs(
        dynamics, y, times, **arguments, event_fn=None, SOLVERS=SOLVERS
    )
    solver = SOLVERS[method](func=func, y0=y, rtol=rtol, atol=atol, **options)
    if isinstance(solver, RKAdaptiveStepsizeODESolver):
        return _adaptive_at(solver, times, rows)
    return _fixed_at(solver, times, rows)


@functools.cache
def method_on(device: torch.device, dtype: torch.dtype, method: str) -> str:
    """The name by which torchdiffeq then knows this method for y of that device and type.

    On a GPU, an adaptive one has its constants there once, not for each solution, and the stages' times on the CPU,
    which compares each of them with 1 in every step and would wait for it.
    """
    if device.type != "cuda" or not issubclass(SOLVERS[method], RKAdaptiveStepsizeODESolver):
        return method
    plain: Any = SOLVERS[method]
    stages: Tensor = plain.tableau.alpha

    def there(part: Any) -> Any:
        return [*map(there, cast(list[Any], part))] if isinstance(part, list) else part.to(device, dtype)

    class OnGPU(plain):
        tableau, mid = type(plain.tableau)(*map(there, plain.tableau)), there(plain.mid)

        def __init__(self, *arguments: Any, **options: Any):
            super().__init__(*arguments, **options)
            self.tableau: Any = self.tableau._replace(alpha=stages.to(dtype))

    name = f"{method} on {device} for {dtype}"
    SOLVERS[name] = OnGPU
    return name


def _fixed_at(solver: FixedGridODESolver, times: Tensor, rows: RowsOfSeries) -> list[tuple[Tensor, Tensor]]:
    """The solution at times that are all in the solver's grid."""
    grid, y = solver.grid_constructor(solver.func, solver.y0, times), solver.y0
    pieces = [rows.at(y, 0)]
    # Read once: at each step, a GPU would be waited for.
    ends, reached = (cast(list[float], each.tolist()) for each in (times, grid[1:]))
    for (start, end), here in zip(pairwise(grid), reached, strict=True):
        solver.func.callback_step(start, y, end - start)
        y = y + solver._step_func(solver.func, start, end - start, end, y)[0]
        if here >= ends[len(pieces)]:
            pieces.append(rows.at(y, len(pieces)))
    return pieces


def _adaptive_at(solver: RKAdaptiveStepsizeODESolver, times: Tensor, rows: RowsOfSeries) -> list[tuple[Tensor, Tensor]]:
    """The solution by an adaptive method: an accepted step's interpolant is read at all times in it at once."""
    times = times.to(solver.dtype)
    solver._before_integrate(times)
    state, pieces, done = solver.rk_state, [rows.at(solver.y0, 0)], 1
    ends: list[float] = times.detach().cpu().numpy().tolist()
    while done < len(ends):
        state = solver._adaptive_step(state)
        reached = bisect.bisect_right(ends, state.t1.item())
        if reached > done:
            pieces.append(rows.within(state, times[done:reached], done))
            done = reached
    return pieces


def refined(step_size: float, _: object, __: object, times: Tensor) -> Tensor:
    """The times, and between two neighbours the ends of the fewest equal steps of at most step_size; either way."""
    gaps = times.diff()
    # A step longer by less than rounding is the step that was asked for.
    counts = (gaps.abs() / step_size - 1e-6 * (gaps.abs() / step_size).clamp(min=1)).ceil().long().clamp(min=1)
    interval = torch.repeat_interleave(torch.arange(len(gaps), device=times.device), counts)
    within = torch.arange(len(interval), device=times.device) - (counts.cumsum(0) - counts)[interval]
    # The first of an interval's steps starts at the time itself: within is 0 there.
    return torch.cat([times[interval] + gaps[interval] * (within / counts[interval]).to(times), times[-1:]])
