"""filter(W x + b) for a filter that does not commute with the linear map; only the result is kept of its size."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

STEPS = 16  # of a block, on the CPU
CPU_ELEMENTS = 2**18  # of a block: a few such pieces fit into a core's own cache
GPU_ELEMENTS = 2**24  # enough work to hide the launches


def filtered_projection(
    x: Tensor, weight: Tensor, bias: Tensor, filter: nn.Module, state: tuple[Tensor, ...] | None = None
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The gates' input y = filter(W x + b), in blocks of steps and features; backward computes each block again.

    Args:
        x: (T, d, batch): features come before the batch.
        weight: (4N, d).
        bias: (4N,).
        filter: of hidden_dynamics.models.momentum.filters; it treats every feature alike, its state is a tuple of
            tensors (4N, batch).
        state: the filter's state before the first step; None is the start.

    Returns:
        y, (T, 4N, batch), and the filter's state after the last step. Differentiable once.
    """
    y, *end = _Blockwise.apply(filter, x, weight, bias, *(state or ()))
    return y, tuple(end)


def _project_and_filter(
    filter: nn.Module, x: Tensor, weight: Tensor, bias: Tensor, state: tuple | None
) -> tuple[Tensor, tuple]:
    weights = weight.unsqueeze(0).expand(x.shape[0], -1, -1)
    return filter(torch.baddbmm(bias.view(1, -1, 1), weights, x), state)


class _Blockwise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, filter: nn.Module, x: Tensor, weight: Tensor, bias: Tensor, *state: Tensor):
        y, ends, starts = x.new_empty(x.shape[0], weight.shape[0], x.shape[2]), [], {}
        steps, width = _block_shape(x, weight)
        for rows in _slices(weight.shape[0], width):
            current = tuple(tensor[rows] for tensor in state) or None
            for times in _slices(x.shape[0], steps):
                starts[rows.start, times.start] = current
                y[times, rows], current = _project_and_filter(filter, x[times], weight[rows], bias[rows], current)
                current = tuple(tensor.clone() for tensor in current)  # not a view that would keep the block alive
            ends.append(current)
        ctx.save_for_backward(x, weight, bias)
        ctx.filter, ctx.starts, ctx.state_given = filter, starts, len(state) > 0
        return y, *(torch.cat(parts) for parts in zip(*ends, strict=True))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dy: Tensor, *d_end: Tensor):
        x, weight, bias = ctx.saved_tensors
        starts, ctx.starts = ctx.starts, None
        dx = torch.zeros_like(x) if ctx.needs_input_grad[1] else None
        d_weight, d_bias, d_starts = torch.zeros_like(weight), torch.zeros_like(bias), []
        steps, width = _block_shape(x, weight)
        for rows in _slices(weight.shape[0], width):
            d_state = tuple(tensor[rows] for tensor in d_end)
            for times in reversed(list(_slices(x.shape[0], steps))):
                start = starts.pop((rows.start, times.start)) or ()
                with torch.enable_grad():
                    x_block = x[times].detach().requires_grad_(dx is not None)
                    leaves = [tensor.detach().requires_grad_() for tensor in (weight[rows], bias[rows], *start)]
                    y, end = _project_and_filter(ctx.filter, x_block, *leaves[:2], tuple(leaves[2:]) or None)
                wanted = leaves if dx is None else [*leaves, x_block]
                grads = list(
                    torch.autograd.grad((y, *end), wanted, (dy[times, rows], *d_state), materialize_grads=True)
                )
                if dx is not None:
                    dx[times] += grads.pop()
                d_weight[rows] += grads[0]
                d_bias[rows] += grads[1]
                d_state = tuple(grads[2:])
            d_starts.append(d_state)
        d_initial = [torch.cat(parts) for parts in zip(*d_starts, strict=True)] if ctx.state_given else []
        return None, dx, d_weight, d_bias, *d_initial


def _block_shape(x: Tensor, weight: Tensor) -> tuple[int, int]:
    """Steps and features of a block."""
    batch = max(1, x.shape[2])
    if x.device.type == "cpu":
        return STEPS, max(1, CPU_ELEMENTS // (STEPS * batch))
    return max(1, GPU_ELEMENTS // (weight.shape[0] * batch)), weight.shape[0]


def _slices(length: int, step: int) -> Iterator[slice]:
    return (slice(i, min(i + step, length)) for i in range(0, length, step))
