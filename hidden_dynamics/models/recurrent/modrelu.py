# pyright: reportUnknownMemberType=false
"""The recurrence h_t = modrelu(y_t + Q^T h_{t-1}) and its backpropagation through time, derived by hand.

    modrelu(z) = sign(z) relu(|z| + b),   sign(0) = 0

(Arjovsky, Shah, Bengio, 2016; Helfrich, Willmott, Ye, 2018). Where h_t is not 0, dh_t/dz_t = 1 and dh_t/db = sign(h_t);
elsewhere both are 0. So h is all that has to be kept. With dh_t the gradient that reaches h_t, through later steps too,

    dz_t = dh_t where h_t != 0,   dh_{t-1} += Q dz_t,   dQ = sum_t h_{t-1} dz_t^T,   db = sum_t dz_t sign(h_t)

In memory, states are rows: (batch, N), and Q^T h is h Q.
"""

from typing import Any, cast

import torch
from torch import Tensor

from hidden_dynamics.models.transformed import is_transformed

where_nonzero = torch.ops.aten.hardshrink_backward.grad_input  # of (gradient, h, 0): the gradient where h is not 0


def modrelu(z: Tensor, bias: Tensor) -> Tensor:
    """sign(z) relu(|z| + b): z (..., N), bias (N,)."""
    return torch.sign(z) * torch.relu(z.abs() + bias)


def modrelu_rnn(
    y: Tensor, matrix: Tensor, bias: Tensor, h0: Tensor, norms: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """h_t = modrelu(y_t + h_{t-1} Q) for all steps: h, (T, batch, N), and h of the last step, (batch, N), through which
    a gradient that is 0 at all others costs nothing at those.

    Args:
        y: (T, batch, N), no view of another tensor. It is overwritten with h.
        matrix, bias, h0: Q, (N, N); b, (N,); (batch, N).
        norms: (T,), into which backward writes the norm of dL/dh_t, over batch and units, for every t.
    """
    if is_transformed():
        h = [h0]
        for y_t in y.unbind():
            h.append(modrelu(y_t + h[-1] @ matrix, bias))
        return torch.stack(h[1:]), h[-1]
    given = y.contiguous(), matrix.contiguous(), bias, h0, norms
    return cast(tuple[Tensor, Tensor], _ModreluRNN.apply(*given))


class _ModreluRNN(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, y: Tensor, matrix: Tensor, bias: Tensor, h0: Tensor, norms: Tensor | None):
        _run(y, matrix, bias, h0)
        ctx.mark_dirty(y)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(y, matrix, h0)
        ctx.norms = norms
        return y, y[-1].clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None):
        dh, dh_end = gradients
        h, matrix, h0 = ctx.saved_tensors
        if torch.is_grad_enabled():
            return *_double_backward(h, matrix, h0, dh, dh_end, ctx.norms), None
        dz, d_bias, dh0 = _run_back(h, matrix, dh, dh_end, ctx.norms)
        d_matrix = h0.t() @ dz[0]
        if h.shape[0] > 1:
            d_matrix.addmm_(h[:-1].flatten(0, 1).t(), dz[1:].flatten(0, 1))
        return dz, d_matrix, d_bias, dh0, None


def _run(y: Tensor, matrix: Tensor, bias: Tensor, h0: Tensor) -> None:
    """The steps, in place: y becomes h."""
    h, sign, size = h0, torch.empty_like(h0), torch.empty_like(h0)
    for z in y.unbind():  # views are made once: an indexing in the loop costs a good part of what an operation does
        torch.addmm(z, h, matrix, out=z)
        torch.sign(z, out=sign)
        torch.addcmul(bias, z, sign, out=size).relu_()
        h = torch.mul(size, sign, out=z)


def _run_back(
    h: Tensor, matrix: Tensor, dh: Tensor | None, dh_end: Tensor | None, norms: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """dz, db and dh0, from the gradients with respect to h and to the last h, each None where it is 0."""
    dz, transposed, dh_at = torch.empty_like(h), matrix.t().contiguous(), None if dh is None else dh.unbind()
    total = torch.zeros_like(h[-1])
    for gradient in (dh_end, None if dh_at is None else dh_at[-1]):
        if gradient is not None:
            total += gradient
    sign, d_bias = torch.empty_like(total), torch.zeros_like(total)
    for t, (h_t, dz_t) in reversed(list(enumerate(zip(h.unbind(), dz.unbind(), strict=True)))):
        if norms is not None:
            torch.linalg.vector_norm(total, out=norms[t])
        where_nonzero(total, h_t, 0, grad_input=dz_t)
        d_bias.addcmul_(dz_t, torch.sign(h_t, out=sign))
        if dh_at is None or t == 0:
            torch.mm(dz_t, transposed, out=total)
        else:
            torch.addmm(dh_at[t - 1], dz_t, transposed, out=total)
    return dz, d_bias.sum(0), total


def _double_backward(
    h: Tensor, matrix: Tensor, h0: Tensor, dh: Tensor | None, dh_end: Tensor | None, norms: Tensor | None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(dz, dQ, db, dh0) by operations that autograd can follow: for `create_graph`.

    y is overwritten, so forward cannot be run again, as `double_backward` would.
    """
    total = torch.zeros_like(h0) if dh_end is None else dh_end
    dz_each = list[Tensor]()
    for t in reversed(range(len(h))):
        total = total if dh is None else total + dh[t]
        if norms is not None:
            norms[t] = torch.linalg.vector_norm(total.detach())
        dz_each.append(total * (h[t] != 0))
        total = dz_each[-1] @ matrix.t()
    dz = torch.stack(dz_each[::-1])
    d_matrix = torch.cat([h0.unsqueeze(0), h[:-1]]).flatten(0, 1).t() @ dz.flatten(0, 1)
    return dz, d_matrix, (dz * h.detach().sign()).sum((0, 1)), total
