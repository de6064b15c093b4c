"""A state that flows between observations and jumps at them."""

from collections.abc import Callable

import torch
from torch import Tensor

from hidden_dynamics.models.continuous.integral import Integral, State


def flow_and_jump(
    integral: Integral, y: State, times: Tensor, jump: Callable[[int, State], State]
) -> tuple[State, State]:
    """y at these times, right before and right after it jumps: dy/dt = dynamics(t, y) between them, y+ = jump(n, y-) at
    the n-th.

    Args:
        integral: its solver solves each interval by itself, with its whole step budget; evaluations and failures are
            counted and named as those of any solution.
        y: at the first time, before its jump; a tensor, or a tuple of tensors.
        times: (N,), ascending or descending, no two alike.
        jump: gives a state of the shape of y; the state itself, where nothing happens at a time.

    Returns:
        before and after, (N, *y.shape) each; tuples of such tensors where y is one.

    Raises:
        SolverFailure, ValueError: as `Integral.at`.
    """
    before, after = [], []
    for place in range(len(times)):
        if place:
            y = _last(integral.at(after[-1], times[place - 1 : place + 1]))
        before.append(y)
        after.append(jump(place, y))
    return _stacked(before), _stacked(after)


def _last(states: State) -> State:
    return states[-1] if isinstance(states, Tensor) else tuple(part[-1] for part in states)


def _stacked(states: list[State]) -> State:
    if isinstance(states[0], Tensor):
        return torch.stack(states)
    return tuple(torch.stack(parts) for parts in zip(*states, strict=True))
