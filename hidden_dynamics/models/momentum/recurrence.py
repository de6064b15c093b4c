# pyright: reportUnknownMemberType=false
"""First-order linear recurrences, u_t = x_t + a_t u_{t-1} with scalar a_t, parallel over time.

A block of L steps is one product with an L x L lower-triangular matrix of products of the a_t; blocks are joined by
carrying the last value over. Cost and memory are linear in T, and no Python code runs per time step.
"""

import functools
from typing import cast

import torch
from torch import Tensor

from hidden_dynamics.models.recurrent.state import check_like
from hidden_dynamics.models.transformed import is_transformed

BLOCK = 32


def linear_recurrence(x: Tensor, decay: Tensor | float, initial: Tensor | None = None) -> Tensor:
    """u_t = x_t + decay_t u_{t-1}: (T, ...), differentiable any number of times, with respect to a learned decay too.

    Args:
        x: (T, ...), T at least 1.
        decay: one number for all steps, or a tensor (), which may be learned; or (T,), float64, on the CPU.
        initial: u_{-1}, of x_t's shape; None means 0.

    Raises:
        ValueError: there are no steps, or initial is not like x_t.
    """
    if x.shape[0] == 0:
        raise ValueError("a sequence needs at least one step")
    if initial is not None:
        check_like("the initial value", initial, x[0])
    if not isinstance(decay, Tensor) and decay == 0:
        return x
    flat, carry = x.reshape(x.shape[0], -1), None if initial is None else initial.reshape(-1)
    matrices, blocks = _matrices(decay, x.dtype, x.device), list[Tensor]()
    for k, block in enumerate(torch.split(flat, BLOCK)):
        matrix = matrices[k % len(matrices), : len(block), : len(block)]
        u = matrix @ block
        if carry is not None and isinstance(decay, Tensor) and not decay.dim():
            u = torch.addr(u, matrix[:, 0] * decay.to(matrix), carry)
        elif carry is not None:
            before = decay[k * BLOCK].item() if isinstance(decay, Tensor) else decay
            u = torch.addr(u, matrix[:, 0], carry, alpha=before)
        blocks.append(u)
        carry = u[-1]
    return torch.cat(blocks).view(x.shape)


def _matrices(decay: Tensor | float, dtype: torch.dtype, device: torch.device) -> Tensor:
    """(blocks or 1, BLOCK, BLOCK): entry (k, i, j) is a_{j+1} ... a_i of block k where i >= j; 0 elsewhere."""
    if isinstance(decay, Tensor) and not decay.dim():
        steps = torch.arange(BLOCK, device=decay.device)
        powers = (steps.unsqueeze(1) - steps).clamp(min=0)
        return (decay.double() ** powers).tril().to(dtype=dtype, device=device).unsqueeze(0)
    each = decay if isinstance(decay, Tensor) else torch.full((BLOCK,), decay, dtype=torch.float64)
    if is_transformed():  # a transform's tensors end with it, and are not kept
        return _products(each).to(dtype=dtype, device=device)
    return _kept_products(tuple(cast(list[float], each.tolist())), dtype, device)


@functools.lru_cache(maxsize=64)
@torch.inference_mode(False)  # whoever evaluates first, a gradient may be taken through it later
def _kept_products(decay: tuple[float, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    return _products(torch.tensor(decay, dtype=torch.float64)).to(dtype=dtype, device=device)


def _products(decay: Tensor) -> Tensor:
    padded = torch.zeros(-(-decay.shape[0] // BLOCK) * BLOCK, dtype=torch.float64)
    padded[: decay.shape[0]] = decay
    below = torch.ones(BLOCK, BLOCK, dtype=torch.bool).tril(-1)
    factors = torch.where(below, padded.view(-1, BLOCK, 1), torch.ones((), dtype=torch.float64))
    return factors.cumprod(-2).tril()
