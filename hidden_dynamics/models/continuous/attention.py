"""Rules of attention, by which h' = rule(h, a) enters both dynamics in the place of h; the start and the rates of
pairwise attention."""

import torch
from torch import Tensor, nn
from torch.nn import functional

ROUNDINGS = 16  # a dimension that deviates from its mean by less is constant


def elementwise(h: Tensor, a: Tensor) -> Tensor:
    """h'' = h * sigmoid(a), both of one shape (ACE-NODE, Section 3.2, Equation 5)."""
    return h * torch.sigmoid(a)


def pairwise(h: Tensor, a: Tensor) -> Tensor:
    """h' = h softmax(a)^T, h (..., batch, d), a (..., d, d): dimension i of h' is a mean of all dimensions, weighted by
    row i, which sums to 1 (ACE-NODE, Section 3.1, Equation 4)."""
    return h @ torch.softmax(a, -1).mT


def unnormalised(h: Tensor, a: Tensor) -> Tensor:
    """h' = h a^T, shaped as in `pairwise`: the released ACE-Latent-ODE computes the softmax and does not use it."""
    return h @ a.mT


def correlation(h: Tensor) -> Tensor:
    """Pearson's correlation of the dimensions of h over the batch, the a(0) of ACE-NODE's time series (Sections 4.2 to
    4.5): (..., d, d), of (..., batch, d).

    A dimension that is constant over the batch, but for rounding, has the correlation 0 with all others and, as every
    dimension, 1 with itself; no gradient passes through it. (The released code has no numbers there.)
    """
    mean = h.mean(-2)
    centred = h - mean.unsqueeze(-2)
    products = centred.mT @ centred
    squares = products.diagonal(dim1=-2, dim2=-1)
    rounding = h.shape[-2] * (ROUNDINGS * torch.finfo(h.dtype).eps) ** 2
    # The factor that makes the norm of a dimension's deviations 1; 0 of a constant one.
    scale = squares.masked_fill(squares <= mean.square() * rounding, torch.inf).rsqrt()
    correlations = products * scale.unsqueeze(-2) * scale.unsqueeze(-1)
    correlations.diagonal(dim1=-2, dim2=-1).fill_(1)
    return correlations


class PairwiseRate(nn.Module):
    """da/dt of pairwise attention from dynamics g' that map h' to its own shape: the mean over the batch of g'_i h'_j.

    The paper takes for g' the cell of f' (Section 4.2), whose result is (batch, d) where da/dt is (d, d), and does not
    say how one becomes the other. This is our choice: a(0) is a matrix of second moments, and these are what moves
    second moments. It needs no parameters beyond those of `cell(t, h')`, of the shape of h', (..., batch, d).
    """

    def __init__(self, cell: nn.Module):
        super().__init__()
        self.cell = cell

    def forward(self, t: Tensor, attended: Tensor) -> Tensor:
        """da/dt, (..., d, d)."""
        return self.cell(t, attended).mT @ attended / attended.shape[-2]


class RandomRate(PairwiseRate):
    """da/dt as in the released ACE-Latent-ODE: W vec(g'(h')) + b as a (d, d) matrix. W and b are drawn as torch draws a
    linear map, uniform in +-1 / sqrt(batch * d), anew at every evaluation, and never learnt."""

    def forward(self, t: Tensor, attended: Tensor) -> Tensor:
        """da/dt, (..., d, d), of h', (..., batch, d)."""
        rates = self.cell(t, attended).flatten(-2)
        size, bound = attended.shape[-1], rates.shape[-1] ** -0.5
        weight = rates.new_empty(size**2, rates.shape[-1]).uniform_(-bound, bound)
        bias = rates.new_empty(size**2).uniform_(-bound, bound)
        return torch.unflatten(functional.linear(rates, weight, bias), -1, (size, size))


class FullyConnectedAttention(nn.Sequential):
    """a(0) = the mean over the batch of W_2 ReLU(W_1 h(0) + b_1) + b_2 as a (d, d) matrix: FC-ACE (ACE-NODE, Section
    4.6), whose layers the paper does not give."""

    def __init__(self, size: int):
        super().__init__(nn.Linear(size, size), nn.ReLU(), nn.Linear(size, size**2))

    def forward(self, input: Tensor) -> Tensor:
        """(..., d, d) of h, (..., batch, d)."""
        size = input.shape[-1]
        for layer in self:
            input = layer(input)
        return torch.unflatten(input.mean(-2), -1, (size, size))
