"""The way of a state through time: Euler steps on a grid, jumps at observations, and where a prediction is read.

The released code steps on its own grid: from 0 by steps of delta until the time is an observation's, to a thousandth of
a step, or beyond it. The jump then acts on the state at the grid's time, and the time is not set back.
"""

from dataclasses import dataclass
from decimal import Decimal

import numpy as np

SLACK = 0.001  # what counts as having reached an observation, in steps


@dataclass(frozen=True)
class Path:
    """The events on the way, and the states that they lead to.

    State 0 is the initial one; every step and every jump that is made leads to the next.

    Attributes:
        steps: the Euler steps made before the jump at each of U union times, and to the end, all of them together.
        passed: (U,) int64, the steps before each jump, made or not: where two are alike, no time passed between.
        times: (events,) float32, the distinct times at which there is a state, ascending, to as many decimals as delta.
        states: (events,) int64, the state at each, the first where there are several: before the jump.
    """

    steps: list[int]
    passed: np.ndarray
    times: np.ndarray
    states: np.ndarray

    def states_at(self, times: np.ndarray) -> np.ndarray:
        """The state at the nearest of the path's times, of two the earlier: (N,) int64, of (N,) times."""
        times = times.astype(np.float32)
        after = np.searchsorted(self.times, times).clip(max=len(self.times) - 1)
        before = (after - 1).clip(min=0)
        later = np.abs(self.times[after] - times) < np.abs(self.times[before] - times)
        return self.states[np.where(later, after, before)]


def path(observed: np.ndarray, delta: float, end: float, kind: str) -> Path:
    """The path over union times, (U,) float64, ascending, by steps of `delta`, to the grid's first time from `end` on.

    Args:
        kind: "euler"; "once", where between two jumps all steps start from the state after the first of them, as in the
            released ACE-GRU-ODE-Bayes: but for the passing time, they are one; "still", where a step goes to the next
            observation and moves nothing.
    """
    now, state, steps, passed = 0.0, 0, [0], [0]
    events = [(now, state)]
    for time in [*observed.tolist(), None]:  # and to the end
        made, waited, goal = 0, 0, end if time is None else time
        while now < (end if time is None else time - SLACK * delta):
            now, waited = goal if kind == "still" else now + delta, waited + 1
            made = 0 if kind == "still" else min(waited, 1) if kind == "once" and time is not None else waited
            events.append((now, state + made))
        state += made
        steps.append(steps[-1] + made)
        passed.append(passed[-1] + waited)
        if time is not None:
            state += 1
            events.append((time, state))
    table = np.array(events)
    decimals = -int(Decimal(str(delta)).as_tuple().exponent)
    times, first = np.unique(np.around(table[:, 0], decimals).astype(np.float32), return_index=True)
    return Path(steps[1:], np.array(passed[1:-1], np.int64), times, table[first, 1].astype(np.int64))
