"""The step of a GRU, as networks of irregular series need it."""

import torch
from torch import Tensor, nn


def gru_step(cell: nn.GRUCell, of_input: Tensor, h: Tensor) -> Tensor:
    """The cell's next h, (N, H), given its input's share of the gates r, z and n, (N, 3 H)."""
    return gated(of_input, torch.addmm(cell.bias_hh, h, cell.weight_hh.t()), h)


def gated(of_input: Tensor, of_state: Tensor, h: Tensor) -> Tensor:
    """A GRU's step from h, (N, H), given the shares of its input and of h in the gates r, z and n, (N, 3 H) each."""
    sizes = [2 * h.shape[1], h.shape[1]]
    (of_gates, of_n), (gates, n) = (each.split_with_sizes(sizes, 1) for each in (of_input, of_state))
    r, z = torch.sigmoid(of_gates + gates).chunk(2, 1)
    return torch.lerp(torch.tanh(torch.addcmul(of_n, r, n)), h, z)
