"""How much time passed, and what becomes of a state, and of a feature's last value, while nothing is observed."""

import torch
from torch import Tensor, nn

from hidden_dynamics.models.choices import one_of
from hidden_dynamics.models.latent_family.layers import DEVIATION, initialised
from hidden_dynamics.models.series_major import Padded

GAPS = ("to_last", "to_next")
DECAY_GAPS = ("all", "released")
MEANS = ("observed", "union")
LARGEST = 1000.0  # exponent of a decay


def gaps(steps: Padded, times: Tensor, kind: str) -> Tensor:
    """The time that a step is told: (N, S).

    Args:
        steps: of visits in the order of time.
        times: (U,) float64 on the CPU, of the visits.
        kind: "to_last", the time since the step before, 0 at the first (Rubanova et al. 2019, Section 2); "to_next",
            the time from its union time to the next one, whether the series has a row there or not, 0 at the last (the
            released code).
    """
    if kind == "to_next":
        return until_next(times).to(steps.times)[steps.visits].to(steps.values)
    return steps.times.diff(dim=1, prepend=steps.times[:, :1]).to(steps.values)


def until_next(times: Tensor) -> Tensor:
    """From each union time to the next, 0 at the last: (U,)."""
    return times.diff(append=times[-1:])


def decay_gaps(steps: Padded, times: Tensor, kind: str) -> Tensor:
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
    t = times.to(steps.lengths.device)
    clock = torch.cat([t[1:], t[-1:]]) if kind == "released" else t
    last = clock[steps.last_visits()]
    since = clock[steps.visits].unsqueeze(2) - last[:, :-1]
    since[:, 0] = clock[0] - t[0]
    since = torch.where(steps.valid().unsqueeze(2), since, 0)
    largest = torch.maximum(since.max(), (t[-1] - last[:, -1]).max())
    return (since / torch.where(largest > 0, largest, 1)).to(steps.values)


class Decay(nn.Module):
    """exp(-min(max(0, W c + b), 1000)), one factor for the whole state, with c the time since each feature was last
    observed (Rubanova et al. 2019, "RNN-Decay"; a factor for each entry in Che et al. 2018, Equation 5).

    Args:
        features: D.
        kind: "all" or "released" (`decay_gaps`).
    """

    def __init__(self, features: int, kind: str):
        super().__init__()
        self.kind = one_of("decay_gaps", kind, DECAY_GAPS)
        self.rate = initialised(nn.Linear(features, 1))

    def forward(self, steps: Padded, times: Tensor) -> Tensor:
        """(N, S, 1)."""
        return decayed(self.rate(decay_gaps(steps, times, self.kind)))


class Imputation(nn.Module):
    """m x + (1 - m) (gamma x' + (1 - gamma) mean), gamma = exp(-min(max(0, w c + b), 1000)), with x' the last value
    before a step, c as in `Decay` (Che et al. 2018, Equations 5 and 6).

    Ours: w is drawn like all weights of the family, b is 0; the released code leaves both uninitialised.

    Args:
        features: D.
        mean: of what a series observed of a feature, 0 where nothing; "union", as released: what was observed is summed
            and divided by the number of the batch's union times, so it is next to 0 and depends on the other series.
        kind: "all" or "released" (`decay_gaps`).
    """

    def __init__(self, features: int, mean: str, kind: str):
        super().__init__()
        self.mean, self.kind = one_of("mean", mean, MEANS), one_of("decay_gaps", kind, DECAY_GAPS)
        self.weight = nn.Parameter(torch.empty(features).normal_(0, DEVIATION))
        self.bias = nn.Parameter(torch.zeros(features))

    def forward(self, steps: Padded, times: Tensor) -> Tensor:
        """(N, S, D)."""
        gamma = decayed(self.weight * decay_gaps(steps, times, self.kind) + self.bias)
        counts = len(times) if self.mean == "union" else steps.mask.sum(1, keepdim=True).clamp(min=1)
        mean = steps.values.sum(1, keepdim=True) / counts
        return torch.where(steps.mask > 0, steps.values, gamma * steps.last_values() + (1 - gamma) * mean)


def decayed(exponent: Tensor) -> Tensor:
    """exp(-min(max(0, y), 1000)); at a tie, the gradient is that of the released code, one half."""
    lowest, highest = exponent.new_zeros(()), exponent.new_full((), LARGEST)
    return torch.exp(-torch.minimum(torch.maximum(lowest, exponent), highest))
