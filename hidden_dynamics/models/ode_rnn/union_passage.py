"""The state's passage over union times, its backpropagation derived by hand.

The passage is a loop by nature. What need not be done in it is done before or after, for all steps and all rows at
once: products with what is observed, and the gradients of all weights.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from hidden_dynamics.models.observations import Observations
from hidden_dynamics.models.ode_rnn.flow_steps import FlowSteps
from hidden_dynamics.models.ode_rnn.union_times import Gaps
from hidden_dynamics.models.ode_rnn.unit_jumps import UnitJumps


def passage(
    observations: Observations, gaps: Gaps, flow: Sequence[Tensor], unit: Sequence[Tensor], rows: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """The state in the end, and on the way.

    Differentiable once, with respect to the weights; what is observed has no gradient.

    Args:
        observations: R rows of N series.
        gaps: the way over their union times.
        flow: W and b of each linear map of the dynamics of y.
        unit: W and b of both linear maps of update, reset and candidate of the GRU unit.
        rows: the states at the rows are wanted.

    Returns:
        y over s in the end, (2 N, S); y of each row's series as the union time visited before left it and after its
        own jump, (R, S) each, or (0, S) where they are not wanted.
    """
    weights = *flow, *unit
    kept = torch.is_grad_enabled() and any(weight.requires_grad for weight in weights)
    return _Passage.apply(Run(observations, gaps, len(flow), rows, kept), *weights)


class _Passage(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, run: "Run", *weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        if run.kept:
            ctx.run = run
            ctx.save_for_backward(*weights)  # none may change meanwhile
        return run.forward(weights)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, d_state: Tensor, d_left: Tensor, d_after: Tensor) -> tuple[Tensor | None, ...]:
        _, run = ctx.saved_tensors, ctx.run
        if run is None:
            raise RuntimeError("this passage's backward reuses its memory: run it once per forward (no retain_graph)")
        ctx.run = None
        return None, *run.backward(d_state.clone(), d_left, d_after)


class Run:
    """One passage; `forward` leaves what `backward` needs, where it is kept.

    What `forward` returns is not left: it will know this run, and none of both would be freed.
    """

    def __init__(self, observations: Observations, gaps: Gaps, of_flow: int, rows: bool, kept: bool):
        self.observations, self.gaps, self.of_flow, self.rows, self.kept = observations, gaps, of_flow, rows, kept

    def forward(self, weights: Sequence[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        flow, unit = weights[: self.of_flow], weights[self.of_flow :]
        size, observations = flow[0].shape[1], self.observations
        state = flow[0].new_zeros(2 * observations.size, size)
        y = state[: observations.size]
        self.flow = FlowSteps(flow, sum(self.gaps.steps) if self.kept else 1, y)
        self.jumps = UnitJumps(observations, unit, size, self.kept)
        found = [y.new_empty(len(observations.series) if self.rows else 0, size) for _ in range(2)]
        left, after, series = (self._by_jump(each) for each in (*found, observations.series))
        done = 0
        for jump, steps, dt in zip(*self.gaps, strict=True):
            if self.rows:
                torch.index_select(y, 0, series[jump], out=left[jump])
            for step in range(done, done + steps):
                self.flow.move(step if self.kept else 0, y, dt)
            done += steps
            moved = self.jumps.make(jump, state)
            if self.rows:
                after[jump].copy_(moved)
        return state, *found

    def backward(self, d_state: Tensor, d_left: Tensor, d_after: Tensor) -> list[Tensor]:
        dy, done = d_state[: self.observations.size], sum(self.gaps.steps)
        self.flow.start_back()
        self.jumps.start_back()
        left, after, series = (self._by_jump(each) for each in (d_left, d_after, self.observations.series))
        for jump, steps, dt in reversed(list(zip(*self.gaps, strict=True))):
            self.jumps.make_back(jump, d_state, after[jump] if self.rows else None)
            for step in reversed(range(done - steps, done)):
                self.flow.move_back(step, dy, dt)
            done -= steps
            if self.rows:
                dy.index_add_(0, series[jump], left[jump])
        return [*self.flow.gradients(), *self.jumps.gradients()]

    def _by_jump(self, rows: Tensor) -> Sequence[Tensor]:
        return rows.split(self.observations.offsets.diff().tolist()) if self.rows else ()
