"""Adam's input filter inside the CPU core's own loop over time, forward and adjoint derived by hand.

An optimisation, and no more: `hidden_dynamics.filters.Adam` over all steps at once, then `preactivation.lstm`, gives
the same. On a CPU that moves the gates' input, (T, 4N, batch), through memory once per operation; here each step is
filtered while it lies in the cache and is consumed there. With the step size divided out, p = v / s and
n = (m + eps) / s^2, and g_t = W x_t + b:

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

from hidden_dynamics.filters import Adam
from hidden_dynamics.recurrent.preactivation import Recurrence, take

STEPS = 16  # between the steps whose (p, n) forward keeps; backward computes those in between again


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
    """`preactivation.lstm` of y = filter(W x + b), the gates in the same order.

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
        self.kept = x.new_empty(-(-x.shape[0] // STEPS), 2, *p.shape)

    def step(self, t: int, column: Tensor, out: Tensor) -> None:
        """out = y_t + column."""
        if t % STEPS == 0:
            self.kept[t // STEPS, 0], self.kept[t // STEPS, 1] = self.p, self.n
        self._advance(t, self.p, self.n, self.p, self.n)
        torch.addcmul(column, self.p, torch.rsqrt(self.n, out=self.scratch), out=out)

    def _advance(self, t: int, p: Tensor, n: Tensor, p_out: Tensor, n_out: Tensor) -> None:
        """p_t and n_t from p_{t-1} and n_{t-1}."""
        g = torch.mm(self.weight, self.x[t], out=self.scratch)
        torch.add(g, p, alpha=self.mu, out=p_out)
        torch.addcmul(self.eps, g, g, value=self.inverse_s2, out=g)
        if self.beta < 0.5:  # either is the average; the smaller weight is the one to give, as 1 minus it is rounded
            torch.lerp(g, n, self.beta, out=n_out)
        else:
            torch.lerp(n, g, 1 - self.beta, out=n_out)

    def start_back(self, dp_end: Tensor, dn_end: Tensor, with_dx: bool) -> None:
        """Before the first `step_back`, which is that of the last step."""
        self.dp, self.e, self.last = dp_end.clone(), -2 * dn_end, self.x.shape[0] - 1
        self.dx = torch.empty_like(self.x) if with_dx else None
        self.d_weight_t, self.weight_t = self.weight.new_zeros(self.weight.t().shape), self.weight.t().contiguous()
        self.block = self.x.new_empty(min(STEPS, self.x.shape[0]), 2, *self.p.shape)

    def step_back(self, t: int, dy: Tensor) -> None:
        if t == self.last or t % STEPS == STEPS - 1:
            self._compute_again(t // STEPS)
        p, n = self.block[t % STEPS]
        dp, e, last = self.dp, self.e, t == self.last  # after the last step, the state's gradient comes in as it is
        torch.div(p, n, out=p)
        n.rsqrt_().mul_(dy)
        torch.add(n, dp, alpha=1 if last else self.mu, out=dp)
        torch.add(p.mul_(n), e, alpha=1 if last else self.beta, out=e)
        g = torch.mm(self.weight, self.x[t], out=self.scratch)
        dg = torch.addcmul(dp, g, e, value=-(1 - self.beta) * self.inverse_s2, out=g)
        self.d_weight_t.addmm_(self.x[t], dg.t())
        if self.dx is not None:
            torch.mm(self.weight_t, dg, out=self.dx[t])

    def _compute_again(self, k: int) -> None:
        p, n = self.kept[k]
        for t in range(k * STEPS, min((k + 1) * STEPS, self.last + 1)):
            self._advance(t, p, n, *self.block[t % STEPS])
            p, n = self.block[t % STEPS]


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
        for t in range(x.shape[0]):
            adam.step(t, column, out=core.gates[t])
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
        for t in range(dh.shape[0] - 1, -1, -1):
            adam.step_back(t, core.step_back(t, dh[t]))
        d_filter = adam.dx, adam.d_weight_t.t(), adam.mu * adam.dp, -0.5 * adam.beta * adam.e
        return None, *d_filter, core.d_weight, core.d_bias, core.dh, core.dc
