"""What becomes of a state, and of a feature's last value, while nothing is observed."""

import torch
from torch import Tensor, nn

from hidden_dynamics.models.choices import one_of
from hidden_dynamics.models.latent_family.layers import DEVIATION, initialised
from hidden_dynamics.models.rnn_series.elapsed import CARRIED, carried
from hidden_dynamics.models.rnn_series.steps import Steps

MEANS = ("observed", "union")
LARGEST = 1000.0  # exponent of a decay


class Decay(nn.Module):
    """exp(-min(max(0, W c + b), 1000)), one factor for the whole state, with c the time since each feature was last
    observed (Rubanova et al. 2019, "RNN-Decay"; a factor for each entry in Che et al. 2018, Equation 5).

    Args:
        features: D.
        kind: "all" or "released" (`carried`).
    """

    def __init__(self, features: int, kind: str):
        super().__init__()
        self.kind = one_of("carried", kind, CARRIED)
        self.rate = initialised(nn.Linear(features, 1))

    def forward(self, steps: Steps, times: Tensor) -> Tensor:
        """(N, S, 1)."""
        return decayed(self.rate(carried(steps, times, self.kind)))


class Imputation(nn.Module):
    """m x + (1 - m) (gamma x' + (1 - gamma) mean), gamma = exp(-min(max(0, w c + b), 1000)), with x' the last value
    before a step, c as in `Decay` (Che et al. 2018, Equations 5 and 6).

    Ours: w is drawn like all weights of the family, b is 0; the released code leaves both uninitialised.

    Args:
        features: D.
        mean: of what a series observed of a feature, 0 where nothing; "union", as released: what was observed is summed
            and divided by the number of the batch's union times, so it is next to 0 and depends on the other series.
        kind: "all" or "released" (`carried`).
    """

    def __init__(self, features: int, mean: str, kind: str):
        super().__init__()
        self.mean, self.kind = one_of("mean", mean, MEANS), one_of("carried", kind, CARRIED)
        self.weight = nn.Parameter(torch.empty(features).normal_(0, DEVIATION))
        self.bias = nn.Parameter(torch.zeros(features))

    def forward(self, steps: Steps, times: Tensor) -> Tensor:
        """(N, S, D)."""
        gamma = decayed(self.weight * carried(steps, times, self.kind) + self.bias)
        counts = len(times) if self.mean == "union" else steps.mask.sum(1, keepdim=True).clamp(min=1)
        mean = steps.values.sum(1, keepdim=True) / counts
        return torch.where(steps.mask > 0, steps.values, gamma * steps.last_values() + (1 - gamma) * mean)


def decayed(exponent: Tensor) -> Tensor:
    """exp(-min(max(0, y), 1000)); at a tie, the gradient is that of the released code, one half."""
    lowest, highest = exponent.new_zeros(()), exponent.new_full((), LARGEST)
    return torch.exp(-torch.minimum(torch.maximum(lowest, exponent), highest))
