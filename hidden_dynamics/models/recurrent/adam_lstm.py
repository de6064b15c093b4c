"""The LSTM behind Adam's filter on a CPU: forward and backpropagation through time, derived by hand.

torch's own LSTM would multiply the filtered gates' input by a 4N x 4N identity, and the filter by autograd would keep
six arrays of its size, (T, 4N, batch). Here the filter passes over a block of steps while that lies in the cache, and
backward computes the block again from the filter's state before it. With the step size divided out, p = v / s and
n = (m + eps) / s^2, g_t = W x_t + b and the LSTM's pre-activations a_t:

    p_t = mu p_{t-1} + g_t,   n_t = beta n_{t-1} + (1 - beta) (g_t^2 + eps) / s^2
    a_t = p_t / sqrt(n_t) + U h_{t-1} + b_hh

and the adjoints, from da_t = dL/da_t, with e_t = -2 dL/dn_t:

    dp_t = da_t / sqrt(n_t) + mu dp_{t+1},   e_t = da_t p_t / n_t^(3/2) + beta e_{t+1}
    dg_t = dp_t - (1 - beta) / s^2 g_t e_t
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, cast

import torch
from torch import Tensor

from hidden_dynamics.models.momentum.filters import Adam
from hidden_dynamics.models.transformed import double_backward, is_transformed

BLOCK = 2**19  # elements of the gates of a block of steps: what the filter needs of them fits into a core's own cache

sigmoid_backward = torch.ops.aten.sigmoid_backward.grad_input
tanh_backward = torch.ops.aten.tanh_backward.grad_input


def adam_lstm(
    adam: Adam,
    x: Tensor,
    state: tuple[Tensor, Tensor] | None,
    weight_ih: Tensor,
    bias_ih: Tensor,
    weight_hh: Tensor,
    bias_hh: Tensor,
    h0: Tensor,
    c0: Tensor,
) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
    """The LSTM's core run on adam(W x + b_ih), or RMSProp, which is Adam with mu = 0; features come before the batch.

    Of x, (T, d, batch), W, (4N, d), U, (4N, N), biases (4N,), h0 and c0, (N, batch), and the filter's `state` before
    the first step, (v, m), each (4N, batch), or None for 0: h, (T, N, batch); c, (N, batch), and the filter's state
    after the last step.
    """
    v, m = state if state is not None else 2 * (x.new_zeros(weight_ih.shape[0], x.shape[2]),)
    s, eps = adam.s, adam.eps
    inputs = torch.cat([x, x.new_ones(1, 1, 1).expand(x.shape[0], 1, x.shape[2])], dim=1)
    weight = torch.cat([weight_ih, bias_ih.unsqueeze(1)], dim=1)
    run = cast(Callable[..., tuple[Tensor, ...]], _by_steps if is_transformed() else _AdamLSTM.apply)
    h, c, p, n = run(adam, inputs, weight, v / s, (m + eps) / s**2, weight_hh, bias_hh, h0, c0)
    return h, c, (s * p, s**2 * n - eps)


def _by_steps(adam: Adam, *given: Tensor) -> tuple[Tensor, ...]:
    """The equations as they read, step by step."""
    (x, weight_ih, p, n, weight_hh, bias, h, c), outputs = given, list[Tensor]()
    for x_t in x.unbind():
        gate = weight_ih @ x_t
        p = adam.mu * p + gate
        n = adam.beta * n + (1 - adam.beta) / adam.s**2 * (gate.square() + adam.eps)
        i, f, g, o = (p * n.rsqrt() + weight_hh @ h + bias.unsqueeze(1)).chunk(4)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        outputs.append(h)
    return torch.stack(outputs), c, p, n


class _AdamLSTM(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, adam: Adam, *given: Tensor):
        x, weight_ih, p, n, weight_hh, bias, h0, c0 = given
        gates = x.new_empty(x.shape[0], *p.shape)
        h, c = (start.new_empty(x.shape[0] + 1, *start.shape) for start in (h0, c0))
        h[0], c[0] = h0, c0
        blocks = _blocks(gates)
        starts = x.new_empty(len(blocks) + 1, 2, *p.shape)  # p and n before each block, and after the last
        starts[0, 0], starts[0, 1] = p, n
        scratch = torch.empty_like(gates[blocks[0]])
        for index, block in enumerate(blocks):
            end = starts[index + 1].copy_(starts[index])
            g, around = scratch[: len(gates[block])], slice(block.start, block.stop + 1)
            torch.bmm(weight_ih.expand(len(g), -1, -1), x[block], out=g)
            _run_gates(_shares(adam, g, gates[block], end, bias), gates[block], weight_hh, h[around], c[around])
        ctx.save_for_backward(x, weight_ih, p, n, weight_hh, bias, h0, c0, gates, h, c, starts)
        ctx.adam = adam
        return h[1:], c[-1].clone(), *starts[-1].clone().unbind()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor):
        (dh_each, dc, dp, dn), (*given, gates, h, c, starts) = gradients, ctx.saved_tensors
        if torch.is_grad_enabled():
            by_steps = functools.partial(_by_steps, ctx.adam)
            return None, *double_backward(by_steps, given, gradients, ctx.needs_input_grad[1:])
        x, weight_ih, _, _, weight_hh, *_ = given
        dh, dc, e, transposed = torch.zeros_like(dc), dc.clone(), -2 * dn, weight_hh.t().contiguous()
        dx = torch.empty_like(x) if ctx.needs_input_grad[1] else None
        d_weight_ih, d_weight_hh, d_bias = torch.zeros_like(weight_ih.t()), torch.zeros_like(weight_hh), 0
        blocks = _blocks(gates)
        scratch = gates.new_empty(4, *gates[blocks[0]].shape)  # once: memory that is freed and taken again is slow
        for start, block in reversed(list(zip(starts[:-1], blocks, strict=True))):
            da, g, p, n = scratch[:, : len(gates[block])].unbind()
            _run_gates_back(da, gates[block], c[block.start : block.stop + 1], dh_each[block], dh, dc, transposed)
            d_weight_hh.addbmm_(da, h[block].mT)
            d_bias = d_bias + da.sum((0, 2))
            _filter_again(ctx.adam, weight_ih, x[block], start, g, p, n)
            dg, dp, e = _filtered_back(ctx.adam, da, g, p, n, dp, e)
            d_weight_ih.addbmm_(x[block], dg.mT)
            if dx is not None:
                torch.matmul(weight_ih.t(), dg, out=dx[block])
        return None, dx, d_weight_ih.t(), dp, -0.5 * e, d_weight_hh, d_bias, dh, dc


def _blocks(gates: Tensor) -> list[slice]:
    steps = max(1, BLOCK // max(1, gates[0].numel()))
    return [slice(start, min(start + steps, len(gates))) for start in range(0, len(gates), steps)]


def _shares(adam: Adam, g: Tensor, a: Tensor, p_and_n: Tensor, bias: Tensor) -> Iterator[Tensor]:
    """Write the filter's share of each a_t, and the bias, into it, one step at a time, while it and p and n, (2, 4N,
    batch), which become those of the step, lie in the cache."""
    p, n = p_and_n.unbind()
    share, bias, scratch = (1 - adam.beta) / adam.s**2, bias.unsqueeze(1), torch.empty_like(p)
    eps = g.new_tensor(share * adam.eps)
    for g_t, a_t in zip(g.unbind(), a.unbind(), strict=True):
        torch.add(g_t, p, alpha=adam.mu, out=p)
        torch.addcmul(eps, g_t, g_t, value=share, out=scratch)
        torch.add(scratch, n, alpha=adam.beta, out=n)
        yield torch.addcmul(bias, p, torch.rsqrt(n, out=scratch), out=a_t)


def _filter_again(
    adam: Adam, weight: Tensor, x: Tensor, start: Tensor, g: Tensor, p_each: Tensor, n_each: Tensor
) -> None:
    """Write g, p and n of each step, from p and n before the first, (2, 4N, batch)."""
    share, (p, n) = (1 - adam.beta) / adam.s**2, start.unbind()
    torch.bmm(weight.expand(x.shape[0], -1, -1), x, out=g)
    torch.addcmul(g.new_tensor(share * adam.eps), g, g, value=share, out=n_each)
    for g_t, p_t, n_t in zip(g.unbind(), p_each.unbind(), n_each.unbind(), strict=True):
        p = torch.add(g_t, p, alpha=adam.mu, out=p_t)
        n = n_t.add_(n, alpha=adam.beta)


def _filtered_back(adam: Adam, da: Tensor, g: Tensor, p: Tensor, n: Tensor, dp: Tensor, e: Tensor):
    """dg of each step, and dp and e for the block before, from those of the block after; g, p and n are overwritten."""
    p.div_(n)
    dp_each = n.rsqrt_().mul_(da)
    e_each = p.mul_(dp_each)
    _accumulate(dp_each.unbind()[::-1], adam.mu, dp)
    _accumulate(e_each.unbind()[::-1], adam.beta, e)
    dg = torch.addcmul(dp_each, g, e_each, value=-(1 - adam.beta) / adam.s**2, out=g)  # which is its last use
    return dg, adam.mu * dp_each[0], adam.beta * e_each[0]


def _accumulate(steps: Sequence[Tensor], decay: float, first: Tensor) -> None:
    """u_1 += first, then u_t += decay u_{t-1}."""
    steps[0].add_(first)
    for before, u in pairwise(steps) if decay else ():
        u.add_(before, alpha=decay)


def _run_gates(shares: Iterable[Tensor], a: Tensor, weight: Tensor, h: Tensor, c: Tensor) -> None:
    """The gates, in a, (steps, 4N, batch), in the place of the filter's share of each a_t; h and c, (steps + 1, N,
    batch), of which the first is given."""
    n = h.shape[1]
    gates = zip(shares, a[:, : 2 * n].unbind(), *(each.unbind() for each in a.chunk(4, 1)), strict=True)
    h_each, c_each = h.unbind(), c.unbind()
    for t, (a_t, i_and_f, i, f, g, o) in enumerate(gates):
        torch.addmm(a_t, weight, h_each[t], out=a_t)
        i_and_f.sigmoid_()
        g.tanh_()
        o.sigmoid_()
        torch.mul(f, c_each[t], out=c_each[t + 1]).addcmul_(i, g)
        torch.mul(o, torch.tanh(c_each[t + 1]), out=h_each[t + 1])


def _run_gates_back(da: Tensor, gates: Tensor, c: Tensor, dh_each: Tensor, dh: Tensor, dc: Tensor, transposed: Tensor):
    """da, from dL/dh_t but for later steps; dh and dc, which come through these, become those of the step before."""
    n, c_each, dh_from_above = c.shape[1], c.unbind(), dh_each.unbind()
    parts = (each.unbind() for array in (da, gates) for each in (array, array[:, : 2 * n], *array.chunk(4, 1)))
    for t, part in reversed(list(enumerate(zip(*parts, strict=True)))):
        da_t, d_i_and_f, di, df, dg, do, _, i_and_f, i, f, g, o = part
        dh += dh_from_above[t]
        tanh_c = torch.tanh(c_each[t + 1])
        torch.mul(dh, tanh_c, out=do)
        dh *= o
        dc += tanh_backward(dh, tanh_c, grad_input=dh)
        torch.mul(dc, g, out=di)
        torch.mul(dc, c_each[t], out=df)
        torch.mul(dc, i, out=dg)
        dc *= f
        sigmoid_backward(d_i_and_f, i_and_f, grad_input=d_i_and_f)
        tanh_backward(dg, g, grad_input=dg)
        sigmoid_backward(do, o, grad_input=do)
        torch.mm(transposed, da_t, out=dh)
