"""The GRU as an ordinary differential equation (De Brouwer et al. 2019, Section 2.2 and Appendix)."""

import torch
from torch import Tensor, nn

from hidden_dynamics.models.choices import one_of

CELLS = ("full", "minimal")


class GRUODE(nn.Module):
    """dh/dt = (1 - z)(u - h), autonomous and without biases, as it is used for the climate data:

        full:    r = sigmoid(W_r h),  z = sigmoid(W_z h),  u = tanh(W_h (r h));
        minimal: z = sigmoid(W_z h),                       u = tanh(W_h (z h)).

    Args:
        size: of h.
        cell: "full" or "minimal".

    Parameters: `reset` (none in the minimal cell), `update`, `candidate`: W_r, W_z, W_h, (size, size), Xavier-uniform.

    Raises:
        ValueError: the cell is unknown.
    """

    def __init__(self, size: int, cell: str = "full"):
        super().__init__()
        one_of("cell", cell, CELLS)
        self.size, self.cell = size, cell
        if cell == "full":
            self.reset = nn.Parameter(torch.empty(size, size))
        self.update, self.candidate = (nn.Parameter(torch.empty(size, size)) for _ in range(2))
        for weight in self.parameters():
            nn.init.xavier_uniform_(weight)

    def gate_weights(self) -> Tensor:
        """W_r over W_z, (2 size, size); in the minimal cell W_z alone."""
        return torch.cat([self.reset, self.update]) if self.cell == "full" else self.update

    def forward(self, t: Tensor | None, h: Tensor) -> Tensor:
        """dh/dt of h, (..., size), at any time."""
        gates = torch.sigmoid(h @ self.gate_weights().t())
        r, z = gates[..., : self.size], gates[..., -self.size :]  # one and the same in the minimal cell
        return (1 - z) * (torch.tanh((r * h) @ self.candidate.t()) - h)

    def extra_repr(self) -> str:
        return f"{self.size}, cell={self.cell!r}"
