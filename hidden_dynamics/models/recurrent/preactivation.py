"""An LSTM core whose gates' input is given, with backpropagation through time derived by hand. For the CPU.

torch's LSTM multiplies its input by a weight in any case; where the input is already the gates' pre-activation, that
weight is a 4N x 4N identity, four times the work of the recurrence itself. Here the recurrence alone is left.

What need not be done step by step is done for a block of steps at once: with a small batch, a product of one step takes
as long as it takes to read the weight, and that of a block takes hardly longer.
"""

import torch
from torch import Tensor

STEPS = 16  # of a block
ENOUGH_COLUMNS = 128  # from this batch size on, the product of one step is as fast as it gets

sigmoid_backward = torch.ops.aten.sigmoid_backward.grad_input
tanh_backward = torch.ops.aten.tanh_backward.grad_input


def lstm(y: Tensor, weight_hh: Tensor, bias_hh: Tensor, h0: Tensor, c0: Tensor) -> tuple[Tensor, Tensor]:
    """a_t = y_t + U h_{t-1} + b, then the LSTM's gates.

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


def blocks(steps: int) -> list[range]:
    """The steps 0, ..., T - 1 in ranges of STEPS, the last of what is left."""
    return [range(start, min(start + STEPS, steps)) for start in range(0, steps, STEPS)]


def part(sequence: Tensor, block: range) -> Tensor:
    """The block's steps of a (T, ...)."""
    return sequence[block.start : block.stop]


def multiply(weight: Tensor, x: Tensor, out: Tensor) -> None:
    """out_t = W x_t, with weight W (m, n), x (steps, n, batch) and out (steps, m, batch)."""
    if x.shape[2] < ENOUGH_COLUMNS:
        out.copy_(torch.mm(weight, _columns(x)).unflatten(1, (x.shape[0], x.shape[2])).transpose(0, 1))
    else:
        torch.bmm(weight.expand(x.shape[0], -1, -1), x, out=out)


def add_outer_products(total: Tensor, d: Tensor, x: Tensor) -> None:
    """total += sum_t d_t x_t^T, with total (m, n), d (steps, m, batch) and x (steps, n, batch)."""
    if x.shape[2] < ENOUGH_COLUMNS:
        total.addmm_(_columns(d), _columns(x).t())
    else:
        total.addbmm_(d, x.transpose(1, 2))


def _columns(x: Tensor) -> Tensor:
    """(steps, n, batch) as one matrix, (n, steps * batch)."""
    return x.transpose(0, 1).reshape(x.shape[1], -1)


class Recurrence:
    """The steps of the core and their adjoints, in place: a_t and its gradient live where the gates do.

    Args:
        gates: (T, 4N, batch). `step(t)` expects y_t + b in gates[t] and leaves i, f, g, o there; `step_back(t)` leaves
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
        self.all, self.i_and_f = gates.unbind(), gates[:, : 2 * n].unbind()
        self.each = list(zip(*(gate.unbind() for gate in gates.chunk(4, dim=1)), strict=True))
        self.h_at, self.c_at = self.h.unbind(), self.c.unbind()

    def step(self, t: int) -> None:
        a, (i, f, g, o), c = self.all[t], self.each[t], self.c_at[t + 1]
        torch.addmm(a, self.weight, self.h_at[t], out=a)
        self.i_and_f[t].sigmoid_()
        g.tanh_()
        o.sigmoid_()
        torch.mul(f, self.c_at[t], out=c).addcmul_(i, g)
        torch.mul(o, torch.tanh(c, out=self.tanh_c), out=self.h_at[t + 1])

    def start_back(self, dc_end: Tensor) -> None:
        """Before the first `step_back`, which is that of the last step."""
        self.dh, self.dc, self.through_h = torch.zeros_like(dc_end), dc_end.clone(), torch.empty_like(dc_end)
        self.d_weight, self.d_bias = torch.zeros_like(self.weight), self.weight.new_zeros(self.weight.shape[0])
        self.weight_t = self.weight.t().contiguous()
        self.d = torch.empty_like(self.gates[0])
        self.d_i_and_f, self.d_each = self.d[: 2 * dc_end.shape[0]], self.d.chunk(4)

    def step_back(self, t: int, dh_t: Tensor) -> Tensor:
        """From dL/dh_t, without what comes through later steps, to dL/da_t."""
        a, (i, f, g, o), (di, df, dg, do) = self.all[t], self.each[t], self.d_each
        dh, dc, tanh_c, through_h = self.dh, self.dc, self.tanh_c, self.through_h
        dh += dh_t
        torch.tanh(self.c_at[t + 1], out=tanh_c)
        torch.mul(dh, o, out=through_h)
        dc += tanh_backward(through_h, tanh_c, grad_input=through_h)
        torch.mul(dc, g, out=di)
        torch.mul(dc, self.c_at[t], out=df)
        torch.mul(dc, i, out=dg)
        torch.mul(dh, tanh_c, out=do)
        dc *= f
        sigmoid_backward(self.d_i_and_f, self.i_and_f[t], grad_input=self.i_and_f[t])
        tanh_backward(dg, g, grad_input=g)
        sigmoid_backward(do, o, grad_input=o)
        torch.mm(self.weight_t, a, out=dh)
        return a

    def end_block_back(self, block: range) -> None:
        """After the `step_back` of all its steps."""
        da = part(self.gates, block)
        add_outer_products(self.d_weight, da, part(self.h, block))
        self.d_bias += da.sum((0, 2))


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
        for block in reversed(blocks(dh.shape[0])):
            for t in reversed(block):
                core.step_back(t, dh[t])
            core.end_block_back(block)
        return core.gates, core.d_weight, core.d_bias, core.dh, core.dc


def take(ctx, name: str):
    """The array that forward left in ctx; it can be taken once, because backward writes its gradients over it."""
    _, value = ctx.saved_tensors, getattr(ctx, name)
    if value is None:
        raise RuntimeError("this LSTM's backward reuses its memory: run it once per forward (no retain_graph)")
    setattr(ctx, name, None)
    return value
