"""The state's passage through steps and jumps, its backpropagation derived by hand.

The passage is a loop over time by nature. All that need not be done in it is done before or after, for all steps and
all rows at once: the losses and their gradients, the dropout masks, and the gradients of most weights, each a single
product over all steps or rows. In the loop, the results of an operation go where its gradient will be needed, and
gradients over what they are of.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from hidden_dynamics.models.continuous.attention import correlation, correlation_backward

sigmoid_backward = torch.ops.aten.sigmoid_backward.grad_input
tanh_backward = torch.ops.aten.tanh_backward.grad_input
threshold_backward = torch.ops.aten.threshold_backward.grad_input


Take = Callable[..., Tensor]  # of the sizes of an array, whose entries may be anything


class Blocks:
    """Memory of one passage, taken from what the one before gave back.

    A training step needs as much as the one before, hundreds of MB, and the system clears every page that it hands out
    anew, which was seen to take a quarter of the step.

    Args:
        like: of the type and on the device of all blocks.
    """

    free: ClassVar[list[Tensor]] = []

    def __init__(self, like: Tensor):
        self.like, self.taken = like, []

    def take(self, *shape: int) -> Tensor:
        """An array; its block is at most twice as large."""
        size = math.prod(shape)
        fitting = [
            (block.numel(), index)
            for index, block in enumerate(Blocks.free)
            if (block.dtype, block.device) == (self.like.dtype, self.like.device) and size <= block.numel() <= 2 * size
        ]
        if fitting:
            block = Blocks.free.pop(min(fitting)[1])
        else:
            with torch.inference_mode(False):  # whoever takes it next may need gradients
                block = self.like.new_empty(size + size // 32)
        self.taken.append(block)
        return block[:size].view(shape)

    def give_back(self) -> None:
        """What no passage took meanwhile is freed."""
        Blocks.free, self.taken = self.taken, []


class CellWeights(NamedTuple):
    """W_r over W_z (2 d, d), or W_z alone in the minimal cell, and W_h (d, d)."""

    gates: Tensor
    candidate: Tensor


class JumpWeights(NamedTuple):
    """The p-model's two layers, BayesJump's preparing matrix and its GRUCell."""

    p_in: Tensor  # (P, d)
    p_in_bias: Tensor  # (P,)
    p_out: Tensor  # (2 D, P)
    p_out_bias: Tensor  # (2 D,)
    preparing: Tensor  # (5 D, D prep)
    gru_in: Tensor  # (3 d, D prep), gates r, z, n
    gru_in_bias: Tensor
    gru_hidden: Tensor  # (3 d, d)
    gru_hidden_bias: Tensor


@dataclass(frozen=True)
class Plan:
    """What is done, and with which observations.

    Attributes:
        steps: Euler steps before each jump, all of them together; `last`, in the end.
        delta: of a step.
        offsets: rows of a jump are offsets[u] to offsets[u + 1] - 1.
        series: (R,) the series of each row.
        values, mask: (R, D).
        keep: (R, P), what dropout multiplies the p-model's hidden layer with before each jump; None is 1.
        wanted: states to return, ascending (hidden_dynamics.models.gru_ode_bayes.path).
        renewed: for each step whether a is set to the correlation of h before it; None without attention.
        detached: no gradient passes through these correlations.
        norms: the norm of the correlation of h after each jump is wanted.
    """

    steps: list[int]
    last: int
    delta: float
    offsets: list[int]
    series: Tensor
    values: Tensor
    mask: Tensor
    keep: Tensor | None
    wanted: list[int]
    renewed: list[bool] | None = None
    detached: bool = True
    norms: bool = False


class Passed(NamedTuple):
    """
    Attributes:
        p_before: (R, 2 D), the p-model's answer to the state of each row's series before its jump.
        after: (R, d), that state after it.
        wanted: (wanted, batch, d), the states asked for.
        norms: (U,) of the correlations after the jumps, or (0,); they have no gradient.
    """

    p_before: Tensor
    after: Tensor
    wanted: Tensor
    norms: Tensor


def passage(
    plan: Plan, h: Tensor, a: Tensor | None, f: CellWeights, g: CellWeights | None, jump: JumpWeights
) -> Passed:
    """The states on the way from h(0) = h, (batch, d).

    With a(0) = a, (d, d), every step is one of dh/dt = f(h'), h' = h softmax(a)^T; with weights of g,
    da/dt = g(h')^T h' / batch beside it. Differentiable once, with respect to all tensors given but the plan's.
    """
    return Passed(*_Passage.apply(plan, h, a, *f, *(g or (None, None)), *jump))


class _Passage(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, plan: Plan, h: Tensor, a: Tensor | None, *weights: Tensor | None) -> tuple[Tensor, ...]:
        f, g, jump = CellWeights(*weights[:2]), CellWeights(*weights[2:4]), JumpWeights(*weights[4:])
        needed = any(ctx.needs_input_grad)
        run = Run(plan, h, a, f, None if g.gates is None else g, jump, needed)
        run.forward()
        if needed:
            ctx.run = run
            ctx.save_for_backward(*(weight for weight in weights if weight is not None))  # none may change meanwhile
        ctx.mark_non_differentiable(run.norms)
        return run.jumps.p, run.jumps.after, run.wanted, run.norms

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, p_before: Tensor, after: Tensor, wanted: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        _, run = ctx.saved_tensors, ctx.run
        if run is None:
            raise RuntimeError("this passage's backward reuses its memory: run it once per forward (no retain_graph)")
        ctx.run = None
        return None, *run.backward(p_before, after, wanted)


class Run:
    """One passage; `forward` leaves what `backward` needs."""

    def __init__(
        self,
        plan: Plan,
        h: Tensor,
        a: Tensor | None,
        f: CellWeights,
        g: CellWeights | None,
        jump: JumpWeights,
        kept: bool,
    ):
        self.plan, self.h, self.a, self.kept = plan, h.clone(), a, kept
        steps = plan.last if kept else 1
        self.blocks = Blocks(h) if kept else None
        take = self.blocks.take if kept else h.new_empty
        self.f = Cell(f, steps, h, take)
        self.g = None if g is None else Cell(g, steps, h, take)
        # h' of each step; with attention h itself and softmax(a), too.
        self.attended = take(steps, *h.shape)
        if a is not None:
            self.hidden, self.softmax = take(steps, *h.shape), take(steps, *a.shape)
        self.jumps = Jumps(plan, jump, h.shape[1], take)
        self.wanted = h.new_empty(len(plan.wanted), *h.shape)
        self.correlations: list[Tensor] = []  # after the jumps, where their norms are wanted
        self.correlation: Tensor | None = None  # of h, where it is known

    def events(self) -> list[tuple[bool, int]]:
        """(whether it is a jump, its number) of every event."""
        found, done = [], 0
        for jump, steps in enumerate(self.plan.steps):
            found += [(False, step) for step in range(done, steps)] + [(True, jump)]
            done = steps
        return found + [(False, step) for step in range(done, self.plan.last)]

    def forward(self) -> None:
        wanted = {state: index for index, state in enumerate(self.plan.wanted)}
        for state, (is_jump, number) in enumerate([(None, 0), *self.events()]):
            if is_jump:
                self.jumps.make(number, self.h)
                if self.plan.norms:
                    self.correlation = correlation(self.h)
                    self.correlations.append(self.correlation)
            elif is_jump is not None:
                self.step(number)
            if state in wanted:
                self.wanted[wanted[state]] = self.h
        found = torch.stack(self.correlations) if self.correlations else self.h.new_empty(0, 1, 1)
        self.norms, self.correlations = torch.linalg.matrix_norm(found), []

    def step(self, number: int) -> None:
        place = number if self.kept else 0
        attended = self.attended[place]
        if self.a is None:
            attended.copy_(self.h)
        else:
            if self.plan.renewed[number]:
                self.a = correlation(self.h) if self.correlation is None else self.correlation
            softmax = torch.softmax(self.a, 1, out=self.softmax[place])
            self.hidden[place].copy_(self.h)
            torch.mm(self.h, softmax.t(), out=attended)
        self.h.add_(self.f.rate(place, attended), alpha=self.plan.delta)
        self.correlation = None
        if self.g is not None:
            rate = self.g.rate(place, attended)
            self.a = torch.addmm(self.a, rate.t(), attended, alpha=self.plan.delta / len(attended))

    def backward(self, d_p_before: Tensor, d_after: Tensor, d_wanted: Tensor) -> list[Tensor | None]:
        wanted = {state: index for index, state in enumerate(self.plan.wanted)}
        self.dh = torch.zeros_like(self.h)
        self.da = None if self.a is None else torch.zeros_like(self.a)
        events = [(None, 0), *self.events()]
        self.jumps.start_back(d_p_before, d_after)
        for state in reversed(range(len(events))):
            if state in wanted:
                self.dh += d_wanted[wanted[state]]
            is_jump, number = events[state]
            if is_jump:
                self.jumps.make_back(number, self.dh)
            elif is_jump is not None:
                self.step_back(number)
        of_g = [None, None] if self.g is None else self.g.gradients(self.attended)
        gradients = [self.dh, self.da, *self.f.gradients(self.attended), *of_g, *self.jumps.gradients()]
        self.blocks.give_back()
        return gradients

    def step_back(self, number: int) -> None:
        attended, delta = self.attended[number], self.plan.delta
        through = self.f.back(number, attended, self.dh * delta)
        if self.a is None:
            self.dh += through
            return
        if self.g is not None:
            outer = self.da * (delta / len(attended))
            rate = self.g.last_rate(number, attended)
            through.addmm_(rate, outer)
            through += self.g.back(number, attended, attended @ outer.t())
        softmax, hidden = self.softmax[number], self.hidden[number]
        d_softmax = through.t() @ hidden
        self.dh.addmm_(through, softmax)
        if self.plan.renewed[number] and self.plan.detached:
            self.da.zero_()
            return
        self.da += softmax * (d_softmax - (softmax * d_softmax).sum(1, keepdim=True))
        if self.plan.renewed[number]:
            self.dh += correlation_backward(hidden, self.da)
            self.da.zero_()


class Cell:
    """The GRU-ODE's rate, (1 - z)(u - x), at each step.

    Args:
        weights: of the cell.
        steps: how many are kept.
        like: (batch, d).
        take: gives memory.
    """

    def __init__(self, weights: CellWeights, steps: int, like: Tensor, take: Take):
        self.weights = weights
        (batch, size), gates = like.shape, len(weights.gates)
        self.gates = take(steps, batch, gates)
        self.candidate = take(steps, batch, size)  # u
        self.d_candidate = torch.zeros_like(weights.candidate)
        # Views are made once: an indexing in the loop costs a good part of what an operation does.
        self.r, self.z = self.gates[..., :size].unbind(), self.gates[..., gates - size :].unbind()
        self.d_gates, self.difference = like.new_empty(batch, gates), torch.empty_like(like)
        self.d_r, self.d_z = self.d_gates[:, :size], self.d_gates[:, gates - size :]
        self.full = gates > size
        self.gates_t, self.twice_candidate_t = weights.gates.t(), 2 * weights.candidate.t()

    def rate(self, step: int, x: Tensor) -> Tensor:
        """Of x, (batch, d)."""
        gates, u = self.gates[step], self.candidate[step]
        torch.mm(x, self.gates_t, out=gates).sigmoid_()
        # tanh(y) = 2 sigmoid(2 y) - 1: on a CPU, torch's tanh takes five times as long as its sigmoid.
        torch.mm(torch.mul(self.r[step], x, out=self.difference), self.twice_candidate_t, out=u).sigmoid_()
        u.mul_(2).sub_(1)
        return self.last_rate(step, x)

    def last_rate(self, step: int, x: Tensor) -> Tensor:
        """The rate once more, before `back` of that step."""
        torch.sub(self.candidate[step], x, out=self.difference)
        return torch.addcmul(self.difference, self.z[step], self.difference, value=-1)

    def back(self, step: int, x: Tensor, d_rate: Tensor) -> Tensor:
        """The gradient of x."""
        r, z, u = self.r[step], self.z[step], self.candidate[step]
        torch.sub(x, u, out=self.difference)
        dx = torch.addcmul(d_rate, d_rate, z, value=-1)  # of u; of x with the other sign
        tanh_backward(dx, u, grad_input=u)
        self.d_candidate.addmm_(u.t(), r * x)
        through = u @ self.weights.candidate
        dx.neg_().addcmul_(through, r)
        torch.mul(through, x, out=self.d_r)
        if self.full:
            torch.mul(d_rate, self.difference, out=self.d_z)
        else:  # one gate is both
            self.d_z.addcmul_(d_rate, self.difference)
        gates = self.gates[step]
        sigmoid_backward(self.d_gates, gates, grad_input=gates)
        return dx.addmm_(gates, self.weights.gates)

    def gradients(self, x: Tensor) -> list[Tensor]:
        """Of W_r over W_z and of W_h, after `back` of all steps; x, (steps, batch, d)."""
        return [self.gates.flatten(0, 1).t() @ x.flatten(0, 1), self.d_candidate]


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
