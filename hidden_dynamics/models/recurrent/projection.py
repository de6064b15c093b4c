"""filter(W x + b) for a filter that does not commute with the linear map; only the result is kept of its size."""

import functools
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import functional

from hidden_dynamics.models.followed import differentiable, followed
from hidden_dynamics.models.momentum.filters import InputFilter

# Elements of a block of steps. A few such arrays fit into the cache of a CPU; on a GPU it is enough work to hide the
# launches.
CPU_BLOCK, GPU_BLOCK = 2**19, 2**24


def filtered_projection(
    x: Tensor, weight: Tensor, bias: Tensor, filter: InputFilter, state: tuple[Tensor, ...] | None = None
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """In blocks of steps; backward computes each block again.

    Args:
        x: (T, batch, d).
        weight: W, (channels, d).
        bias: b, (channels,).
        filter: of hidden_dynamics.models.momentum.filters; its state is a tuple of tensors (batch, channels).
        state: the filter's state before the first step; None is the start.

    Returns:
        filter(W x + b), (T, batch, channels), and the filter's state after the last step.
    """
    run = cast(Callable[..., tuple[Tensor, ...]], _project_and_filter if followed() else _InBlocks.apply)
    y, *end = run(filter, x, weight, bias, *(state or ()))
    return y, tuple(end)


class _InBlocks(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, filter: InputFilter, x: Tensor, weight: Tensor, bias: Tensor, *state: Tensor):
        y, kept = x.new_empty(*x.shape[:2], len(weight)), list[Tensor]()
        ctx.save_for_backward(x, weight, bias, *state)
        for index, times in enumerate(blocks := _blocks(y)):
            y[times], *end = _project_and_filter(filter, x[times], weight, bias, *state)
            if not kept:  # at once, not in between what each block allocates and frees
                kept = [part.new_empty(len(blocks), *part.shape) for part in end]
            for whole, part in zip(kept, end, strict=True):
                whole[index] = part
            state = tuple(whole[index] for whole in kept)
        ctx.filter, ctx.starts = filter, [whole[:-1] for whole in kept]
        return y, *(part.clone() for part in state)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor):
        dy, *d_state = gradients
        x, weight, bias, *first = ctx.saved_tensors
        if torch.is_grad_enabled():
            whole = functools.partial(_project_and_filter, ctx.filter)
            return None, *differentiable(whole, ctx.saved_tensors, gradients, ctx.needs_input_grad[1:])
        dx = torch.empty_like(x) if ctx.needs_input_grad[1] else None
        d_weight, d_bias = torch.zeros_like(weight), torch.zeros_like(bias)
        for times, start in reversed(list(zip(_blocks(dy), (first, *zip(*ctx.starts, strict=True)), strict=True))):
            x_block = x[times].detach().requires_grad_(dx is not None)
            leaves = [part.detach().requires_grad_() for part in (weight, bias, *start)]
            with torch.enable_grad():
                y, *end = _project_and_filter(ctx.filter, x_block, *leaves)
            wanted, given = leaves if dx is None else [*leaves, x_block], (dy[times], *d_state)
            found = list(torch.autograd.grad((y, *end), wanted, given, materialize_grads=True))
            if dx is not None:
                dx[times] = found.pop()
            d_weight += found[0]
            d_bias += found[1]
            d_state = found[2:]
        return None, dx, d_weight, d_bias, *d_state


def _project_and_filter(
    filter: InputFilter, x: Tensor, weight: Tensor, bias: Tensor, *state: Tensor
) -> tuple[Tensor, ...]:
    y, end = filter(functional.linear(x, weight, bias), state or None)
    return y, *end


def _blocks(y: Tensor) -> list[slice]:
    steps = max(1, (GPU_BLOCK if y.is_cuda else CPU_BLOCK) // max(1, y[0].numel()))
    return [slice(start, start + steps) for start in range(0, len(y), steps)]
