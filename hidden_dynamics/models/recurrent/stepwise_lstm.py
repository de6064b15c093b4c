# pyright: reportUnknownMemberType=false, reportPrivateUsage=false
"""The LSTM's core on a GPU from its pre-activations' input part, step by step, with torch's fused cells.

cuDNN multiplies its input by a weight in any case: where the input is filtered already, that is the 4N x 4N identity,
forwards and twice backwards. Here a step is one product with U and one fused cell (aten/src/ATen/native/cuda/RNN.cu),
and the loop over time a CUDA graph where that is faster.
"""

import functools
import sys
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor

from hidden_dynamics.models.recurrent.cuda_graphs import ratio, replayed

Pair = tuple[Tensor, Tensor]
Core = Callable[[Tensor, Pair, Tensor, Tensor], tuple[Tensor, Pair]]

SOME = 64  # steps by which both ways are compared
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-9}


def stepwise_lstm(y: Tensor, hidden: Pair, weight_hh: Tensor, bias_hh: Tensor) -> tuple[Tensor, Pair]:
    """h (T, batch, N), and h and c after the last step, of y (T, batch, 4N), h and c before the first (batch, N), U and
    b_hh. Differentiable once."""
    run = cast(Callable[..., tuple[Tensor, ...]], _StepwiseLSTM.apply)
    h, h_end, c_end = run(y + bias_hh, weight_hh, *hidden)
    return h, (h_end, c_end)


_better = dict[tuple[Any, ...], bool]()


def is_better(behind_identity: Core, y: Tensor, hidden: Pair, weight_hh: Tensor, bias_hh: Tensor) -> bool:
    """Whether to take `stepwise_lstm` in the place of cuDNN's LSTM behind the identity: it is in a type that is
    compared, on a GPU, and was found to be the same within rounding, and faster, by the first steps of the first batch
    of this size in the process.

    Where both are about as fast, one process may take the one and another the other, whose last digits differ.
    """
    if not y.is_cuda or y.dtype not in TOLERANCE:
        return False
    key = (*y.shape[1:], y.dtype, y.device)
    if key not in _better:
        if torch.cuda.is_current_stream_capturing():  # a graph of the user's: nothing can be timed
            return False
        given = y[:SOME], hidden[0], hidden[1], weight_hh, bias_hh
        _better[key] = _compared(behind_identity, *(each.detach() for each in given))
    return _better[key]


@torch.inference_mode(False)  # whoever evaluates first, gradients are compared, too
def _compared(behind_identity: Core, y: Tensor, h: Tensor, c: Tensor, weight_hh: Tensor, bias_hh: Tensor) -> bool:
    def learn(core: Core) -> list[Tensor]:
        leaves = [each.clone().requires_grad_() for each in (y, h, c, weight_hh, bias_hh)]
        with torch.enable_grad():
            outputs, (h_end, c_end) = core(leaves[0], (leaves[1], leaves[2]), leaves[3], leaves[4])
            total = outputs.square().sum() + h_end.sum() + c_end.square().sum()
        return [outputs.detach(), *torch.autograd.grad(total, leaves)]

    ways = [functools.partial(learn, core) for core in (behind_identity, stepwise_lstm)]
    expected, found = (way() for way in ways)
    pairs = list(zip(expected, found, strict=True))
    error = max(float((a - b).square().sum() / a.square().sum().clamp(min=1e-30)) for a, b in pairs) ** 0.5
    for _ in range(2):  # its graphs are made at their third use
        ways[1]()
    gain = ratio(*ways)
    taken = error <= TOLERANCE[y.dtype] and gain > 1
    text = f"LSTM of filtered gates, N = {h.shape[1]}: fused cells step by step are {gain:.2f} times as fast as cuDNN"
    print(f"{text} behind an identity, differ by {error:.1e}; taken: {taken}", file=sys.stderr, flush=True)
    return taken


class _StepwiseLSTM(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, y: Tensor, weight: Tensor, h0: Tensor, c0: Tensor):
        h, c, gates = replayed(_run, y, weight, h0, c0)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(weight, h0, c0, h, c, gates)
        return h, h[-1].clone(), c[-1].clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None):  # pyright: ignore[reportIncompatibleMethodOverride]
        weight, h0, c0, h, c, gates = ctx.saved_tensors
        da, dh0, dc0 = replayed(_run_back, gates, c, c0, weight, *gradients)
        before = torch.cat([h0.unsqueeze(0), h[:-1]])
        return da, da.flatten(0, 1).t() @ before.flatten(0, 1), dh0, dc0


def _run(y: Tensor, weight: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, ...]:
    """h, c, (T, batch, N), and the gates, (T, batch, 4N), of all steps."""
    transposed, steps = weight.t(), list[tuple[Tensor, ...]]()
    for y_t in y.unbind():
        h, c, gates = torch.ops.aten._thnn_fused_lstm_cell.default(y_t, h @ transposed, c)
        steps.append((h, c, gates))
    return tuple(torch.stack(each) for each in zip(*steps, strict=True))


def _run_back(
    gates: Tensor, c: Tensor, c0: Tensor, weight: Tensor, dh: Tensor | None, dh_end: Tensor | None, dc: Tensor | None
) -> tuple[Tensor, ...]:
    """da, (T, batch, 4N), dh0 and dc0, from the gradients with respect to h, the last h and the last c; None is 0."""
    dh_at, before = None if dh is None else dh.unbind(), (c0, *c.unbind())
    total = torch.zeros_like(c0) if dh_end is None else dh_end
    if dh_at is not None:
        total = total + dh_at[-1]
    da_each = list[Tensor]()
    for t in reversed(range(len(gates))):
        back = torch.ops.aten._thnn_fused_lstm_cell_backward_impl.default
        da, dc, _ = back(total, dc, before[t], before[t + 1], gates[t], False)
        da_each.append(da)
        total = da @ weight if dh_at is None or t == 0 else torch.addmm(dh_at[t - 1], da, weight)
    assert dc is not None
    return torch.stack(da_each[::-1]), total, dc
