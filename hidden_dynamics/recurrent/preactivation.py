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


class Recurrence:
    """The steps of the core and their adjoints, in place: a_t and its gradient live where the gates do.

    Args:
        gates: (T, 4N, batch). `step(t)` expects y_t + b in gates[t] and leaves i, f, g, o there; `step_back(t)` leaves dL/da_t.
        weight: U, (4N, N).
        h0, c0: (N, batch).
    """

    def __init__(self, gates: Tensor, weight: Tensor, h0: Tensor, c0: Tensor):
        steps, four_n, batch = gates.shape
        self.gates, self.n = gates, four_n // 4
        self.h, self.c = (gates.new_empty(steps + 1, self.n, batch) for _ in range(2))
        self.h[0], self.c[0] = h0, c0
        self.weight, self.tanh_c = weight, torch.empty_like(self.c[0])

    def step(self, t: int) -> None:
        a, n = self.gates[t], self.n
        torch.addmm(a, self.weight, self.h[t], out=a)
        a[: 2 * n].sigmoid_()
        a[2 * n : 3 * n].tanh_()
        a[3 * n :].sigmoid_()
        i, f, g, o = a.chunk(4)
        torch.mul(f, self.c[t], out=self.c[t + 1]).addcmul_(i, g)
        torch.mul(o, torch.tanh(self.c[t + 1], out=self.tanh_c), out=self.h[t + 1])

    def start_back(self, dc_end: Tensor) -> None:
        """Before the first `step_back`, which is that of the last step."""
        self.dh, self.dc = torch.zeros_like(dc_end), dc_end.clone()
        self.d_weight, self.d_bias = torch.zeros_like(self.weight), self.gates.new_zeros(4 * self.n)
        self.weight_t = self.weight.t().contiguous()
        self.d_gates, self.through_h = torch.empty_like(self.gates[0]), torch.empty_like(dc_end)

    def step_back(self, t: int, dh_t: Tensor) -> Tensor:
        """From dL/dh_t without what comes through later steps, to dL/da_t."""
        a, d, n, tanh_c, dh, dc = self.gates[t], self.d_gates, self.n, self.tanh_c, self.dh, self.dc
        i, f, g, o = a.chunk(4)
        dh += dh_t
        torch.tanh(self.c[t + 1], out=tanh_c)
        torch.mul(dh, o, out=self.through_h)
        dc += tanh_backward(self.through_h, tanh_c, grad_input=self.through_h)
        torch.mul(dc, g, out=d[:n])
        torch.mul(dc, self.c[t], out=d[n : 2 * n])
        torch.mul(dc, i, out=d[2 * n : 3 * n])
        torch.mul(dh, tanh_c, out=d[3 * n :])
        dc *= f
        sigmoid_backward(d[: 2 * n], a[: 2 * n], grad_input=a[: 2 * n])
        tanh_backward(d[2 * n : 3 * n], g, grad_input=g)
        sigmoid_backward(d[3 * n :], o, grad_input=o)
        torch.mm(self.weight_t, a, out=dh)
        self.d_weight.addmm_(a, self.h[t].t())
        self.d_bias += a.sum(1)
        return a


class _PreactivationLSTM(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y: Tensor, weight: Tensor, bias: Tensor, h0: Tensor, c0: Tensor) -> tuple[Tensor, Tensor]:
        core, column = Recurrence(y, weight, h0, c0), bias.unsqueeze(1)
        for t in range(y.shape[0]):
            y[t].add_(column)
            core.step(t)
        ctx.save_for_backward(weight)  # autograd then refuses a weight that has changed since
        ctx.core = core
        return core.h[1:], core.c[-1].clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dh: Tensor, dc_end: Tensor):
        core = take(ctx, "core")
        core.start_back(dc_end)
        for t in range(dh.shape[0] - 1, -1, -1):
            core.step_back(t, dh[t])
        return core.gates, core.d_weight, core.d_bias, core.dh, core.dc


def take(ctx, name: str):
    """What forward left in ctx, once: backward writes its gradients over it."""
    _, value = ctx.saved_tensors, getattr(ctx, name)
    if value is None:
        raise RuntimeError("this LSTM's backward reuses its memory: run it once per forward (no retain_graph)")
    setattr(ctx, name, None)
    return value
