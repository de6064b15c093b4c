# pyright: reportUnknownMemberType=false
"""Index operations that write no place twice.

Deterministic algorithms on a GPU sort the indices first, with a dozen kernels (aten/src/ATen/native/cuda/Indexing.cu).
Where all indices differ, the one plain kernel is deterministic already.
"""

import contextlib
from collections.abc import Generator
from typing import Any, cast

import torch
from torch import Tensor


@contextlib.contextmanager
def plain_kernels(device: torch.device) -> Generator[None]:
    """Within the block, index operations on a GPU take their plain kernels: their indices have to be unique."""
    if device.type != "cuda":
        yield
        return
    mode = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode("default")
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(mode)


def take(rows: Tensor, indices: Tensor) -> Tensor:
    """rows[indices], (K, ...), of unique indices, (K,)."""
    return cast(Tensor, _Take.apply(rows, indices)) if rows.is_cuda else rows.index_select(0, indices)


def put(rows: Tensor, indices: Tensor, values: Tensor) -> Tensor:
    """A copy of rows with values, (K, ...), at unique indices, (K,)."""
    with plain_kernels(rows.device):
        return rows.index_copy(0, indices, values)


class _Take(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, indices: Tensor) -> Tensor:
        ctx.size = len(rows)
        ctx.save_for_backward(indices)
        return rows.index_select(0, indices)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor):
        (gradient,), (indices,) = gradients, ctx.saved_tensors
        return put(gradient.new_zeros(ctx.size, *gradient.shape[1:]), indices, gradient), None
