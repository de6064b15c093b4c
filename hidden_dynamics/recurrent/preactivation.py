"""An LSTM core whose gates' input is given, with backpropagation through time derived by hand. For the CPU.

torch's LSTM multiplies its input by a weight in any case; where the input is already the gates' pre-activation, that
weight is a 4N x 4N identity, four times the work of the recurrence itself. Here the recurrence alone is left.
"""

import torch
from torch import Tensor

sigmoid_backward = torch.ops.aten.sigmoid_backward.grad_input
tanh_backward = torch.ops.aten.tanh_backward.grad_input


def lstm(y: Tensor, weight_hh: Tensor, bias_hh: Tensor, h0: Tensor, c0: Tensor) -> tuple[Tensor, Tensor]:
    """a_t = y_t + U h_{t-1} + b, then the LSTM's gates.

    The gates are in the order i, f, o, g in every argument: the three sigmoids are one operation.

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
        gates: (T, 4N, batch). `step(t)` expects y_t + b in gates[t] and leaves i, f, o, g there; `step_back(t)` leaves
            dL/da_t.
        weight: U, (4N, N).
        h0, c0: (N, batch).
    """

    def __init__(self, gates: Tensor, weight: Tensor, h0: Tensor, c0: Tensor):
        steps, four_n, batch = gates.shape
        n = four_n // 4
        self.weight, self.gates = weight, gates
        self.h, self.c = gates.new_empty(steps + 1, n, batch), gates.new_empty(steps + 1, n, batch)
        self.h[0], self.c[0] = h0, c0
        self.tanh_c = torch.empty_like(self.c[0])
        # Views are made once: an indexing in the loop costs a good part of what an operation does.
        self.all, self.sigmoids = gates.unbind(), gates[:, : 3 * n].unbind()
        self.each = list(zip(*(gate.unbind() for gate in gates.chunk(4, dim=1)), strict=True))
        self.h_at, self.c_at = self.h.unbind(), self.c.unbind()

    def step(self, t: int) -> None:
        a, (i, f, o, g), c = self.all[t], self.each[t], self.c_at[t + 1]
        torch.addmm(a, self.weight, self.h_at[t], out=a)
        self.sigmoids[t].sigmoid_()
        g.tanh_()
        torch.mul(f, self.c_at[t], out=c).addcmul_(i, g)
        torch.mul(o, torch.tanh(c, out=self.tanh_c), out=self.h_at[t + 1])

    def start_back(self, dc_end: Tensor) -> None:
        """Before the first `step_back`, which is that of the last step."""
        self.dh, self.dc, self.through_h = torch.zeros_like(dc_end), dc_end.clone(), torch.empty_like(dc_end)
        self.d_weight, self.d_bias = torch.zeros_like(self.weight), self.weight.new_zeros(self.weight.shape[0])
        self.weight_t, self.ones = self.weight.t().contiguous(), dc_end.new_ones(dc_end.shape[1])
        self.d = torch.empty_like(self.gates[0])
        self.d_sigmoids, self.d_each = self.d[: 3 * dc_end.shape[0]], self.d.chunk(4)

    def step_back(self, t: int, dh_t: Tensor) -> Tensor:
        """From dL/dh_t, without what comes through later steps, to dL/da_t."""
        a, (i, f, o, g), (di, df, do, dg) = self.all[t], self.each[t], self.d_each
        dh, dc, tanh_c, through_h = self.dh, self.dc, self.tanh_c, self.through_h
        dh += dh_t
        torch.tanh(self.c_at[t + 1], out=tanh_c)
        torch.mul(dh, o, out=through_h)
        dc += tanh_backward(through_h, tanh_c, grad_input=through_h)
        torch.mul(dc, g, out=di)
        torch.mul(dc, self.c_at[t], out=df)
        torch.mul(dh, tanh_c, out=do)
        torch.mul(dc, i, out=dg)
        dc *= f
        sigmoid_backward(self.d_sigmoids, self.sigmoids[t], grad_input=self.sigmoids[t])
        tanh_backward(dg, g, grad_input=g)
        torch.mm(self.weight_t, a, out=dh)
        self.d_weight.addmm_(a, self.h_at[t].t())
        self.d_bias.addmv_(a, self.ones)
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
