"""The state's passage through steps and jumps, its backpropagation derived by hand.

The passage is a loop over time by nature. All that need not be done in it is done before or after, for all steps and
all rows at once: the losses and their gradients, the dropout masks, and the gradients of most weights, each a single
product over all steps or rows. In the loop, the results of an operation go where its gradient will be needed, and
gradients over what they are of.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from hidden_dynamics.models.continuous.attention import correlation, correlation_backward
from hidden_dynamics.models.gru_ode_bayes.passing_jumps import Jumps
from hidden_dynamics.models.gru_ode_bayes.passing_steps import Cell
from hidden_dynamics.models.gru_ode_bayes.plan import Blocks, CellWeights, JumpWeights, Plan


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
    recording = torch.is_grad_enabled()  # within `forward` it is not, and what needs a gradient does not depend on it
    return Passed(*_Passage.apply(plan, recording, h, a, *f, *(g or (None, None)), *jump))


class _Passage(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, plan: Plan, recording: bool, h: Tensor, a: Tensor | None, *weights: Tensor | None
    ) -> tuple[Tensor, ...]:
        f, g, jump = CellWeights(*weights[:2]), CellWeights(*weights[2:4]), JumpWeights(*weights[4:])
        needed = recording and any(ctx.needs_input_grad)
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
        return None, None, *run.backward(p_before, after, wanted)


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
