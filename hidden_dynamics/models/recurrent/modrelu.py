"""The recurrence h_t = modrelu(y_t + Q^T h_{t-1}) and its backpropagation through time, derived by hand.

    modrelu(z) = sign(z) relu(|z| + b),   sign(0) = 0

(Arjovsky, Shah, Bengio, 2016; Helfrich, Willmott, Ye, 2018). Where h_t is not 0, dh_t/dz_t = 1 and dh_t/db = sign(h_t);
elsewhere both are 0. So h is all that has to be kept. With dh_t the gradient that reaches h_t, through later steps too,

    dz_t = dh_t where h_t != 0,   dh_{t-1} += Q dz_t,   dQ = sum_t h_{t-1} dz_t^T,   db = sum_t dz_t sign(h_t)

In memory, states are rows: (batch, N), and Q^T h is h Q.
"""

import functools
import math
import warnings
from collections.abc import Callable

import torch
from torch import Tensor

where_nonzero = torch.ops.aten.hardshrink_backward.grad_input  # of (gradient, h, 0): the gradient where h is not 0


def modrelu(z: Tensor, bias: Tensor) -> Tensor:
    """sign(z) relu(|z| + b): z (..., N), bias (N,)."""
    return torch.sign(z) * torch.relu(z.abs() + bias)


def modrelu_rnn(
    y: Tensor, matrix: Tensor, bias: Tensor, h0: Tensor, norms: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """h_t = modrelu(y_t + h_{t-1} Q) for all steps.

    Args:
        y: (T, batch, N), no view of another tensor. It is overwritten with h.
        matrix: Q, (N, N).
        bias: b, (N,).
        h0: (batch, N).
        norms: (T,), into which backward writes the norm of dL/dh_t, over batch and units, for every t.

    Returns:
        h, (T, batch, N), and h of the last step, (batch, N), through which a gradient that is 0 at all others costs
        nothing at those. Differentiable once.
    """
    return _ModreluRNN.apply(y.contiguous(), matrix.contiguous(), bias, h0, norms)


class _ModreluRNN(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y: Tensor, matrix: Tensor, bias: Tensor, h0: Tensor, norms: Tensor | None):
        run(y, matrix, bias, h0)
        ctx.mark_dirty(y)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(y, matrix, h0)
        ctx.norms = norms
        return y, y[-1].clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dh: Tensor | None, dh_end: Tensor | None):
        h, matrix, h0 = ctx.saved_tensors
        dz, d_bias, dh0 = run_back(h, matrix, dh, dh_end, ctx.norms)
        d_matrix = h0.t() @ dz[0]
        if h.shape[0] > 1:
            d_matrix.addmm_(h[:-1].flatten(0, 1).t(), dz[1:].flatten(0, 1))
        return dz, d_matrix, d_bias, dh0, None


def run(y: Tensor, matrix: Tensor, bias: Tensor, h0: Tensor) -> None:
    """The steps, in place: y becomes h."""
    kernel = _kernel(y)
    if kernel is None:
        _loop(y, matrix, bias, h0)
    else:
        _loop(y[:1], matrix, bias, h0)
        forward, _ = kernel
        forward(y, matrix, bias)


def run_back(
    h: Tensor, matrix: Tensor, dh: Tensor | None, dh_end: Tensor | None, norms: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """From the gradients with respect to h and to the last h, each None where it is 0, to (dz, db, dh0)."""
    end = torch.zeros_like(h[-1])
    for gradient in (dh_end, None if dh is None else dh[-1]):
        if gradient is not None:
            end += gradient
    kernel = _kernel(h)
    if kernel is None or norms is not None:
        return _loop_back(h, matrix, dh, end, norms)
    dz = torch.empty_like(h)
    where_nonzero(end, h[-1], 0, grad_input=dz[-1])
    _, backward = kernel
    backward(h, matrix, dh, dz)
    return dz, (dz * h.sign()).sum((0, 1)), dz[0] @ matrix.t()


def _kernel(h: Tensor) -> tuple[Callable, Callable] | None:
    """`run` and `run_back` of the kernel for all steps at once, where there is one that can be trusted."""
    if not h.is_cuda or h.dtype != torch.float32 or torch.cuda.get_device_capability(h.device) < (8, 0):
        return None
    return _compared_kernel(h.device, h.shape[2])


@functools.cache
def _compared_kernel(device: torch.device, n: int) -> tuple[Callable, Callable] | None:
    """The kernel for N units, compiled, run and compared with the loop; None, with a warning, where that fails."""
    try:
        from hidden_dynamics.models.recurrent.modrelu_kernel import (  # by name, which a run's code digest follows
            run,
            run_back,
        )

        _compare(run, run_back, device, n)
    except Exception as error:  # of Triton, of the C compiler that it calls, of the driver, or of the comparison
        warnings.warn(
            f"the modrelu kernel for {n} units is not used on {device}, but a slower loop over time: "
            f"{type(error).__name__}: {error}",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return run, run_back


@torch.no_grad()
def _compare(forward: Callable, backward: Callable, device: torch.device, n: int) -> None:
    """Hold the kernel to the loop in double precision, over five steps of more sequences than one block has.

    |y| lies in [3, 4], the first sequence's is 0, b is 1/2, -1/2 or -10, and |Q| at most 1 / (4N): then |h| <= 6, a sum
    over |h Q| is at most 3/2, and no |z| + b comes near 0, where modrelu may jump. So a step adds to the error at most
    what float32 makes of N + 1 terms, and hands on a quarter of what it was given.

    Raises:
        ArithmeticError: they differ by more than that.
    """
    steps, batch, generator = 5, 18, torch.Generator().manual_seed(0)  # of its own: no one's random numbers change
    y = torch.rand(steps, batch, n, generator=generator)
    y = (y + 3).copysign(torch.randn(y.shape, generator=generator)).to(device)
    y[:, 0] = 0
    bias = torch.tensor([0.5, -0.5, -10.0]).repeat(n)[:n].to(device)
    matrix = ((torch.rand(n, n, generator=generator) - 0.5) / (2 * n)).to(device)
    h0, h = y.new_zeros(batch, n).double(), y.clone()
    expected = y.double()
    _loop(expected, matrix.double(), bias.double(), h0)
    h[0] = expected[0]
    forward(h, matrix, bias)
    _hold("h", h, expected)
    for dh in (y, None):
        dz, end = torch.full_like(h, math.nan), y[0].double()
        expected_dz, *_ = _loop_back(expected, matrix.double(), None if dh is None else dh.double(), end, None)
        dz[-1] = expected_dz[-1]
        backward(expected.float(), matrix, dh, dz)
        _hold("the gradient", dz, expected_dz)


def _hold(name: str, found: Tensor, expected: Tensor) -> None:
    """16 more terms are for a product that is made of three in TF32, which rounds to 3 / 2^22."""
    allowed = (expected.shape[2] + 16) * torch.finfo(found.dtype).eps * expected.abs().max()
    if not (off := (found - expected).abs().max()) <= allowed:  # nor where it is not a number
        raise ArithmeticError(f"{name} is off by {off:.2g}, more than the {allowed:.2g} of its rounding")


def _loop(y: Tensor, matrix: Tensor, bias: Tensor, h0: Tensor) -> None:
    h, sign, size = h0, torch.empty_like(h0), torch.empty_like(h0)
    for z in y.unbind():  # views are made once: an indexing in the loop costs a good part of what an operation does
        torch.addmm(z, h, matrix, out=z)
        torch.sign(z, out=sign)
        torch.addcmul(bias, z, sign, out=size).relu_()
        h = torch.mul(size, sign, out=z)


def _loop_back(
    h: Tensor, matrix: Tensor, dh: Tensor | None, total: Tensor, norms: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """total: the gradient with respect to the last h; overwritten."""
    dz, transposed, dh_at = torch.empty_like(h), matrix.t().contiguous(), None if dh is None else dh.unbind()
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
