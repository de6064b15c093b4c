"""filter(W x + b) for a filter that does not commute with the linear map; only the result is kept of its size."""

import functools
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from hidden_dynamics.models.momentum.filters import InputFilter, like
from hidden_dynamics.models.transformed import double_backward, is_transformed

# Elements of a block of steps: a few such arrays fit into a CPU's cache; on a GPU, they hide the launches.
CPU_BLOCK, GPU_BLOCK = 2**19, 2**24


def filtered_projection(
    x: Tensor, weight: Tensor, bias: Tensor, filter: InputFilter, state: tuple[Tensor, ...] | None = None
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """filter(W x + b), (T, batch, channels), and the filter's state after the last step, in blocks of steps; backward
    computes each block again.

    Args:
        x, weight, bias: (T, batch, d), (channels, d) and (channels,).
        filter: its state is a tuple of tensors (batch, channels), and where it is a module, its parameters get their
            gradients.
        state: the filter's state before the first step; None is the start.
    """
    if is_transformed():
        y, *end = _project_and_filter(filter, (), x, weight, bias, *(state or ()))
    else:
        own = dict(filter.named_parameters()) if isinstance(filter, nn.Module) else {}
        run = cast(Callable[..., tuple[Tensor, ...]], _InBlocks.apply)
        y, *end = run(filter, tuple(own), x, weight, bias, *own.values(), *(state or ()))
    return y, tuple(end)


class _InBlocks(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, filter: InputFilter, names: tuple[str, ...], x: Tensor, *given: Tensor):
        shared, state = given[: 2 + len(names)], given[2 + len(names) :]  # of all blocks, and before the first
        y, kept = x.new_empty(*x.shape[:2], len(shared[0])), list[Tensor]()
        ctx.save_for_backward(x, *given)
        for index, times in enumerate(blocks := _blocks(y)):
            y[times], *end = _project_and_filter(filter, names, x[times], *shared, *state)
            if not kept:  # at once, not in between what each block allocates and frees
                kept = [part.new_empty(len(blocks), *part.shape) for part in end]
            for whole, part in zip(kept, end, strict=True):
                whole[index] = part
            state = tuple(whole[index] for whole in kept)
        ctx.filter, ctx.names, ctx.starts = filter, names, [whole[:-1] for whole in kept]
        return y, *(part.clone() for part in state)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor):
        dy, *d_state = gradients
        x, *given = ctx.saved_tensors
        run = functools.partial(_project_and_filter, ctx.filter, ctx.names)
        if torch.is_grad_enabled():
            return None, None, *double_backward(run, ctx.saved_tensors, gradients, ctx.needs_input_grad[2:])
        shared, first = given[: 2 + len(ctx.names)], given[2 + len(ctx.names) :]
        dx = torch.empty_like(x) if ctx.needs_input_grad[2] else None
        d_shared = [torch.zeros_like(each) for each in shared]
        for times, start in reversed(list(zip(_blocks(dy), (first, *zip(*ctx.starts, strict=True)), strict=True))):
            x_block = x[times].detach().requires_grad_(dx is not None)
            leaves = [part.detach().requires_grad_() for part in (*shared, *start)]
            with torch.enable_grad():
                y, *end = run(x_block, *leaves)
            wanted = leaves if dx is None else [*leaves, x_block]
            of_leaves = list(torch.autograd.grad((y, *end), wanted, (dy[times], *d_state), materialize_grads=True))
            if dx is not None:
                dx[times] = of_leaves.pop()
            d_state = of_leaves[len(shared) :]
            for total, of_block in zip(d_shared, of_leaves, strict=False):
                total += of_block
        return None, None, dx, *d_shared, *d_state


def _project_and_filter(
    filter: InputFilter, names: tuple[str, ...], x: Tensor, weight: Tensor, bias: Tensor, *rest: Tensor
) -> tuple[Tensor, ...]:
    """`rest` is the filter's parameters of these names, in the place of its own, and its state."""
    arguments = functional.linear(x, weight, bias), rest[len(names) :] or None
    own = dict(zip(names, rest, strict=False))
    y, end = functional_call(cast(nn.Module, filter), own, arguments) if own else filter(*arguments)
    return like(arguments[0], y), *end


def _blocks(y: Tensor) -> list[slice]:
    steps = max(1, (GPU_BLOCK if y.is_cuda else CPU_BLOCK) // max(1, y[0].numel()))
    return [slice(start, start + steps) for start in range(0, len(y), steps)]
