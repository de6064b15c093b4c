"""Adam's input filter inside the CPU core's own loop over time, forward and adjoint derived by hand.

An optimisation, and no more: `momentum.filters.Adam` over all steps at once, then `preactivation.lstm`, gives the same.
On a CPU that moves the gates' input, (T, 4N, batch), through memory once per operation; here W x is computed
for a block of steps, and each step is filtered while it lies in the cache and is consumed there. With the step size
divided out, p = v / s and n = (m + eps) / s^2, and g_t = W x_t + b:

    p_t = mu p_{t-1} + g_t
    n_t = beta n_{t-1} + (1 - beta) (g_t^2 + eps) / s^2
    y_t = p_t / sqrt(n_t)

and the adjoints, from dy_t = dL/dy_t, with e_t = -2 dL/dn_t:

    dp_t = dy_t / sqrt(n_t) + mu dp_{t+1}
    e_t = dy_t p_t / n_t^(3/2) + beta e_{t+1}
    dg_t = dp_t - (1 - beta) / s^2 g_t e_t
"""

import torch
from torch import Tensor

from hidden_dynamics.models.momentum.filters import Adam
from hidden_dynamics.models.recurrent.preactivation import (
    STEPS,
    Recurrence,
    add_outer_products,
    blocks,
    multiply,
    part,
    take,
)

WIDE = 64  # features of x from which on g takes longer to compute again than to write and read


def adam_lstm(
    x: Tensor,
    weight_ih: Tensor,
    bias_ih: Tensor,
    filter: Adam,
    state: tuple | None,
    weight_hh: Tensor,
    bias_hh: Tensor,
    h0: Tensor,
    c0: Tensor,
) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
    """`preactivation.lstm` of y = filter(W x + b).

    Args:
        x: (T, d, batch).
        weight_ih: W, (4N, d); bias_ih: b, (4N,).
        filter: Adam, or RMSProp, which is Adam with mu = 0.
        state: the filter's (v, m), each (4N, batch), before the first step; None is 0.
        weight_hh: (4N, N); bias_hh: (4N,).
        h0, c0: (N, batch).

    Returns:
        h, (T, N, batch); c, (N, batch), and the filter's state after the last step. Differentiable once, and once only
        per forward.
    """
    v, m = state if state is not None else 2 * (x.new_zeros(weight_ih.shape[0], x.shape[2]),)
    s, eps = filter.s, filter.eps
    inputs = torch.cat([x, x.new_ones(1, 1, 1).expand(x.shape[0], 1, x.shape[2])], dim=1)
    weight = torch.cat([weight_ih, bias_ih.unsqueeze(1)], dim=1)
    h, c, p, n = _AdamLSTM.apply(filter, inputs, weight, v / s, (m + eps) / s**2, weight_hh, bias_hh, h0, c0)
    return h, c, (s * p, s**2 * n - eps)


class AdamInput:
    """The filter's steps and their adjoints.

    Forward keeps (p, n) before each block of steps; backward computes those in between again, and g_t too unless x is
    wide: then forward keeps every g_t.

    Args:
        filter: its mu, s, beta and eps.
        x: (T, d + 1, batch), the last channel being the bias's constant 1.
        weight: [W, b], (4N, d + 1).
        p, n: (4N, batch), before the first step.
    """

    def __init__(self, filter: Adam, x: Tensor, weight: Tensor, p: Tensor, n: Tensor):
        self.mu, self.beta, self.inverse_s2 = filter.mu, filter.beta, filter.s**-2
        self.eps = x.new_tensor(filter.eps * self.inverse_s2)
        self.x, self.weight = x, weight
        self.p, self.n, self.scratch = p.clone(), n.clone(), torch.empty_like(p)
        self.kept = x.new_empty(len(blocks(x.shape[0])), 2, *p.shape)
        self.keeps_g, self.of_block = x.shape[1] >= WIDE, min(STEPS, x.shape[0])
        self.g = x.new_empty(x.shape[0] if self.keeps_g else self.of_block, *p.shape)
        self.g_at = self.g.unbind()

    def _g_of(self, block: range) -> Tensor:
        """The array of g_t for the block's steps, (steps, 4N, batch)."""
        return part(self.g, block) if self.keeps_g else self.g[: len(block)]

    def _project(self, block: range) -> None:
        multiply(self.weight, part(self.x, block), out=self._g_of(block))

    def start_block(self, block: range) -> None:
        """Before the `step` of its first step."""
        self.kept[block.start // STEPS, 0], self.kept[block.start // STEPS, 1] = self.p, self.n
        self._project(block)

    def step(self, t: int, column: Tensor, out: Tensor) -> None:
        """out = y_t + column."""
        self._advance(t, self.p, self.n, self.p, self.n)
        torch.addcmul(column, self.p, torch.rsqrt(self.n, out=self.scratch), out=out)

    def _advance(self, t: int, p: Tensor, n: Tensor, p_out: Tensor, n_out: Tensor) -> None:
        """p_t and n_t from p_{t-1} and n_{t-1}."""
        g = self.g_at[t % len(self.g_at)]
        torch.add(g, p, alpha=self.mu, out=p_out)
        square = torch.addcmul(self.eps, g, g, value=self.inverse_s2, out=self.scratch)
        if self.beta < 0.5:  # either is the average; the smaller weight is the one to give, as 1 minus it is rounded
            torch.lerp(square, n, self.beta, out=n_out)
        else:
            torch.lerp(n, square, 1 - self.beta, out=n_out)

    def start_back(self, dp_end: Tensor, dn_end: Tensor, with_dx: bool) -> None:
        """Before the first block, which is the last in time."""
        self.dp, self.e, self.last = dp_end.clone(), -2 * dn_end, self.x.shape[0] - 1
        self.dx = torch.empty_like(self.x) if with_dx else None
        self.d_weight = torch.zeros_like(self.weight)
        p_and_n = self.x.new_empty(self.of_block, 2, *self.p.shape)
        self.p_and_n_at = [of_step.unbind() for of_step in p_and_n]

    def start_block_back(self, block: range) -> None:
        """Before the `step_back` of its last step: g, p and n of its steps."""
        if not self.keeps_g:
            self._project(block)
        p, n = self.kept[block.start // STEPS]
        for t in block:
            self._advance(t, p, n, *self.p_and_n_at[t % STEPS])
            p, n = self.p_and_n_at[t % STEPS]

    def step_back(self, t: int, dy: Tensor) -> None:
        """Leaves dg_t where g_t was."""
        g, (p, n) = self.g_at[t % len(self.g_at)], self.p_and_n_at[t % STEPS]
        dp, e, last = self.dp, self.e, t == self.last  # after the last step, the state's gradient comes in as it is
        torch.div(p, n, out=p)
        n.rsqrt_().mul_(dy)
        torch.add(n, dp, alpha=1 if last else self.mu, out=dp)
        torch.add(p.mul_(n), e, alpha=1 if last else self.beta, out=e)
        torch.addcmul(dp, g, e, value=-(1 - self.beta) * self.inverse_s2, out=g)

    def end_block_back(self, block: range) -> None:
        """After the `step_back` of all its steps."""
        dg = self._g_of(block)
        add_outer_products(self.d_weight, dg, part(self.x, block))
        if self.dx is not None:
            multiply(self.weight.t(), dg, out=part(self.dx, block))


class _AdamLSTM(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx,
        filter: Adam,
        x: Tensor,
        weight_ih: Tensor,
        p: Tensor,
        n: Tensor,
        weight_hh: Tensor,
        bias: Tensor,
        h: Tensor,
        c: Tensor,
    ):
        adam, column = AdamInput(filter, x, weight_ih, p, n), bias.unsqueeze(1)
        core = Recurrence(x.new_empty(x.shape[0], *p.shape), weight_hh, h, c)
        for block in blocks(x.shape[0]):
            adam.start_block(block)
            for t in block:
                adam.step(t, column, out=core.all[t])
                core.step(t)
        ctx.save_for_backward(x, weight_ih, weight_hh)
        ctx.steps = adam, core
        return core.h[1:], core.c[-1].clone(), adam.p.clone(), adam.n.clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dh: Tensor, dc_end: Tensor, dp_end: Tensor, dn_end: Tensor):
        adam, core = take(ctx, "steps")
        core.start_back(dc_end)
        adam.start_back(dp_end, dn_end, with_dx=ctx.needs_input_grad[1])
        for block in reversed(blocks(dh.shape[0])):
            adam.start_block_back(block)
            for t in reversed(block):
                adam.step_back(t, core.step_back(t, dh[t]))
            adam.end_block_back(block)
            core.end_block_back(block)
        d_filter = adam.dx, adam.d_weight, adam.mu * adam.dp, -0.5 * adam.beta * adam.e
        return None, *d_filter, core.d_weight, core.d_bias, core.dh, core.dc
