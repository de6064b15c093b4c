"""A GRU over the steps of a batch, where its state may decay before a step and its input be its own prediction."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from hidden_dynamics.models.encode import gru_step


class Feedback(NamedTuple):
    """
    Attributes:
        decoder: predicts values, (N, D), from states.
        steps: (N, S, 1) bool, at which steps its prediction stands in the place of the values seen.
    """

    decoder: nn.Module
    steps: Tensor


def passed(
    cell: nn.GRUCell, values: Tensor, beside: Tensor, decay: Tensor | None = None, feedback: Feedback | None = None
) -> Tensor:
    """The states after the first 0 to S steps, from 0: (N, S + 1, H).

    Args:
        cell: its input is a step's values and what is seen beside them.
        values: (N, S, D).
        beside: (N, S, I - D).
        decay: (N, S, 1), what multiplies the state before each step.
        feedback: see there; what it predicts from is not decayed.
    """
    features, size = values.shape[2], cell.hidden_size
    of_values, of_rest = cell.weight_ih.split([features, beside.shape[2]], 1)
    given = functional.linear(beside, of_rest, cell.bias_ih)
    if feedback is None:
        given = given + functional.linear(values, of_values)
    h = values.new_zeros(len(values), size)
    states = [h]
    decays = [None] * values.shape[1] if decay is None else decay.unbind(1)
    for step, (gates, factor) in enumerate(zip(given.unbind(1), decays, strict=True)):
        if feedback is not None:
            own = torch.where(feedback.steps[:, step], feedback.decoder(h), values[:, step])
            gates = torch.addmm(gates, own, of_values.t())
        if factor is not None:
            h = h * factor
        h = gru_step(cell, gates, h)
        states.append(h)
    return torch.stack(states, 1)
