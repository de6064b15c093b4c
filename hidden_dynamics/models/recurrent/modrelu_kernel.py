"""The recurrence of `modrelu` beside it as one kernel for all steps, forward and backward, in Triton.

Each program takes a block of the batch's sequences through all steps: sequences do not see each other, so no program
waits for another. The loop over steps launches five kernels per step instead, forward as well as backward. For NVIDIA
GPUs and float32. A product runs as three in TF32, which keeps float32's precision. (The loops over steps are `while`
loops for Triton's interpreter, which with recent versions of NumPy cannot count to a run-time value in a `for`.)
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK_BATCH, BLOCK_OUT, BLOCK_IN = 16, 128, 32


def run(y: Tensor, matrix: Tensor, bias: Tensor) -> None:
    """h_t = modrelu(y_t + h_{t-1} Q) for all steps but the first, in place.

    Args:
        y: (T, batch, N), contiguous: h at the first step, y at the others, and afterwards h at all.
        matrix: Q, (N, N), contiguous.
        bias: (N,).
    """
    _launch(_forward, y, matrix, bias)


def run_back(h: Tensor, matrix: Tensor, dh: Tensor | None, dz: Tensor) -> None:
    """dz_t = dh_t + dz_{t+1} Q^T where h_t != 0, else 0, for all steps but the last, from the end.

    Args:
        h: (T, batch, N), contiguous.
        matrix: Q, (N, N).
        dh: (T, batch, N), or None for 0.
        dz: (T, batch, N), contiguous; its last step is given, the others are computed.
    """
    _launch(_backward, h, matrix.t().contiguous(), h if dh is None else dh.contiguous(), dz, dh is not None)


def _launch(kernel: triton.JITFunction, first: Tensor, *arguments: Tensor | bool) -> None:
    steps, batch, n = first.shape
    if steps == 1:  # there is nothing to do, and Triton takes a 1 for a constant, of which the loops make no sense
        return
    blocks = (triton.cdiv(batch, BLOCK_BATCH),)
    with torch.cuda.device_of(first):
        kernel[blocks](first, *arguments, steps, batch, n, BLOCK_BATCH, BLOCK_OUT, BLOCK_IN, num_warps=8, num_stages=4)


@triton.jit
def _forward(
    y_pointer,
    matrix_pointer,
    bias_pointer,
    steps,
    batch,
    N: tl.constexpr,
    BLOCK_BATCH: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    BLOCK_IN: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_BATCH + tl.arange(0, BLOCK_BATCH)
    before, t = y_pointer, 1
    while t < steps:
        now = before + batch * N
        for start in range(0, N, BLOCK_OUT):
            columns = start + tl.arange(0, BLOCK_OUT)
            places = rows[:, None] * N + columns[None, :]
            inside = (rows[:, None] < batch) & (columns[None, :] < N)
            z = tl.load(now + places, mask=inside, other=0.0)
            z = _add_product(z, before, matrix_pointer, rows, columns, batch, N, BLOCK_IN)
            bias = tl.load(bias_pointer + columns, mask=columns < N, other=0.0)
            size = tl.maximum(tl.abs(z) + bias[None, :], 0.0)
            h = tl.where(z > 0, size, tl.where(z < 0, -size, z))  # z itself where it is 0 (or not a number)
            tl.store(now + places, h, mask=inside)
        tl.debug_barrier()  # the next step reads what other threads of this program have written
        before, t = now, t + 1


@triton.jit
def _backward(
    h_pointer,
    transposed_pointer,
    dh_pointer,
    dz_pointer,
    HAS_DH: tl.constexpr,
    steps,
    batch,
    N: tl.constexpr,
    BLOCK_BATCH: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    BLOCK_IN: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_BATCH + tl.arange(0, BLOCK_BATCH)
    step = batch * N
    last = (steps - 1).to(tl.int64) * step
    h_now, dh_now, dz_later = h_pointer + last, dh_pointer + last, dz_pointer + last
    t = steps - 1
    while t > 0:
        h_now -= step
        dh_now -= step
        dz_now = dz_later - step
        for start in range(0, N, BLOCK_OUT):
            columns = start + tl.arange(0, BLOCK_OUT)
            places = rows[:, None] * N + columns[None, :]
            inside = (rows[:, None] < batch) & (columns[None, :] < N)
            if HAS_DH:
                total = tl.load(dh_now + places, mask=inside, other=0.0)
            else:
                total = tl.zeros([BLOCK_BATCH, BLOCK_OUT], dtype=tl.float32)
            total = _add_product(total, dz_later, transposed_pointer, rows, columns, batch, N, BLOCK_IN)
            h = tl.load(h_now + places, mask=inside, other=0.0)
            tl.store(dz_now + places, tl.where(h != 0, total, 0.0), mask=inside)
        tl.debug_barrier()  # as in _forward
        dz_later, t = dz_now, t - 1


@triton.jit
def _add_product(total, left_pointer, right_pointer, rows, columns, batch, N: tl.constexpr, BLOCK_IN: tl.constexpr):
    """total + left[rows] @ right[:, columns]."""
    for start in range(0, N, BLOCK_IN):
        inner = start + tl.arange(0, BLOCK_IN)
        left = tl.load(
            left_pointer + rows[:, None] * N + inner[None, :],
            mask=(rows[:, None] < batch) & (inner[None, :] < N),
            other=0.0,
        )
        right = tl.load(
            right_pointer + inner[:, None] * N + columns[None, :],
            mask=(inner[:, None] < N) & (columns[None, :] < N),
            other=0.0,
        )
        total = tl.dot(left, right, total, input_precision="tf32x3")
    return total
