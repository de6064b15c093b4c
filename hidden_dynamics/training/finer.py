"""A network's solvers made finer for a while; their solutions are noted, to be solved forwards and backwards.

Afterwards the solvers are as they were, and so are the network's own counts of evaluations.
"""

# pyright: reportPrivateUsage=false

import contextlib
import functools
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor, nn
from torchdiffeq import odeint

from hidden_dynamics.models.continuous.attention import RandomRate
from hidden_dynamics.models.continuous.integral import FunctionEvaluations, Integral, State, flattened
from hidden_dynamics.models.latent_family.lockstep import Gaps, gaps
from hidden_dynamics.models.latent_family.ode_rnn import ODERNNCore
from hidden_dynamics.models.latent_family.ode_rnn_rollout import Passed, rollout
from hidden_dynamics.models.observations import Observations
from hidden_dynamics.models.solver import FIXED
from hidden_dynamics.models.sporadic.gru_ode_bayes import GRUODEBayes
from hidden_dynamics.models.sporadic.gru_ode_bayes import State as Jumping

Pairs = Iterator[tuple[Tensor, Tensor]]  # of a state that was integrated forwards and backwards: before, after


@dataclass
class Solvers(FunctionEvaluations):
    """A network's solvers; `forward` counts the evaluations of all but explicit Euler methods.

    Attributes:
        texts: the settings of each.
        flows: for each solution, what solves it forwards and backwards once it is looked at; of a state that jumps,
            between two jumps.
        why: why no flow can be reversed; empty where one can.
        steps: of Euler's.
    """

    texts: list[str] = field(default_factory=list)
    flows: list[Pairs] = field(default_factory=list)
    why: str = "nothing flows between observations"
    steps: int = 0
    adaptive: bool = False

    def note(self, flow: Pairs) -> None:
        self.flows.append(flow)
        self.why = ""

    def error(self) -> float | None:
        """The share of the noted states' norm that is lost forwards and backwards; None where the norm is 0."""
        pairs = (pair for flow in self.flows for pair in flow)
        squares = [[float(each.double().square().sum()) for each in (b - a, a)] for a, b in pairs]
        lost = np.array(squares).reshape(-1, 2).sum(0)
        return float(np.sqrt(lost[0] / lost[1])) if lost[1] > 0 else None


@contextlib.contextmanager
def finer(network: nn.Module, level: int) -> Generator[Solvers]:
    """Make tolerances 10^level times smaller, and fixed steps 2^level times shorter, within the block."""
    solvers = Solvers()
    with contextlib.ExitStack() as after:
        for parent in list(network.modules()):
            if isinstance(parent, GRUODEBayes):
                _note_steps(parent, level, solvers, after)
            elif isinstance(parent, ODERNNCore):
                parent.forward = functools.partial(_rolled_out, parent, level, solvers)
                after.callback(delattr, parent, "forward")
                solvers.texts.append("Euler, about 50 steps in all")
            for name, module in list(parent.named_children()):
                if isinstance(module, Integral):
                    setattr(parent, name, _Noting(module, level, solvers))
                    after.callback(setattr, parent, name, module)
        yield solvers


class _Noting(Integral):
    """The integral that stands in the place of another, of the same dynamics."""

    def __init__(self, integral: Integral, level: int, solvers: Solvers):
        given = integral.solver
        adaptive, step = given.method not in FIXED, given.step_size
        finer = {"rtol": given.rtol / 10**level, "atol": given.atol / 10**level}
        if not adaptive:
            finer = {"step_size": (step or 1.0) / 2**level if level else step}
        super().__init__(integral.dynamics, replace(given, **finer), solvers)
        self.cuts, self.solvers = 1 if adaptive or step else 2**level, solvers
        solvers.adaptive |= adaptive
        setting = f"{given.rtol:g}, {given.atol:g}" if adaptive else f"step {step:g}" if step else "one step"
        solvers.texts.append(f"{given.method} ({setting})")

    def forward(self, y: State) -> State:
        self._note(y, torch.tensor([0.0, 1.0], dtype=torch.float64))
        return super().forward(y)

    def of_rows(self, y: State, times: Tensor, offsets: Tensor, series: Tensor) -> tuple[Tensor, Tensor]:
        if self.cuts > 1:  # each interval was one step
            inner = times[:-1, None] + times.diff()[:, None] * (torch.arange(self.cuts) / self.cuts)
            times = torch.cat([inner.flatten(), times[-1:]])
            offsets = torch.cat([offsets[:1], offsets[1:-1].repeat_interleave(self.cuts), offsets[-1:]])
        self._note(y, times)
        return super().of_rows(y, times, offsets, series)

    def _note(self, y: State, times: Tensor) -> None:
        if any(isinstance(module, RandomRate) for module in self.dynamics.modules()):
            self.solvers.why = "a part of the dynamics is drawn anew at each evaluation"
        elif len(times) > 1:
            self.solvers.note(self._there_and_back(y, times if self.solver.method in FIXED else times[[0, -1]]))

    def _there_and_back(self, y: State, times: Tensor) -> Pairs:
        start, shapes = flattened(y)
        end = start
        for way in (times, times.flip(0)):
            with self.watched.forwards(shapes):
                end = odeint(self.watched, end, way.to(end.device), **self._arguments(end))[-1]
            self.watched.check_end([end], way[-1].item(), "forward")
        yield start, end


def _rolled_out(
    core: ODERNNCore, level: int, solvers: Solvers, observations: Observations, way: str, rows: bool = True
) -> Passed:
    """The core's `forward`, in shorter steps."""
    order, steps, lengths = gaps(observations.times, way)
    shorter = Gaps(order, [n * 2**level for n in steps], [length / 2**level for length in lengths])
    passed = rollout(observations, shorter, core.flow, core.unit, rows)
    solvers.steps += sum(shorter.steps)
    if rows:
        solvers.note(_to_the_next_time(core.flow, observations, shorter, passed.after))
    return passed


def _to_the_next_time(flow: nn.Module, observations: Observations, way: Gaps, after: Tensor) -> Pairs:
    """The state after each row, and as it comes back after Euler steps to the union time visited next."""
    steps, lengths = np.zeros((2, len(way.order) + 1))
    steps[way.order], lengths[way.order] = [*way.steps[1:], 0], [*way.lengths[1:], 0.0]
    of_rows = observations.rows_of_times().numpy()
    y, count = after.clone(), steps[of_rows]
    moves = [np.where(step < count, lengths[of_rows], 0) for step in range(int(count.max(initial=0)))]
    for move in [*moves, *(-move for move in reversed(moves))]:
        y += torch.as_tensor(move).to(y)[:, None] * flow(y)
    yield after, y


def _note_steps(network: GRUODEBayes, level: int, solvers: Solvers, after: contextlib.ExitStack) -> None:
    """Shorten the steps; note the states of the batch from each jump to the next, not after the last."""
    step, delta = network._stepped, network.delta
    finer, passed = delta / 2**level, list[Jumping]()  # since the last jump

    def stepped(h: Tensor, a: Tensor | None, gates: list[Tensor]) -> Jumping:
        if not passed or passed[-1][0] is not h:
            passed[:] = [(h, a)]
        passed.append(step(h, a, gates))
        solvers.steps += 1
        return passed[-1]

    def jumps(*_: object) -> None:
        if passed:
            solvers.note(back(passed[0], passed[-1], len(passed) - 1))
        passed.clear()

    def back(start: Jumping, state: Jumping, steps: int) -> Pairs:
        gates = [dynamics.gates() for dynamics in network._dynamics()]
        network.delta = -finer
        for _ in range(steps):
            state = step(*state, gates)
        network.delta = finer
        yield from ((a, b) for a, b in zip(start, state, strict=True) if a is not None and b is not None)

    after.callback(setattr, network, "delta", delta)
    after.callback(delattr, network, "_stepped")
    after.callback(network.jump.register_forward_pre_hook(jumps).remove)
    network.delta, network._stepped = finer, stepped
    solvers.texts.append(f"Euler, step {delta:g}" if network.solver == "euler" else "still")
