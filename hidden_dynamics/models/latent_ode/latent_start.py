"""The latent state at the start of each series: its divergence from the prior."""

import torch
from torch import Tensor


def divergence(mean: Tensor, deviation: Tensor) -> Tensor:
    """KL(N(mean, deviation^2) || N(0, 1)), averaged over all entries, in nats: ()."""
    logarithm = deviation.clamp(min=torch.finfo(deviation.dtype).tiny).log()
    return ((mean.square() + deviation.square() - 1) / 2 - logarithm).mean()
