"""The Kullback-Leibler divergence between Gaussians: of all networks that infer latent variables."""

import torch
from torch import Tensor


def divergence(mean: Tensor, std: Tensor) -> Tensor:
    """KL(N(mean, std^2) || N(0, 1)) of each entry, in nats.

    That of N(m, s^2) from N(n, t^2) is this of (m - n) / t and s / t. An std whose square is below the smallest
    normal number of its type counts as its root, and has no gradient: at 0 it is 43.2 in float32, and not infinite.
    """
    std = std.clamp(min=torch.finfo(std.dtype).tiny ** 0.5)
    return (mean.square() + std.square() - 1) / 2 - std.log()
