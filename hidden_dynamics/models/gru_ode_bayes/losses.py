"""What GRU-ODE-Bayes is trained by and judged by (De Brouwer et al. 2019, Section 2.4): sums over observed entries.

A prediction p is (rows, 2 D): mean and logvar, the logarithm of the variance, side by side. Values and masks are
(rows, D).
"""

import math

import torch
from torch import Tensor

NOISE = 0.01  # standard deviation of an observation, in units of the data


def negative_log_likelihood(p: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """The sum of -log N(x; mean, exp(logvar)), in nats: the loss before each jump; per entry, the NegLL of Table 6."""
    mean, logvar = p.chunk(2, -1)
    error = (values - mean) * torch.exp(-logvar / 2)
    return 0.5 * ((error.square() + logvar + math.log(2 * math.pi)) * mask).sum()


def divergence(p: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """The sum of KL(N(mean, exp(logvar)) || N(x, 0.01^2)), in nats: the loss after each jump."""
    mean, logvar = p.chunk(2, -1)
    each = math.log(NOISE) - logvar / 2 + (logvar.exp() + (mean - values).square()) / (2 * NOISE**2) - 0.5
    return (each * mask).sum()
