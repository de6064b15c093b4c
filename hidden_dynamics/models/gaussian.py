"""Gaussians with independent entries: their divergence, of all networks that infer latent variables, and likelihood."""

import math

import torch
from torch import Tensor


def divergence(mean: Tensor, std: Tensor) -> Tensor:
    """KL(N(mean, std^2) || N(0, 1)) of each entry, in nats.

    That of N(m, s^2) from N(n, t^2) is this of (m - n) / t and s / t. An std whose square is below the smallest
    normal number of its type counts as its root, and has no gradient: at 0 it is 43.2 in float32, and not infinite.
    """
    std = std.clamp(min=torch.finfo(std.dtype).tiny ** 0.5)
    return (mean.square() + std.square() - 1) / 2 - std.log()


def negative_log_likelihood(p: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """The sum of -log N(x; mean, exp(logvar)) over observed entries, in nats; per entry, the NegLL of Table 6.

    Args:
        p: (rows, 2 D), mean and logvar side by side.
        values, mask: (rows, D).
    """
    mean, logvar = p.chunk(2, -1)
    error = (values - mean) * torch.exp(-logvar / 2)
    return 0.5 * ((error.square() + logvar + math.log(2 * math.pi)) * mask).sum()
