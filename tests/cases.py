"""What the tests of filters and cores share: float64 noise, and a filter of a user's own."""

import torch
from torch import nn


def noise(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def assert_all_close(actual, expected, tolerance=1e-12):
    """To `tolerance` of the largest entry of them all: results and gradients of a computation share its rounding error.

    Each for itself would not do. A gradient may vanish but for what is left of differences of terms of order one.
    """
    scale = max(other.abs().max() for other in expected)
    for one, other in zip(actual, expected, strict=True):
        assert one.shape == other.shape
        assert (one - other).abs().max() <= tolerance * scale


class HalvingFilter(nn.Module):
    """A filter of a user's own that does not commute with the linear map: u_t = u_{t-1} / 2 + tanh(g_t)."""

    linear = False

    def forward(self, g, state=None):
        outputs = []
        for g_t in g:
            y, state = self.step(g_t, state)
            outputs.append(y)
        return torch.stack(outputs), state

    def step(self, g, state=None):
        u = torch.tanh(g) if state is None else 0.5 * state[0] + torch.tanh(g)
        return u, (u,)
