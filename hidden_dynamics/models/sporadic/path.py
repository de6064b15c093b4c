"""The way of a state through time: Euler steps on a grid, jumps at observations, and where a prediction is read.

The released code steps on its own grid: from 0 by steps of delta until the time is an observation's, to a thousandth of
a step, or beyond it. The jump then acts on the state at the grid's time, and the time is not set back.
"""

from dataclasses import dataclass
from decimal import Decimal

import numpy as np

# What counts as having reached an observation, in steps.
SLACK = 0.001


@dataclass(frozen=True)
class Path:
    """The events on the way, and the states that they lead to.

    State 0 is the initial one; every step and every jump that is made leads to the next.

    Attributes:
        steps: (U,) int64, the Euler steps made before the jump at each union time, all of them together.
        last: steps made in the end, to the end of the time.
        passed: (U,) int64, the events before each jump, jumps not counted: where two are alike, no time passed between.
        times: (events,) float32, the distinct times at which there is a state, ascending, to as many decimals as delta.
        states: (events,) int64, the state at each, the first where there are several: before the jump.
    """

    steps: np.ndarray
    last: int
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


def euler_path(observed: np.ndarray, delta: float, end: float, once: bool = False) -> Path:
    """The path by steps of delta.

    Args:
        observed: (U,) float64, the union times, ascending.
        delta: of a step, above 0.
        end: where the path ends, or at the first time of the grid after it.
        once: between two jumps, all steps start from the state after the first of them, as in the released
            ACE-GRU-ODE-Bayes: but for the passing time, they are one.
    """
    latest = max(end, observed[-1] if len(observed) else 0.0)
    grid = np.cumsum(np.concatenate([[0.0], np.full(int(np.ceil(latest / delta)) + 2, delta)]))  # as a loop adds them
    passed = np.searchsorted(grid, observed - SLACK * delta)
    between = np.diff(passed, prepend=0)
    steps = np.cumsum(between.clip(max=1) if once else between)
    reached, made = (int(done[-1]) if len(done) else 0 for done in (passed, steps))
    whole = max(reached, int(np.searchsorted(grid, end)))
    numbers = np.arange(1, whole + 1)
    jumps = np.searchsorted(passed, numbers)  # before each step
    into = np.where(numbers > reached, made + numbers - reached, np.append(steps, 0)[jumps] if once else numbers)
    times = np.concatenate([[0.0], grid[1 : whole + 1], observed])
    states = np.concatenate([[0], into + jumps, steps + np.arange(1, len(observed) + 1)])
    order = np.argsort(np.concatenate([[0], numbers + jumps, passed + np.arange(1, len(observed) + 1)]))
    return Path(steps, made + whole - reached, passed, *_distinct(times[order], states[order], delta))


def still_path(observed: np.ndarray, delta: float, end: float) -> Path:
    """The path on which nothing happens between observations; delta says what counts as having reached one."""
    now = np.concatenate([[0.0], np.maximum.accumulate(observed)[:-1]])[: len(observed)]
    waits = now < observed - SLACK * delta
    jumps = np.arange(len(observed))
    times = np.stack([observed, observed], 1).ravel()[np.stack([waits, np.ones_like(waits)], 1).ravel()]
    states = np.stack([jumps, jumps + 1], 1).ravel()[np.stack([waits, np.ones_like(waits)], 1).ravel()]
    ends = [end] if not len(observed) or observed[-1] < end else []
    times = np.concatenate([[0.0], times, ends])
    states = np.concatenate([[0], states, [len(observed)] * len(ends)]).astype(np.int64)
    return Path(np.zeros(len(observed), dtype=np.int64), 0, np.cumsum(waits), *_distinct(times, states, delta))


def _distinct(times: np.ndarray, states: np.ndarray, delta: float) -> tuple[np.ndarray, np.ndarray]:
    """The distinct times to as many decimals as delta has, and the first state at each; both in the order of events."""
    decimals = -int(Decimal(str(delta)).as_tuple().exponent)
    times, first = np.unique(np.around(times, decimals).astype(np.float32), return_index=True)
    return times, states[first]
