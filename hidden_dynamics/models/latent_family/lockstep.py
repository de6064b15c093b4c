"""The schedule of an ODE-RNN: the order of the union times, the Euler steps before each, and which rows jump together.

At an observed row the state jumps; union times are all times at which a series of the batch is observed. A jump of two
rows costs what one of ten does. So each series takes the same steps and meets its own rows, but not all at the same
iteration: a series that comes to a row waits, by steps of length 0, until the next iteration at which jumps are made.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from hidden_dynamics.models.observations import Observations

FIRST = 0.01  # the gap before the time visited first, in units of time
INTERVALS = 50  # a gap of less than the span divided by that is one step
# How many rows a jump should have, and how many iterations may lie between two. On the CPU, 50 patients with 1.8 rows
# at each of 2,050 union times: 4 to 6 iterations take two thirds of the time of 1, and 8 more than 6.
ROWS, LONGEST = 8, 8


class Gaps(NamedTuple):
    """The Euler steps over union times.

    Attributes:
        order: of the union times, as they are visited.
        steps: Euler steps before each visit.
        lengths: of each of these steps, in units of time; negative where time runs backwards.
    """

    order: list[int]
    steps: list[int]
    lengths: list[float]


def gaps(times: Tensor, way: str) -> Gaps:
    """The way over union times, (U,) float64 on the CPU, ascending.

    A gap of n whole fiftieths of the span of all times takes max(1, n - 1) Euler steps. The state starts 0.01 before
    the time visited first; where there is but one time, at that time.

    Args:
        way: "forwards" or "backwards" in time; "released", what the authors' ODE-RNN does when it goes forwards: its
            steps are still those of the way backwards, one visit late. Before visit i it steps from t_{i-1} back to
            t_{i-2}, before visit 1 from the first time to the last in one step, and before visit 0 by -0.01.
    """
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


class Lockstep(NamedTuple):
    """The iterations of a rollout.

    Attributes:
        lengths: (K, N, 1), of each series' step at each iteration; 0 where it waits.
        jumps: the rows as they jump together: `times` are the numbers of iterations before a jump, `offsets` its rows.
        order: (R,), the rows given in the order of `jumps`.
        left: (R,), per given row, the iteration at which its series leaves the union time visited before.
    """

    lengths: Tensor
    jumps: Observations
    order: Tensor
    left: Tensor


def lockstep(observations: Observations, gaps: Gaps) -> Lockstep:
    """The iterations of a rollout over R rows of N series."""
    rows, visits = len(observations.series), len(gaps.order)
    every = min(max(round(ROWS * visits / max(rows, 1)), 1), LONGEST)  # so many iterations there are jumps
    steps, total = np.array(gaps.steps, dtype=np.int64), sum(gaps.steps)
    done, before = np.zeros((2, visits), dtype=np.int64)  # steps until each union time, and until that visited before
    done[gaps.order], before[gaps.order] = steps.cumsum(), steps.cumsum() - steps
    time, series = observations.rows_of_times().numpy(), observations.series.cpu().numpy()
    at, left, waits = _iterations(series, done[time], before[time], (observations.size, total + 1), every)
    lengths = np.zeros((total + waits[:, -1].max(initial=0), observations.size))
    iterations = np.arange(total) + waits[:, :-1]
    lengths[iterations, np.arange(observations.size)[:, None]] = np.repeat(gaps.lengths, steps)
    order = np.lexsort((series, at))
    times, counts = np.unique(at, return_counts=True)
    index = torch.as_tensor(order).to(observations.series.device)
    jumps = observations.but(
        times=torch.as_tensor(times),
        offsets=torch.as_tensor(np.append(0, counts.cumsum())),
        **{name: getattr(observations, name)[index] for name in ("values", "mask", "series")},
    )
    moves = torch.as_tensor(lengths).to(observations.values)
    return Lockstep(moves.unsqueeze(2), jumps, index, torch.as_tensor(left).to(index.device))


def _iterations(
    series: np.ndarray, done: np.ndarray, before: np.ndarray, shape: tuple[int, int], every: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The iterations before each row's jump and before the step away from the union time before; the waits of each
    series, (N, steps + 1), before each of its steps and in the end."""
    order = np.lexsort((done, series))
    counts = np.bincount(series, minlength=shape[0])
    rank = np.empty(len(series), dtype=np.int64)
    rank[order] = np.arange(len(series)) - np.repeat(counts.cumsum() - counts, counts)
    at, left, added = np.empty_like(done), np.empty_like(done), np.zeros(shape, dtype=np.int64)
    waited = np.zeros(shape[0], dtype=np.int64)
    for rows in np.split(np.argsort(rank, kind="stable"), np.bincount(rank).cumsum()[:-1]):
        of = series[rows]
        left[rows] = before[rows] + waited[of]
        at[rows] = -(-(done[rows] + waited[of]) // every) * every
        added[of, done[rows]] = at[rows] - done[rows] - waited[of]
        waited[of] = at[rows] - done[rows]
    return at, left, added.cumsum(1)
