"""In which order a rollout visits the union times, and by which Euler steps it comes to each."""

from typing import NamedTuple

import numpy as np
from torch import Tensor

from hidden_dynamics.models.choices import one_of

FIRST = 0.01  # the gap before the time visited first, in units of time
INTERVALS = 50  # a gap of less than the span divided by that is one step
WAYS = ("forwards", "backwards", "released")


class Gaps(NamedTuple):
    """
    Attributes:
        order: of the union times, as they are visited.
        steps: Euler steps before each visit.
        lengths: of each of these steps, in units of time; negative where time runs backwards.
    """

    order: list[int]
    steps: list[int]
    lengths: list[float]


def gaps(times: Tensor, way: str) -> Gaps:
    """The way over union times.

    A gap shorter than a fiftieth of the span of all times is one Euler step; any other is cut into one step fewer than
    it has whole fiftieths, but at least one: as many points as fiftieths, both ends included, and at least two. The
    state starts 0.01 before the time visited first; where there is but one time, at that time.

    Args:
        times: (U,) float64 on the CPU, ascending.
        way: "forwards" or "backwards" in time; "released", what the authors' ODE-RNN does when it goes forwards: its
            steps are still those of the way backwards, one visit late. Before visit i it steps from t_{i-1} back to
            t_{i-2}, before visit 1 from the first time to the last in one step, and before visit 0 by -0.01.

    Raises:
        ValueError: there is no such way.
    """
    one_of("way", way, WAYS)
    t, order = times.numpy(), np.arange(len(times))
    if len(t) < 2:
        return Gaps(order.tolist(), [0] * len(t), [0.0] * len(t))
    if way == "forwards":
        start, end = np.append(t[0] - FIRST, t[:-1]), t
    elif way == "backwards":
        order = order[::-1]
        start, end = np.append(t[-1] + FIRST, t[:0:-1]), t[::-1]
    else:
        start, end = np.append(t[-1] + FIRST, t[:-1]), np.concatenate([t[-1:], t[-1:], t[:-2]])
    moves, smallest = end - start, (t[-1] - t[0]) / INTERVALS
    passed = moves if way == "forwards" else -moves  # below 0 in the released step to the last time: one step, too
    steps = np.where(passed < smallest, 1, np.maximum(2, (passed / smallest).astype(np.int64)) - 1)
    return Gaps(order.tolist(), steps.tolist(), (moves / steps).tolist())
