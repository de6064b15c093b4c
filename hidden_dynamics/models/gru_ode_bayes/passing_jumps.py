"""The jumps of a passage: the p-model before each, BayesJump, and their derivatives beside them."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

from hidden_dynamics.models.gru_ode_bayes.plan import JumpWeights, Plan, Take

sigmoid_backward = torch.ops.aten.sigmoid_backward.grad_input
tanh_backward = torch.ops.aten.tanh_backward.grad_input
threshold_backward = torch.ops.aten.threshold_backward.grad_input


class Jumps:
    """The jumps of all rows.

    One array has, for every row: the p-model's hidden layer before the ReLU, what of the GRU's candidate comes from h
    (before r), and the gates r, z and n. Backwards, the gradients of all pre-activations take their places, so that
    those of products with the state and those of products with the input each lie side by side.
    """

    def __init__(self, plan: Plan, weights: JumpWeights, size: int, take: Take):
        self.weights, self.plan, self.size = weights, plan, size
        (rows, self.features), self.hidden = plan.values.shape, len(weights.p_in)
        self.from_h = _with_p_in(weights.p_in, weights.gru_hidden, size)
        self.from_h_bias = _with_p_in(weights.p_in_bias, weights.gru_hidden_bias, size)
        self.from_h_bias[self.hidden + size :] += weights.gru_in_bias[: 2 * size]  # r and z are of the sum
        of_rz, of_n = weights.gru_in.split([2 * size, size])
        self.transposed = [each.t() for each in (self.from_h, weights.p_out, of_rz, of_n)]
        self.n_bias = weights.gru_in_bias[2 * size :]
        self.p, self.after = (weights.p_in.new_empty(rows, columns) for columns in (2 * self.features, size))
        self.before, self.all, self.q = (take(rows, n) for n in (size, self.hidden + 4 * size, self.hidden))
        self.prepared = take(rows, weights.preparing.shape[1])
        self.seen = take(rows, 5 * self.features)  # m, m x, m mean, m logvar, m error
        self.seen[:, : self.features] = plan.mask
        self.seen[:, self.features : 2 * self.features] = plan.mask * plan.values
        self.inverse = take(rows, self.features)  # 1 / sigma, 1 where nothing was observed
        self.counts = [end - start for start, end in pairwise(plan.offsets)]
        self.given, self.made, self.gates = (self._by_jump(arrays) for arrays in self._arrays())
        self.keep = None if plan.keep is None else plan.keep.split(self.counts)

    def _by_jump(self, arrays: Sequence[Tensor]) -> list[tuple[Tensor, ...]]:
        """The rows of each jump, of each array."""
        return list(zip(*(each.split(self.counts) for each in arrays), strict=True))

    def _arrays(self) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """What is given of each row, what is made of it, and the columns of the one array, singly and together."""
        size, p, d, plan = self.size, self.hidden, self.features, self.plan
        seen = self.seen, self.seen[:, 2 * d : 4 * d], *self.seen[:, d:].split(d, 1)
        columns = self.all.split([p, size, size, size, size], 1)
        together = self.all[:, : p + 3 * size], self.all[:, p + size :], self.all[:, p + size : p + 3 * size]
        return (
            [plan.series, torch.cat([plan.mask, plan.mask], 1)],
            [self.before, self.after, self.q, self.p, self.prepared, *seen, self.inverse],
            [*columns, *together],
        )

    def make(self, number: int, h: Tensor) -> None:
        """The jump of the rows of a union time, in h (batch, d)."""
        series, mask = self.given[number]
        before, after, q, p, prepared, seen, seen_p, x, mean, logvar, error, inverse = self.made[number]
        q_before, of_h, r, z, n, from_h, _, rz = self.gates[number]
        from_h_t, p_out_t, of_rz_t, of_n_t = self.transposed
        torch.index_select(h, 0, series, out=before)
        torch.addmm(self.from_h_bias, before, from_h_t, out=from_h)
        torch.clamp(q_before, min=0, out=q)
        if self.keep is not None:
            q.mul_(self.keep[number])
        torch.addmm(self.weights.p_out_bias, q, p_out_t, out=p)
        torch.mul(p, mask, out=seen_p)
        torch.mul(logvar, -0.5, out=inverse).exp_()
        torch.sub(x, mean, out=error).mul_(inverse)
        torch.mm(seen, self.weights.preparing, out=prepared).relu_()
        rz.addmm_(prepared, of_rz_t).sigmoid_()
        torch.addmm(self.n_bias, prepared, of_n_t, out=n).addcmul_(r, of_h).tanh_()
        torch.lerp(n, before, z, out=after)
        h.index_copy_(0, series, after)

    def start_back(self, d_p_before: Tensor, d_after: Tensor) -> None:
        """Before the first `make_back`, which is that of the last jump."""
        self.d_p = torch.empty_like(self.p)
        arrays = d_p_before, d_after, self.d_p
        self.d_rows = self._by_jump(arrays)
        self.d_preparing = torch.zeros_like(self.weights.preparing)
        self.preparing_p = self.weights.preparing[2 * self.features :].t().contiguous()

    def make_back(self, number: int, dh: Tensor) -> None:
        """From the gradient of the state after the jump to that before it, in dh (batch, d)."""
        series, mask = self.given[number]
        before, _, q, _, prepared, seen, _, _, _, _, error, inverse = self.made[number]
        d_q, of_h, r, z, n, from_h, from_input, _ = self.gates[number]
        d_p_before, d_after, d_p = self.d_rows[number]
        w, d = self.weights, self.features
        d_new = dh.index_select(0, series).add_(d_after)
        d_z = (before - n).mul_(d_new)
        d_old = d_new * z
        tanh_backward(d_new.sub_(d_old), n, grad_input=n)
        d_r = n * of_h
        torch.mul(n, r, out=of_h)
        sigmoid_backward(d_r, r, grad_input=r)
        sigmoid_backward(d_z, z, grad_input=z)
        d_prepared = from_input @ w.gru_in
        threshold_backward(d_prepared, prepared, 0, grad_input=d_prepared)
        self.d_preparing.addmm_(seen.t(), d_prepared)
        d_seen = d_prepared @ self.preparing_p
        d_mean, d_logvar, d_error = d_seen.chunk(3, 1)
        d_mean.addcmul_(d_error, inverse, value=-1)
        d_logvar.addcmul_(d_error, error, value=-0.5)
        torch.addcmul(d_p_before, d_seen[:, : 2 * d], mask, out=d_p)
        threshold_backward(d_p @ w.p_out, q, 0, grad_input=d_q)
        if self.keep is not None:
            d_q.mul_(self.keep[number])
        dh.index_copy_(0, series, d_old.addmm_(from_h, self.from_h))

    def gradients(self) -> list[Tensor]:
        """Of `JumpWeights`, after `make_back` of all jumps."""
        p, size = self.hidden, self.size
        from_h, from_input = self.all[:, : p + 3 * size], self.all[:, p + size :]
        p_in, of_n, of_rz = (from_h.t() @ self.before).split([p, size, 2 * size])
        bias = self.all.t() @ self.all.new_ones(len(self.all))  # a third of the time of a sum over rows
        p_in_bias, n_bias, rz_bias = bias[: p + 3 * size].split([p, size, 2 * size])
        return [
            *(p_in, p_in_bias, self.d_p.t() @ self.q, self.d_p.sum(0), self.d_preparing),
            *(from_input.t() @ self.prepared, bias[p + size :]),
            *(torch.cat([of_rz, of_n]), torch.cat([rz_bias, n_bias])),
        ]


def _with_p_in(p_in: Tensor, gru_hidden: Tensor, size: int) -> Tensor:
    """The rows that multiply the state: of the p-model, of the GRU's candidate, of its gates."""
    return torch.cat([p_in, gru_hidden[2 * size :], gru_hidden[: 2 * size]])
