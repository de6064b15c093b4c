"""How much time passed: between steps, and since each feature was last observed."""

import torch
from torch import Tensor

from hidden_dynamics.models.rnn_series.steps import Steps

GAPS = ("to_last", "to_next")
CARRIED = ("all", "released")


def gaps(steps: Steps, times: Tensor, kind: str) -> Tensor:
    """The time that a step is told: (N, S).

    Args:
        steps: of visits in the order of time.
        times: (U,) float64 on the CPU, of the visits.
        kind: "to_last", the time since the step before, 0 at the first (Rubanova et al. 2019, Section 2); "to_next",
            the time from its union time to the next one, whether the series has a row there or not, 0 at the last (the
            released code).
    """
    t = times.to(steps.counts.device)
    if kind == "to_next":
        return until_next(t)[steps.visits].to(steps.values)
    return t[steps.visits].diff(dim=1, prepend=t[steps.visits[:, :1]]).to(steps.values)


def until_next(times: Tensor) -> Tensor:
    """From each union time to the next, 0 at the last: (U,)."""
    return times.diff(append=times[-1:])


def carried(steps: Steps, times: Tensor, kind: str) -> Tensor:
    """The time since each feature was last observed, or since the first union time, at each step: (N, S, D), in units
    of the largest in the batch.

    Args:
        steps: of visits in the order of time.
        times: (U,) float64 on the CPU, of the visits.
        kind: "all" (Che et al. 2018, Equation 4, on the union times); "released": the intervals added up are those that
            follow a time, not those before it, and what is missing at the first union time is not carried on.

    Let n(u) be the time that follows union time u, or the last itself. Released is c_0 = n(0) - t_0 and
    c_u = n(u) - n(u - 1) + [missing at u - 1 > 0] c_{u-1}, so c_u = n(u) - n(p) with p the latest union time before u
    where the feature was observed, or 0. The largest may lie where a series has no row, but then at the last time.
    Where no time passed, all are 0; the released code divides by 0.
    """
    t = times.to(steps.counts.device)
    clock = torch.cat([t[1:], t[-1:]]) if kind == "released" else t
    last = clock[steps.last_visits()]
    since = clock[steps.visits].unsqueeze(2) - last[:, :-1]
    since[:, 0] = clock[0] - t[0]
    since = torch.where(steps.valid().unsqueeze(2), since, 0)
    largest = torch.maximum(since.max(), (t[-1] - last[:, -1]).max())
    return (since / torch.where(largest > 0, largest, 1)).to(steps.values)
