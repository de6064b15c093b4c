"""Rules of attention: h' = rule(h, a) enters both dynamics in the place of h."""

import torch
from torch import Tensor


def elementwise(h: Tensor, a: Tensor) -> Tensor:
    """h'' = h * sigmoid(a), both of one shape (ACE-NODE, Section 3.2, Equation 5)."""
    return h * torch.sigmoid(a)
