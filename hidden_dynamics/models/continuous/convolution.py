# pyright: reportUnknownMemberType=false
"""Convolutional dynamics that know the time (the ODE-Net of Chen et al. 2018; ACE-NODE, Table 1)."""

import functools

import torch
from torch import Tensor, nn
from torch.nn import functional

MOST_GROUPS = 32


def group_norm(channels: int) -> nn.GroupNorm:
    """GroupNorm in as many groups as divide the channels, of at least two each and 32 at most: 32 for the papers' 64
    and 128 channels, 23 for the augmented 69."""
    most = max(1, min(MOST_GROUPS, channels // 2))
    return nn.GroupNorm(max(n for n in range(1, most + 1) if channels % n == 0), channels)


class TimeConv2d(nn.Conv2d):
    """A 3x3 convolution with padding 1 of x with one more channel, the first, that is t everywhere. Its share is t
    times a map of its own, which the weights alone determine: nothing is concatenated."""

    def __init__(self, channels: int):
        super().__init__(1 + channels, channels, kernel_size=3, padding=1)

    # A Conv2d in its parameters, and dynamics in how it is called.
    def forward(self, t: Tensor, x: Tensor) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        """t (), x and the result (batch, channels, H, W)."""
        for_time, for_x = self.weight.split_with_sizes((1, x.shape[1]), 1)
        height, width = x.shape[2:]
        of_time = for_time.flatten(1) @ _inside(height, width, x.dtype, x.device)
        return functional.conv2d(x, for_x, self.bias, padding=1).add_(t * of_time.view(-1, height, width))


@functools.lru_cache
@torch.inference_mode(False)  # whoever evaluates first, a gradient may be taken through it later
def _inside(height: int, width: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """1 where a weight of a 3x3 convolution is applied to a place of the map, 0 where to its padding: (9, H * W)."""
    return functional.unfold(torch.ones(1, 1, height, width, dtype=dtype, device=device), 3, padding=1)[0]


class ConvolutionalDynamics(nn.Module):
    """GroupNorm, then `layers` times: ReLU, convolution with time, GroupNorm (ACE-NODE, Table 1, which has two; one is
    Table 1 without its second layer, Section 4.1).

    Raises:
        ValueError: no layers.
    """

    def __init__(self, channels: int, layers: int = 2):
        super().__init__()
        if layers < 1:
            raise ValueError(f"the dynamics need at least one layer, not {layers}")
        self.norm = group_norm(channels)
        self.convolutions = nn.ModuleList(TimeConv2d(channels) for _ in range(layers))
        self.norms = nn.ModuleList(group_norm(channels) for _ in range(layers))

    def forward(self, t: Tensor, x: Tensor) -> Tensor:
        """dx/dt at the time t, (), and x, (batch, channels, H, W)."""
        x = self.norm(x)
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            x = norm(convolution(t, torch.relu_(x)))  # in place: GroupNorm's gradient does not need its result
        return x
