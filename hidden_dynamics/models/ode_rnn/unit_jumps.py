"""The jumps of a rollout, where its state meets the GRU unit, and their derivative beside them."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from hidden_dynamics.models.observations import Observations

sigmoid_backward = torch.ops.aten.sigmoid_backward.grad_input


class Known(NamedTuple):
    """Of the k rows of a jump, what is known before the rollout, and what takes its place.

    Attributes:
        pair: (2 k,), where y and s of each row's series lie in the state.
        gate_hidden: (k, 2 G), the first maps of update and reset: their values of x, then their hidden halves.
        new_hidden: (k, G), the candidate's.
        gates: (k, 4 S), u, u, r and r.
        u, r: (k, 2 S), of y and of s.
    """

    pair: Tensor
    gate_hidden: Tensor
    new_hidden: Tensor
    gates: Tensor
    u: Tensor
    r: Tensor


class Made(NamedTuple):
    """Of the k rows of a jump, what is made in the rollout.

    Attributes:
        before, resetted, new, after: (k, 2 S), [y, s] before the jump, the same times r, the candidate [n, |e|], and
            what the jump leaves.
        e: (k, S), the latter half of `new`.
        y: (k, S), the former half of `after`.
        before_rows, after_rows: (2 k, S), as they lie in the state.
    """

    before: Tensor
    resetted: Tensor
    new: Tensor
    after: Tensor
    e: Tensor
    y: Tensor
    before_rows: Tensor
    after_rows: Tensor


class UnitJumps:
    """The GRU unit (hidden_dynamics.models.ode_rnn.core) at all rows.

    The state is one array, (2 N, S): y of all series, then s of all series. Of a hidden layer tanh(p) its half
    (1 + tanh(p)) / 2 = sigmoid(2 p) is kept. Update and reset are one network, whose second map is block-diagonal and
    gives each gate twice: for y and for s.

    Args:
        observations: R rows of N series.
        weights: W and b of both linear maps of update, of reset and of the candidate.
        size: S.
        kept: what the derivative needs is kept of all rows; otherwise there is memory for one jump.
    """

    def __init__(self, observations: Observations, weights: Sequence[Tensor], size: int, kept: bool):
        self.observations, self.size, self.kept = observations, size, kept
        update, reset, self.candidate = weights[:4], weights[4:8], weights[8:]
        self.gate_in, self.gate_in_bias = torch.cat([update[0], reset[0]]), torch.cat([update[1], reset[1]])
        self.gate_out = torch.block_diag(*(torch.cat([w, w]) for w in (update[2], reset[2])))
        self.gate_out_bias = torch.cat([b for b in (update[3], reset[3]) for _ in range(2)])
        self.counts = [end - start for start, end in pairwise(observations.offsets.tolist())]
        self._prepare_maps()
        self._prepare_rows()
        self._prepare_jumps()

    def _prepare_maps(self) -> None:
        """The maps of and to halves of hidden layers."""
        w_in, _, w_out, b_out = self.candidate
        state = 2 * self.size
        self.from_state = (2 * self.gate_in[:, :state]).t().contiguous()
        self.from_resetted = (2 * w_in[:, :state]).t().contiguous()
        self.to_gates, self.to_new = (2 * self.gate_out).t().contiguous(), (2 * w_out).t().contiguous()
        self.new_bias = b_out - w_out.sum(1)

    def _prepare_rows(self) -> None:
        """What does not depend on the state: products with what is seen, for all rows at once."""
        values, mask = self.observations.values, self.observations.mask
        inputs = torch.cat([self.gate_in, self.candidate[0]])[:, 2 * self.size :]
        of_values, of_mask = (2 * inputs).split(values.shape[1], 1)
        bias = 2 * torch.cat([self.gate_in_bias, self.candidate[1]])
        seen = torch.addmm(bias, values, of_values.t()).addmm_(mask, of_mask.t())
        hidden = len(self.gate_in)
        self.gate_hidden, self.new_hidden = seen[:, :hidden].contiguous(), seen[:, hidden:].contiguous()
        self.gates = (self.gate_out_bias - self.gate_out.sum(1)).repeat(len(values), 1)
        # Where nothing was observed, u is 1 and the state stays.
        self.gates[:, : 2 * self.size].masked_fill_(~mask.any(1, keepdim=True), torch.inf)

    def _prepare_jumps(self) -> None:
        """Views of each jump's rows; an indexing in the loop would cost a good part of what an operation does."""
        series, size = self.observations.series, self.size
        pairs = torch.stack([series, series + self.observations.size], 1).flatten()
        known = pairs, self.gate_hidden, self.new_hidden, self.gates, *self.gates.split(2 * size, 1)
        self.known = [Known(*views) for views in self._by_jump(known)]
        rows = len(series) if self.kept else max(self.counts, default=0)
        flat = [self.gates.new_empty(rows, 2 * size) for _ in range(4)]
        self.before, self.resetted, self.new, after = flat
        e, y = self.new[:, size:], after[:, :size]
        made = *flat, e, y, self.before.view(2 * rows, size), after.view(2 * rows, size)
        if self.kept:
            self.made = [Made(*views) for views in self._by_jump(made)]
            self.signs = self.gates.new_empty(rows, size)  # of e
            self.sign = self.signs.split(self.counts)
        else:
            of = {k: Made(*(array[: k * len(array) // max(rows, 1)] for array in made)) for k in set(self.counts)}
            self.made = [of[count] for count in self.counts]

    def _by_jump(self, arrays: Sequence[Tensor]) -> list[tuple[Tensor, ...]]:
        """The rows of each jump, of each array; an array may have two for each row."""
        twice, rows = [2 * count for count in self.counts], len(self.gates)
        split = [array.split(self.counts if len(array) == rows else twice) for array in arrays]
        return list(zip(*split, strict=True))

    def make(self, jump: int, state: Tensor) -> Tensor:
        """The jump of some rows, of different series, in the state, (2 N, S).

        Returns:
            y of the rows' series after it, (k, S).
        """
        pair, gate_hidden, new_hidden, gates, u, r = self.known[jump]
        before, resetted, new, after, e, y, before_rows, after_rows = self.made[jump]
        torch.index_select(state, 0, pair, out=before_rows)
        gate_hidden.addmm_(before, self.from_state).sigmoid_()
        gates.addmm_(gate_hidden, self.to_gates).sigmoid_()
        new_hidden.addmm_(torch.mul(before, r, out=resetted), self.from_resetted).sigmoid_()
        torch.addmm(self.new_bias, new_hidden, self.to_new, out=new)
        if self.kept:
            torch.sign(e, out=self.sign[jump])
        e.abs_()
        torch.lerp(new, before, u, out=after)
        state.index_copy_(0, pair, after_rows)
        return y

    def start_back(self) -> None:
        """Before the first `make_back`: what of the derivative is of each row alone."""
        size = self.size
        u = self.gates[:, : 2 * size]
        of_u, of_new = self.before - self.new, 1 - u
        of_new[:, size:].mul_(self.signs)
        self.d_gate_hidden, self.d_new_hidden = torch.empty_like(self.gate_hidden), torch.empty_like(self.new_hidden)
        self.slopes = self._by_jump([of_u, of_new, self.d_gate_hidden, self.d_new_hidden])
        self.back_from_state = self.gate_in[:, : 2 * size].contiguous()
        self.back_from_resetted = self.candidate[0][:, : 2 * size].contiguous()
        self.back_to_gates, self.back_to_new = 4 * self.gate_out, 4 * self.candidate[2]
        d_gates = self.gates.new_empty(max(self.counts, default=0), 4 * size)
        self.d_gates = {k: (d_gates[:k], *d_gates[:k].split(2 * size, 1)) for k in set(self.counts)}

    def make_back(self, jump: int, d_state: Tensor, dy: Tensor | None) -> None:
        """From the gradient of the state after the jump to that before it, in d_state, (2 N, S).

        The gradients of the second maps take the places of what they gave: of `gates` and of `new`.

        Args:
            dy: (k, S), of what `make` returned, beside it.
        """
        pair, gate_hidden, new_hidden, gates, u, r = self.known[jump]
        before, _, new, *_ = self.made[jump]
        of_u, of_new, d_gate_hidden, d_new_hidden = self.slopes[jump]
        d_gates, d_u, d_r = self.d_gates[self.counts[jump]]
        d = d_state.index_select(0, pair).view_as(before)
        if dy is not None:
            d[:, : self.size].add_(dy)
        torch.mul(d, of_u, out=d_u)
        sigmoid_backward(torch.mul(d, of_new, out=new) @ self.back_to_new, new_hidden, grad_input=d_new_hidden)
        d_resetted = d_new_hidden @ self.back_from_resetted
        torch.mul(d_resetted, before, out=d_r)
        d.mul_(u).addcmul_(d_resetted, r)
        sigmoid_backward(d_gates, gates, grad_input=gates)
        sigmoid_backward(gates @ self.back_to_gates, gate_hidden, grad_input=d_gate_hidden)
        d.addmm_(d_gate_hidden, self.back_from_state)
        d_state.index_copy_(0, pair, d.view(-1, self.size))

    def gradients(self) -> list[Tensor]:
        """Of the weights, after `make_back` of all jumps."""
        gate_in, gate_in_bias = self._of_first(self.d_gate_hidden, self.before)
        gate_out, gate_out_bias = _of_second(self.gates, self.gate_hidden)
        gate_out, gate_out_bias = (each.unflatten(0, (2, 2, self.size)).sum(1) for each in (gate_out, gate_out_bias))
        half = len(gate_in) // 2
        return [
            *(gate_in[:half], gate_in_bias[:half], gate_out[0, :, :half], gate_out_bias[0]),
            *(gate_in[half:], gate_in_bias[half:], gate_out[1, :, half:], gate_out_bias[1]),
            *(*self._of_first(self.d_new_hidden, self.resetted), *_of_second(self.new, self.new_hidden)),
        ]

    def _of_first(self, d: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Of W and b of a first map of [state, x]."""
        values, mask = self.observations.values, self.observations.mask
        return torch.cat([d.t() @ each for each in (state, values, mask)], 1), d.sum(0)


def _of_second(d: Tensor, half: Tensor) -> tuple[Tensor, Tensor]:
    """Of W and b of a second map of tanh(p), where its half is given."""
    return 2 * (d.t() @ (half - 0.5)), d.sum(0)
