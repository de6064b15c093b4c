"""The GRU unit of an ODE-RNN, whose gates and candidate are networks of one hidden layer."""

import torch
from torch import Tensor, nn

from hidden_dynamics.models.latent_family.layers import tanh_network


class GRUUnit(nn.Module):
    """Moves a state, mean y and standard deviation s, to what is seen, x.

    u = sigmoid(U [y, s, x]), r = sigmoid(R [y, s, x]), [n, e] = N [r y, r s, x];
    y <- (1 - u) n + u y, s <- (1 - u) |e| + u s.

    U, R and N are networks of one hidden layer with tanh.

    Args:
        size: S, of y and of s.
        inputs: X, of x.
        units: of each hidden layer.
    """

    def __init__(self, size: int, inputs: int, units: int):
        super().__init__()
        self.size, self.inputs = size, inputs
        self.update = tanh_network(2 * size + inputs, size, 0, units)
        self.reset = tanh_network(2 * size + inputs, size, 0, units)
        self.candidate = tanh_network(2 * size + inputs, 2 * size, 0, units)

    def forward(self, y: Tensor, s: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        """Of y and s, (rows, S), and x, (rows, X)."""
        seen = torch.cat([y, s, x], 1)
        u, r = torch.sigmoid(self.update(seen)), torch.sigmoid(self.reset(seen))
        n, e = self.candidate(torch.cat([r * y, r * s, x], 1)).chunk(2, 1)
        return (1 - u) * n + u * y, (1 - u) * e.abs() + u * s
