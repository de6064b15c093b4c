"""The state's rollout over union times, its backpropagation derived by hand.

The rollout is a loop by nature. What need not be done in it is done before or after, for all steps and all rows at
once: products with what is observed, and the gradients of all weights. Rows of different series jump together
(hidden_dynamics.models.ode_rnn.lockstep).
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from hidden_dynamics.models.observations import Observations
from hidden_dynamics.models.ode_rnn.flow_steps import FlowSteps
from hidden_dynamics.models.ode_rnn.lockstep import lockstep
from hidden_dynamics.models.ode_rnn.union_times import Gaps
from hidden_dynamics.models.ode_rnn.unit_jumps import UnitJumps


def rollout(
    observations: Observations, gaps: Gaps, flow: Sequence[Tensor], unit: Sequence[Tensor], rows: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """The state in the end, and on the way.

    Differentiable once, with respect to the weights; what is observed has no gradient.

    Args:
        observations: R rows of N series.
        gaps: the way over their union times.
        flow: W and b of each linear map of the dynamics of y.
        unit: W and b of both linear maps of update, reset and candidate of the GRU unit.
        rows: the states at the rows are wanted: y of all series is kept before each step.

    Returns:
        y over s in the end, (2 N, S); y of each row's series as the union time visited before left it and after its
        own jump, (R, S) each, or (0, S) where they are not wanted.
    """
    weights = *flow, *unit
    kept = torch.is_grad_enabled() and any(weight.requires_grad for weight in weights)
    return _Rollout.apply(Run(observations, gaps, len(flow), rows, kept), *weights)


class _Rollout(torch.autograd.Function):
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
            raise RuntimeError("this rollout's backward reuses its memory: run it once per forward (no retain_graph)")
        ctx.run = None
        return None, *run.backward(d_state.clone(), d_left, d_after)


class Run:
    """One rollout; `forward` leaves what `backward` needs, where it is kept.

    What `forward` returns is not left: it will know this run, and none of both would be freed.
    """

    def __init__(self, observations: Observations, gaps: Gaps, of_flow: int, rows: bool, kept: bool):
        self.plan, self.of_flow, self.rows, self.kept = lockstep(observations, gaps), of_flow, rows, kept
        self.place = self.plan.left, observations.series  # where, of all states on the way, each row's series was left

    def events(self) -> list[tuple[bool, int]]:
        """(whether it is a jump, its number) of all jumps and steps, in their order."""
        found, done = [], 0
        for jump, time in enumerate(self.plan.jumps.times.tolist()):
            found += [(False, step) for step in range(done, time)] + [(True, jump)]
            done = time
        return found + [(False, step) for step in range(done, len(self.plan.lengths))]

    def forward(self, weights: Sequence[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        flow, unit = weights[: self.of_flow], weights[self.of_flow :]
        size, series = flow[0].shape[1], self.plan.jumps.size
        state = flow[0].new_zeros(2 * series, size)
        y, moved = state[:series], [state.new_empty(0, size)]
        self.flow = FlowSteps(flow, self.plan.lengths, size, self.rows, self.kept)
        self.jumps = UnitJumps(self.plan.jumps, unit, size, self.kept)
        for is_jump, number in self.events():
            if not is_jump:
                self.flow.move(number, y)
                continue
            found = self.jumps.make(number, state)
            if self.rows:
                moved.append(found.clone())
        after = torch.cat(moved)
        left = torch.zeros_like(after)
        if self.rows:
            after[self.plan.order] = after.clone()
            if len(self.plan.lengths):  # with a single union time there is no step: nothing is left behind
                left = self.flow.entering[0][self.place]
        return state, left, after

    def backward(self, d_state: Tensor, d_left: Tensor, d_after: Tensor) -> list[Tensor]:
        dy = d_state[: self.plan.jumps.size]
        self.flow.start_back()
        self.jumps.start_back()
        d_path, d_moved = self._along_the_way(d_left, d_after) if self.rows else (None, None)
        for is_jump, number in reversed(self.events()):
            if is_jump:
                self.jumps.make_back(number, d_state, d_moved[number] if self.rows else None)
                continue
            self.flow.move_back(number, dy)
            if self.rows:
                dy.add_(d_path[number])
        return [*self.flow.gradients(), *self.jumps.gradients()]

    def _along_the_way(self, d_left: Tensor, d_after: Tensor) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        """The gradients of the states before all steps, and of those after all jumps."""
        d_path = torch.zeros_like(self.flow.entering[0])
        if len(d_path):
            d_path[self.place] = d_left
        return d_path.unbind(), d_after[self.plan.order].split(self.jumps.counts)
