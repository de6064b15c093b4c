"""The jumps of a passage, where its state meets the GRU unit, and their derivative beside them."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from hidden_dynamics.models.observations import Observations

sigmoid_backward = torch.ops.aten.sigmoid_backward.grad_input


class Seen(NamedTuple):
    """Of the k rows of a jump, what is known before the passage, and what takes its place.

    Attributes:
        pair: (2 k,), where y and s of each row's series lie in the state.
        gate_hidden: (k, 2 G), the first maps of update and reset: their values of x, then their hidden halves.
        new_hidden: (k, G), the candidate's.
        gates: (k, 2 S), u and r.
        u, r: (k, 1, S), the same.
    """

    pair: Tensor
    gate_hidden: Tensor
    new_hidden: Tensor
    gates: Tensor
    u: Tensor
    r: Tensor


class Made(NamedTuple):
    """Of the k rows of a jump, what is made in the passage.

    Attributes:
        before, resetted, new: (k, 2 S), [y, s] before the jump, the same times r, and the candidate [n, |e|].
        e: (k, S), the latter half of `new`.
        before_each, resetted_each, new_each, after_each: (k, 2, S), the same, and what the jump leaves.
        before_rows, after_rows: (2 k, S), as they lie in the state.
    """

    before: Tensor
    resetted: Tensor
    new: Tensor
    e: Tensor
    before_each: Tensor
    resetted_each: Tensor
    new_each: Tensor
    after_each: Tensor
    before_rows: Tensor
    after_rows: Tensor


class UnitJumps:
    """The GRU unit (hidden_dynamics.models.ode_rnn.gru_unit) at all rows.

    The state is one array, (2 N, S): y of all series, then s of all series. Of a hidden layer tanh(p) its half
    (1 + tanh(p)) / 2 = sigmoid(2 p) is kept. Update and reset are one network, whose second map is block-diagonal.

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
        self.gate_out = torch.block_diag(update[2], reset[2])
        self.gate_out_bias = torch.cat([update[3], reset[3]])
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
        self.gates[:, : self.size].masked_fill_(~mask.any(1, keepdim=True), torch.inf)

    def _prepare_jumps(self) -> None:
        """Views of each jump's rows; an indexing in the loop would cost a good part of what an operation does."""
        series, size = self.observations.series, self.size
        pairs = torch.stack([series, series + self.observations.size], 1).flatten()
        u, r = self.gates.unsqueeze(1).split(size, 2)
        known = pairs, self.gate_hidden, self.new_hidden, self.gates, u, r
        self.seen = [Seen(*views) for views in self._by_jump(known)]
        rows = len(series) if self.kept else max(self.counts, default=0)
        self.before, self.resetted, self.new, after = (self.gates.new_empty(rows, 2 * size) for _ in range(4))
        flat = self.before, self.resetted, self.new, self.new[:, size:]
        each = [array.view(rows, 2, size) for array in (self.before, self.resetted, self.new, after)]
        made = *flat, *each, self.before.view(2 * rows, size), after.view(2 * rows, size)
        if self.kept:
            self.made = [Made(*views) for views in self._by_jump(made)]
            self.signs = self.gates.new_empty(rows, size)
            self.sign = self.signs.split(self.counts)
        else:
            of = {k: Made(*(array[: k * len(array) // max(rows, 1)] for array in made)) for k in set(self.counts)}
            self.made = [of[count] for count in self.counts]

    def _by_jump(self, arrays: Sequence[Tensor]) -> list[tuple[Tensor, ...]]:
        """The rows of each jump, of each array; an array may have two for each row."""
        twice = [2 * count for count in self.counts]
        rows = len(self.gates)
        split = [array.split(self.counts if len(array) == rows else twice) for array in arrays]
        return list(zip(*split, strict=True))

    def make(self, jump: int, state: Tensor) -> Tensor:
        """The jump of the rows of a union time, in the state, (2 N, S).

        Returns:
            y of the series after it, (k, S).
        """
        pair, gate_hidden, new_hidden, gates, u, r = self.seen[jump]
        before, resetted, new, e, before_each, resetted_each, new_each, after_each, before_rows, after_rows = self.made[
            jump
        ]
        torch.index_select(state, 0, pair, out=before_rows)
        gate_hidden.addmm_(before, self.from_state).sigmoid_()
        gates.addmm_(gate_hidden, self.to_gates).sigmoid_()
        torch.mul(before_each, r, out=resetted_each)
        new_hidden.addmm_(resetted, self.from_resetted).sigmoid_()
        torch.addmm(self.new_bias, new_hidden, self.to_new, out=new)
        if self.kept:
            torch.sign(e, out=self.sign[jump])
        e.abs_()
        torch.lerp(new_each, before_each, u, out=after_each)
        state.index_copy_(0, pair, after_rows)
        return after_each[:, 0]

    def start_back(self) -> None:
        """Before the first `make_back`."""
        self.back_from_state = self.gate_in[:, : 2 * self.size].contiguous()
        self.back_from_resetted = self.candidate[0][:, : 2 * self.size].contiguous()
        self.back_to_gates, self.back_to_new = 4 * self.gate_out, 4 * self.candidate[2]
        self.d_gate_hidden, self.d_new_hidden = torch.empty_like(self.gate_hidden), torch.empty_like(self.new_hidden)
        self.d_hidden = self._by_jump([self.d_gate_hidden, self.d_new_hidden])
        widest = max(self.counts, default=0)
        d_gates = self.gates.new_empty(widest, 2 * self.size)
        self.d_gates = {k: (d_gates[:k], *d_gates[:k].split(self.size, 1)) for k in set(self.counts)}

    def make_back(self, jump: int, d_state: Tensor, d_after: Tensor | None) -> None:
        """From the gradient of the state after the jump to that before it, in d_state, (2 N, S).

        The gradients of the second maps take the places of what they gave: of `gates` and of `new`.

        Args:
            d_after: (k, S), of y after the jump beside it.
        """
        pair, gate_hidden, new_hidden, gates, u, r = self.seen[jump]
        _, _, new, d_e, before_each, _, new_each, *_ = self.made[jump]
        d_gate_hidden, d_new_hidden = self.d_hidden[jump]
        d_gates, d_u, d_r = self.d_gates[self.counts[jump]]
        d = d_state.index_select(0, pair).view_as(before_each)
        if d_after is not None:
            d[:, 0].add_(d_after)
        torch.sum(torch.sub(before_each, new_each, out=new_each).mul_(d), 1, out=d_u)
        d_before = d * u
        torch.sub(d, d_before, out=new_each)
        d_e.mul_(self.sign[jump])
        sigmoid_backward(new @ self.back_to_new, new_hidden, grad_input=d_new_hidden)
        d_resetted = (d_new_hidden @ self.back_from_resetted).view_as(before_each)
        d_before.addcmul_(d_resetted, r)
        torch.sum(d_resetted.mul_(before_each), 1, out=d_r)
        sigmoid_backward(d_gates, gates, grad_input=gates)
        sigmoid_backward(gates @ self.back_to_gates, gate_hidden, grad_input=d_gate_hidden)
        d_before.flatten(1).addmm_(d_gate_hidden, self.back_from_state)
        d_state.index_copy_(0, pair, d_before.view(-1, self.size))

    def gradients(self) -> list[Tensor]:
        """Of the weights, after `make_back` of all jumps."""
        (gate_in, gate_in_bias), (candidate_in, candidate_in_bias) = (
            self._of_first(self.d_gate_hidden, self.before),
            self._of_first(self.d_new_hidden, self.resetted),
        )
        gate_out, gate_out_bias = _of_second(self.gates, self.gate_hidden)
        half = len(gate_in) // 2
        return [
            *(gate_in[:half], gate_in_bias[:half], gate_out[: self.size, :half], gate_out_bias[: self.size]),
            *(gate_in[half:], gate_in_bias[half:], gate_out[self.size :, half:], gate_out_bias[self.size :]),
            *(candidate_in, candidate_in_bias, *_of_second(self.new, self.new_hidden)),
        ]

    def _of_first(self, d: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Of W and b of a first map of [state, x]."""
        values, mask = self.observations.values, self.observations.mask
        return torch.cat([d.t() @ each for each in (state, values, mask)], 1), d.sum(0)


def _of_second(d: Tensor, half: Tensor) -> tuple[Tensor, Tensor]:
    """Of W and b of a second map of tanh(p), where its half is given."""
    bias = d.sum(0)
    return 2 * (d.t() @ half) - bias[:, None], bias
