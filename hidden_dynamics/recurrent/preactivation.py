"""An LSTM core whose gates' input is given, with backpropagation through time derived by hand. For the CPU.

torch's LSTM multiplies its input by a weight in any case; where the input is already the gates' pre-activation, that weight is a
4N x 4N identity, four times the work of the recurrence itself. Here the recurrence alone is left.
"""

import torch
from torch import Tensor

sigmoid_backward = torch.ops.aten.sigmoid_backward.grad_input
tanh_backward = torch.ops.aten.tanh_backward.grad_input


def lstm(y: Tensor, weight_hh: Tensor, bias_hh: Tensor, h0: Tensor, c0: Tensor) -> tuple[Tensor, Tensor]:
    """a_t = y_t + U h_{t-1} + b, then the LSTM's gates in the order i, f, g, o.

    Args:
        y: (T, 4N, batch). Its memory is used for the gates: the caller must not use y afterwards.
        weight_hh: U, (4N, N).
        bias_hh: b, (4N,).
        h0, c0: (N, batch).

    Returns:
        h: (T, N, batch), and c after the last step, (N, batch). Differentiable once, and once only per forward.
    """
    h, c_end = _PreactivationLSTM.apply(y, weight_hh, bias_hh, h0, c0)
    return h, c_end


class _PreactivationLSTM(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y: Tensor, weight: Tensor, bias: Tensor, h0: Tensor, c0: Tensor) -> tuple[Tensor, Tensor]:
        steps, four_n, batch = y.shape
        n = four_n // 4
        h, c = y.new_empty(steps + 1, n, batch), y.new_empty(steps + 1, n, batch)
        h[0], c[0] = h0, c0
        column, tanh_c = bias.unsqueeze(1), y.new_empty(n, batch)
        for t in range(steps):
            a = y[t]  # becomes the gates, in place
            torch.addmm(a, weight, h[t], out=a).add_(column)
            a[: 2 * n].sigmoid_()
            a[2 * n : 3 * n].tanh_()
            a[3 * n :].sigmoid_()
            i, f, g, o = a.chunk(4)
            torch.mul(f, c[t], out=c[t + 1]).addcmul_(i, g)
            torch.mul(o, torch.tanh(c[t + 1], out=tanh_c), out=h[t + 1])
        ctx.save_for_backward(weight)
        ctx.gates, ctx.h, ctx.c = y, h, c
        return h[1:], c[-1].clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dh_all: Tensor, dc_end: Tensor):
        if ctx.gates is None:
            raise RuntimeError("this LSTM's backward reuses its memory: run it once per forward (no retain_graph)")
        (weight,), (gates, h, c) = ctx.saved_tensors, (ctx.gates, ctx.h, ctx.c)
        ctx.gates = ctx.h = ctx.c = None
        steps, four_n, batch = gates.shape
        n = four_n // 4
        dh, dc = gates.new_zeros(n, batch), dc_end.clone()
        d, tanh_c, through_h = (gates.new_empty(size, batch) for size in (four_n, n, n))
        d_weight, d_bias, transposed = torch.zeros_like(weight), gates.new_zeros(four_n), weight.t().contiguous()
        for t in range(steps - 1, -1, -1):
            dh += dh_all[t]
            a = gates[t]  # the gates; becomes the gradient of the pre-activation, in place
            i, f, g, o = a.chunk(4)
            torch.tanh(c[t + 1], out=tanh_c)
            torch.mul(dh, o, out=through_h)
            dc += tanh_backward(through_h, tanh_c, grad_input=through_h)
            torch.mul(dc, g, out=d[:n])
            torch.mul(dc, c[t], out=d[n : 2 * n])
            torch.mul(dc, i, out=d[2 * n : 3 * n])
            torch.mul(dh, tanh_c, out=d[3 * n :])
            dc *= f
            sigmoid_backward(d[: 2 * n], a[: 2 * n], grad_input=a[: 2 * n])
            tanh_backward(d[2 * n : 3 * n], g, grad_input=g)
            sigmoid_backward(d[3 * n :], o, grad_input=o)
            torch.mm(transposed, a, out=dh)
            d_weight.addmm_(a, h[t].t())
            d_bias += a.sum(1)
        return gates, d_weight, d_bias, dh, dc
