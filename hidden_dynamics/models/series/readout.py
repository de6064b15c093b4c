"""A prediction is read from a state by a layer of hidden units, in all networks of this package."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Readout(nn.Module):
    """p = V_2 drop(ReLU(V_1 x + b_1)) + b_2, the mean and logvar of a row, as in GRU-ODE-Bayes.

    Args:
        inputs: entries of x.
        hidden_size: hidden units.
        features: D.
        dropout: share of the hidden units that are dropped.

    Raises:
        ValueError: the dropout is out of its range.
    """

    def __init__(self, inputs: int, hidden_size: int, features: int, dropout: float):
        super().__init__()
        if not 0 <= dropout < 1:
            raise ValueError(f"the dropout must be from 0 to below 1, not {dropout}")
        self.dropout = dropout
        self.hidden, self.out = nn.Linear(inputs, hidden_size), nn.Linear(hidden_size, 2 * features)

    def forward(self, x: Tensor, drop: bool) -> Tensor:
        """(..., 2 D) of x, (..., inputs)."""
        return self.out(functional.dropout(torch.relu(self.hidden(x)), self.dropout, drop))
