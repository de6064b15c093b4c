"""The latent state at the start of each series: samples of its posterior, and its divergence from the prior."""

import torch
from torch import Tensor

EVALUATION_SEED = 0


def standard_normal(samples: int, like: Tensor, generator: torch.Generator | None) -> Tensor:
    """Standard normal, (samples, *like.shape), drawn on the CPU from the generator; None is torch's own, in place."""
    shape = (samples, *like.shape)
    if generator is None:
        return torch.randn(shape, dtype=like.dtype, device=like.device)
    return torch.randn(shape, dtype=like.dtype, generator=generator).to(like.device)


def evaluation_generator() -> torch.Generator:
    """What an evaluation draws from: the same numbers each time, and none of those that training will draw."""
    return torch.Generator().manual_seed(EVALUATION_SEED)


def divergence(mean: Tensor, deviation: Tensor) -> Tensor:
    """KL(N(mean, deviation^2) || N(0, 1)), averaged over all entries, in nats: ()."""
    logarithm = deviation.clamp(min=torch.finfo(deviation.dtype).tiny).log()
    return ((mean.square() + deviation.square() - 1) / 2 - logarithm).mean()
