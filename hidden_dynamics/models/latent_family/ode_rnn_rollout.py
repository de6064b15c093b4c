# pyright: reportUnknownMemberType=false
"""The state's rollout over union times, its backpropagation derived by hand.

By autograd, a training step on PhysioNet takes twice the time: the rollout is thousands of small steps, and autograd
adds up the gradients of all weights at each. Here they are added up for many events at once; and torch's inference
mode, which takes no note of views and changes of tensors, saves a tenth.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from hidden_dynamics.models.latent_family.lockstep import Gaps, Lockstep, lockstep
from hidden_dynamics.models.observations import Observations

sigmoid_backward, tanh_backward = torch.ops.aten.sigmoid_backward.default, torch.ops.aten.tanh_backward.default

# Of each event, of each of its linear maps: the gradient of the result, and the input.
Events = list[list[tuple[Tensor, Tensor]]]

CHUNK = 64  # events whose gradients are kept until the weights' are added up


class Passed(NamedTuple):
    """The states of a rollout.

    Attributes:
        mean, std: y and s, (N, S), of each series in the end.
        before: (R, S), y of each row's series as the union time visited before left it, 0 where there is none.
        after: (R, S), its y after the row was seen. Both are (0, S) where they are not wanted.
    """

    mean: Tensor
    std: Tensor
    before: Tensor
    after: Tensor


def rollout(observations: Observations, gaps: Gaps, flow: nn.Module, unit: nn.Module, rows: bool) -> Passed:
    """The states on the way, those at the rows if `rows` are wanted.

    Differentiable once, with respect to the weights; what is observed has no gradient.

    Args:
        observations, gaps: R rows of N series, and the way over their union times.
        flow, unit: the dynamics of y; the GRU unit, whose children are update, reset and candidate.
    """
    update, reset, candidate = (list(part.parameters()) for part in unit.children())
    # Update and reset as one network, which gives each gate twice: for y and for s.
    gates = [torch.cat(pair) for pair in zip(update[:2], reset[:2], strict=True)]
    gates += [torch.block_diag(*(torch.cat((part[2], part[2])) for part in (update, reset)))]
    gates += [torch.cat([part[3] for part in (update, reset) for _ in range(2)])]
    weights = *flow.parameters(), *gates, *candidate
    kept = torch.is_grad_enabled() and any(weight.requires_grad for weight in weights)
    run = Run(lockstep(observations, gaps), observations.series, rows, kept)
    state, before, after = cast(tuple[Tensor, Tensor, Tensor], _Rollout.apply(run, *weights))
    mean, std = state.chunk(2)
    return Passed(mean, std, before, after)


class _Rollout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, run: "Run", *weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        if run.kept:
            ctx.run = run
            ctx.save_for_backward(*weights)  # none may change meanwhile
        with torch.inference_mode():
            state, left, after = run.forward(weights)
        return state.clone(), left.clone(), after.clone()  # autograd takes no tensors of that mode

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride]  # once_differentiable names no argument
        ctx: Any, d_state: Tensor, d_left: Tensor, d_after: Tensor
    ) -> tuple[Tensor | None, ...]:
        weights, run = ctx.saved_tensors, ctx.run
        if run is None:
            raise RuntimeError("this rollout's backward frees its memory: run it once per forward (no retain_graph)")
        ctx.run = None
        with torch.inference_mode():
            gradients = run.backward(weights, d_state.clone(), d_left, d_after)
        return None, *(gradient.clone() for gradient in gradients)


class Run:
    """One rollout; `forward` leaves on the tape what `backward` needs. No index operation of theirs writes a place
    twice: in an iteration a series jumps once, and of each row the state that it left is one of its own.

    The output is not kept here: it refers to this run, and the cycle would never be freed.

    `series`, (R,), are those of the rows in the batch; `kept`: there will be a derivative.
    """

    def __init__(self, plan: Lockstep, series: Tensor, rows: bool, kept: bool):
        self.plan, self.rows, self.kept = plan, rows, kept
        self.tape: list[tuple[Callable[[int, Sequence[Tensor], Tensor], None], int, Sequence[Tensor]]] = []
        self.place = plan.left, series  # where, of all states on the way, each row's series was left
        jumps = plan.jumps
        self.counts: list[int] = jumps.offsets.diff().numpy().tolist()
        self.lengths = plan.lengths.unbind()
        self.x = torch.cat([jumps.values, jumps.mask], 1).split_with_sizes(self.counts)
        self.unseen = (~jumps.mask.any(1, keepdim=True)).split_with_sizes(self.counts)
        pairs = torch.stack([jumps.series, jumps.series + jumps.size], 1).flatten()
        self.pairs = pairs.split_with_sizes([2 * count for count in self.counts])  # where y and s of each row lie

    def forward(self, weights: tuple[Tensor, ...]) -> tuple[Tensor, Tensor, Tensor]:
        self._use(weights)
        state = weights[0].new_zeros(2 * self.plan.jumps.size, self.size)
        y, moved, path, done = state[: self.plan.jumps.size], [state[:0]], list[Tensor](), 0
        jumps: list[int] = self.plan.jumps.times.numpy().tolist()
        for number, end in enumerate([*jumps, len(self.lengths)]):
            for step in range(done, end):
                path.extend(self._move(step, y))
            if number < len(jumps):
                moved.extend(self._jump(number, state))
            done = end
        after = torch.cat(moved)
        left = torch.zeros_like(after)
        if self.rows:
            after[self.plan.order] = after.clone()
            if path:  # with a single union time there is no step: nothing is left behind
                left = torch.stack(path)[self.place]
        return state, left, after

    def _use(self, weights: tuple[Tensor, ...]) -> None:
        """Use these weights of all linear maps: those of the flow, two of the gates, two of the candidate."""
        self.matrices, self.biases = weights[::2], weights[1::2]
        self.maps = [w.t() for w in self.matrices]
        self.size, self.last = self.maps[0].shape[0], len(self.maps) - 5
        x = torch.cat(self.x) if self.x else weights[0].new_empty(0, self.maps[-2].shape[0] - 2 * self.size)
        # What does not depend on the state: products with what is seen, for all rows at once.
        self.seen = [
            torch.addmm(self.biases[number], x, self.maps[number][2 * self.size :]).split_with_sizes(self.counts)
            for number in (-4, -2)
        ]
        self.from_state, self.from_resetted = (self.maps[number][: 2 * self.size] for number in (-4, -2))

    def _move(self, step: int, y: Tensor) -> list[Tensor]:
        """One step of y, in place; y before it, where it is wanted."""
        entering = [y.clone()]
        for number in range(self.last):
            entering.append(torch.addmm(self.biases[number], entering[-1], self.maps[number]).tanh_())
        rate = torch.addmm(self.biases[self.last], entering[-1], self.maps[self.last])
        y.addcmul_(rate, self.lengths[step])
        if self.kept:
            self.tape.append((self._move_back, step, entering))
        return entering[: self.rows]

    def _jump(self, number: int, state: Tensor) -> list[Tensor]:
        """The jump of some rows, of different series, in place; their y after it, where it is wanted."""
        before = state.index_select(0, self.pairs[number]).view(-1, 2 * self.size)
        hidden = torch.addmm(self.seen[0][number], before, self.from_state).tanh_()
        gates = torch.addmm(self.biases[-3], hidden, self.maps[-3]).sigmoid_()
        u, r = gates.chunk(2, 1)
        u.masked_fill_(self.unseen[number], 1)  # where nothing was observed, the state stays
        resetted = before * r
        new_hidden = torch.addmm(self.seen[1][number], resetted, self.from_resetted).tanh_()
        new = torch.addmm(self.biases[-1], new_hidden, self.maps[-1])
        e = new[:, self.size :]
        sign = e.sign()
        e.abs_()
        after = torch.lerp(new, before, u)
        state.index_copy_(0, self.pairs[number], after.view(-1, self.size))
        if self.kept:
            self.tape.append((self._jump_back, number, (before, hidden, gates, resetted, new_hidden, new, sign)))
        return [after[:, : self.size]] if self.rows else []

    def backward(self, weights: tuple[Tensor, ...], d_state: Tensor, d_left: Tensor, d_after: Tensor) -> list[Tensor]:
        self.gradients = [torch.zeros_like(w) for w in weights]
        self.d_y = d_state[: self.plan.jumps.size]
        self.noted: tuple[Events, Events] = [], []  # of moves and of jumps
        if self.rows:
            d_path = d_state.new_zeros(len(self.lengths), self.plan.jumps.size, self.size)
            if self.lengths:
                d_path[self.place] = d_left
            self.d_path = d_path.unbind()
            self.d_after = d_after[self.plan.order].split_with_sizes(self.counts)
        while self.tape:
            back, number, kept = self.tape.pop()
            back(number, kept, d_state)
            if len(self.tape) % CHUNK == 0:
                self._add_up()
        return self.gradients

    def _move_back(self, step: int, entering: Sequence[Tensor], d_state: Tensor) -> None:
        upstream = [self.d_y * self.lengths[step]]
        for w, x in zip(self.matrices[self.last : 0 : -1], entering[:0:-1], strict=True):
            upstream.append(tanh_backward(upstream[-1] @ w, x))
        self.d_y.addmm_(upstream[-1], self.matrices[0])
        self.noted[0].append(list(zip(reversed(upstream), entering, strict=True)))
        if self.rows:
            self.d_y.add_(self.d_path[step])

    def _jump_back(self, number: int, kept: Sequence[Tensor], d_state: Tensor) -> None:
        before, hidden, gates, resetted, new_hidden, new, sign = kept
        u, r = gates.chunk(2, 1)
        d = d_state.index_select(0, self.pairs[number]).view_as(before)
        if self.rows:
            d[:, : self.size].add_(self.d_after[number])
        d_new = d * (1 - u)
        d_new[:, self.size :].mul_(sign)
        d_new_hidden = tanh_backward(d_new @ self.matrices[-1], new_hidden)
        d_resetted = d_new_hidden @ self.from_resetted.t()
        d_gates = sigmoid_backward(torch.cat([d * (before - new), d_resetted * before], 1), gates)
        d_hidden = tanh_backward(d_gates @ self.matrices[-3], hidden)
        d = (d * u).addcmul_(d_resetted, r).addmm_(d_hidden, self.from_state.t())
        d_state.index_copy_(0, self.pairs[number], d.view(-1, self.size))
        before, resetted = (torch.cat([each, self.x[number]], 1) for each in (before, resetted))
        upstream, entering = (d_hidden, d_gates, d_new_hidden, d_new), (before, hidden, resetted, new_hidden)
        self.noted[1].append(list(zip(upstream, entering, strict=True)))

    def _add_up(self) -> None:
        """Add up the gradients of the weights at the events since the last time."""
        for noted, gradients in zip(self.noted, (self.gradients[:-8], self.gradients[-8:]), strict=True):
            for pairs, w, b in zip(zip(*noted, strict=True), gradients[::2], gradients[1::2], strict=bool(noted)):
                d, x = (torch.cat(each) for each in zip(*pairs, strict=True))
                w.addmm_(d.t(), x)
                b.add_(d.sum(0))
            noted.clear()
