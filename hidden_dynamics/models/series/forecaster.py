"""What the networks of this package share: a prediction is read from a state by a layer of hidden units."""

from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional


class SeriesTask(Protocol):
    """The properties of a task that a network of irregular series needs.

    Attributes:
        features: D, of a row.
        until: the time until which rows are given where the later ones are to be predicted.
    """

    features: int
    until: float


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


class Forecaster(nn.Module):
    """A network of irregular series; derived classes add `forward`, `loss` and `predict`."""

    def penalty(self, filtered: object, part: str | None = None) -> float:
        """The term added to the loss: none."""
        return 0.0

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        """All parameters, in one group."""
        return {"main": list(self.parameters())}
