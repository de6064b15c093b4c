"""First-order linear recurrences, u_t = x_t + a_t u_{t-1} with scalar a_t, parallel over time.

A block of L steps is one product with an L x L lower-triangular matrix of products of the a_t; blocks are joined by
carrying the last value over. Cost and memory are linear in T, and no Python code runs per time step.
"""

import functools

import torch
from torch import Tensor

BLOCK = 32


def linear_recurrence(x: Tensor, decay: float | Tensor, initial: Tensor | None = None) -> Tensor:
    """u_t = x_t + decay_t u_{t-1}, for t = 0, ..., T - 1.

    Args:
        x: (T, ...), T at least 1.
        decay: one number for all steps, or (T,), float64, on the CPU.
        initial: u_{-1}, of x_t's shape; None means 0.

    Returns:
        u: (T, ...), differentiable with respect to x and initial (any number of times).

    Raises:
        ValueError: there are no steps, or initial is not like x_t.
    """
    if x.shape[0] == 0:
        raise ValueError("a sequence needs at least one step")
    if initial is not None and (initial.shape, initial.dtype, initial.device) != (x.shape[1:], x.dtype, x.device):
        raise ValueError(
            f"the initial value must be {tuple(x.shape[1:])} {x.dtype} on {x.device}, not {tuple(initial.shape)} "
            f"{initial.dtype} on {initial.device}"
        )
    if isinstance(decay, float) and decay == 0.0:
        return x
    return _LinearRecurrence.apply(x, decay, initial, False)


class _LinearRecurrence(torch.autograd.Function):
    """The adjoint is the recurrence run the other way, with the decays shifted by one step: nothing is saved."""

    @staticmethod
    def forward(ctx, x: Tensor, decay: float | Tensor, initial: Tensor | None, reverse: bool) -> Tensor:
        ctx.decay, ctx.reverse, ctx.has_initial = decay, reverse, initial is not None
        return _solve(x, decay, initial, reverse)

    @staticmethod
    def backward(ctx, du: Tensor):
        entry = -1 if ctx.reverse else 0
        dx = _LinearRecurrence.apply(du, _shifted(ctx.decay, ctx.reverse), None, not ctx.reverse)
        d_initial = _at(ctx.decay, entry) * dx[entry] if ctx.has_initial else None
        return dx, None, d_initial, None


def _solve(x: Tensor, decay: float | Tensor, initial: Tensor | None, reverse: bool) -> Tensor:
    steps = x.shape[0]
    u = torch.empty_like(x, memory_format=torch.contiguous_format)
    flat, out = x.reshape(steps, -1), u.view(steps, -1)
    carry = None if initial is None else initial.reshape(-1)
    matrices = _matrices(decay, x.dtype, x.device, reverse)
    starts = range(0, steps, BLOCK)
    for k in reversed(starts) if reverse else starts:
        end = min(k + BLOCK, steps)
        matrix = matrices[k // BLOCK % matrices.shape[0], : end - k, : end - k]
        torch.mm(matrix, flat[k:end], out=out[k:end])
        if carry is not None:
            entry = end - 1 if reverse else k
            out[k:end].addr_(matrix[:, entry - k], carry, alpha=_at(decay, entry))
        carry = out[k if reverse else end - 1]
    return u


def _shifted(decay: float | Tensor, reverse: bool) -> float | Tensor:
    """The decay that step t of the adjoint applies to what comes from the step done before it."""
    if isinstance(decay, float):
        return decay
    shifted = torch.zeros_like(decay)
    if reverse:
        shifted[1:] = decay[:-1]
    else:
        shifted[:-1] = decay[1:]
    return shifted


def _at(decay: float | Tensor, step: int) -> float:
    return decay if isinstance(decay, float) else decay[step].item()


def _matrices(decay: float | Tensor, dtype: torch.dtype, device: torch.device, reverse: bool) -> Tensor:
    """(blocks or 1, BLOCK, BLOCK): entry (k, i, j) is the product of the decays between steps j and i of block k.

    Forward, that is a_{j+1} ... a_i for i >= j; in reverse, a_i ... a_{j-1} for i <= j; 0 elsewhere.
    """
    if isinstance(decay, float):
        return _constant_matrix(decay, dtype, device, reverse)
    padded = torch.zeros(-(-decay.shape[0] // BLOCK) * BLOCK, dtype=torch.float64)
    padded[: decay.shape[0]] = decay
    return _products(padded.view(-1, BLOCK), reverse).to(dtype=dtype, device=device)


@functools.lru_cache(maxsize=64)
def _constant_matrix(decay: float, dtype: torch.dtype, device: torch.device, reverse: bool) -> Tensor:
    return _products(torch.full((1, BLOCK), decay, dtype=torch.float64), reverse).to(dtype=dtype, device=device)


def _products(blocks: Tensor, reverse: bool) -> Tensor:
    if reverse:
        return _products(blocks.flip(1), False).flip(1, 2)
    below = torch.ones(BLOCK, BLOCK, dtype=torch.bool).tril(-1)
    factors = torch.where(below, blocks.unsqueeze(-1), torch.ones((), dtype=blocks.dtype))
    return factors.cumprod(-2).tril()
