"""A state that flows and jumps, and the step of a GRU, as networks of irregular series need them."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import torch
from torch import Tensor, nn

State = TypeVar("State")


def encode(
    state: State,
    jumps: Iterable[int],
    steps: int,
    flow: Callable[[State, int, int], State],
    jump: Callable[[State, int], State],
) -> State:
    """The state after all steps and jumps, given that at the start.

    Args:
        jumps: how many of the steps come before each jump, ascending.
        flow: `flow(state, first, end)` takes the steps `first` to `end` - 1.
        jump: `jump(state, number)` is the jump of that number.
    """
    done = 0
    for number, before in enumerate(jumps):
        if before > done:
            state = flow(state, done, before)
        state, done = jump(state, number), before
    return flow(state, done, steps) if steps > done else state


def gru_step(cell: nn.GRUCell, of_input: Tensor, h: Tensor) -> Tensor:
    """The cell's next h, (N, H), given its input's share of the gates r, z and n, (N, 3 H)."""
    return gated(of_input, torch.addmm(cell.bias_hh, h, cell.weight_hh.t()), h)


def gated(of_input: Tensor, of_state: Tensor, h: Tensor) -> Tensor:
    """A GRU's step from h, (N, H), given the shares of its input and of h in the gates r, z and n, (N, 3 H) each."""
    sizes = [2 * h.shape[1], h.shape[1]]
    (of_gates, of_n), (gates, n) = (each.split_with_sizes(sizes, 1) for each in (of_input, of_state))
    r, z = torch.sigmoid(of_gates + gates).chunk(2, 1)
    return torch.lerp(torch.tanh(torch.addcmul(of_n, r, n)), h, z)
