"""One iteration on a batch: losses, gradients and steps, of the whole network or of its parts in turn."""

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn


def learn(
    task: Any, network: nn.Module, optimisers: dict[str, torch.optim.Optimizer], batch: Any, settings: dict[str, Any]
) -> float:
    """One iteration on a batch; returns the loss before it. A loss that is not finite changes nothing.

    Alternating training (ACE-NODE, Algorithm 1) takes one for each of the network's parts in turn, the others held
    fixed. The loss is then that of the first part, or the first one that is not finite: parts before it have learnt.

    Args:
        settings: `alternating` and `clip_norm` of the training.
    """
    losses = []
    for part in network.parts() if settings.get("alternating") else [None]:
        with _alone(network, part):
            loss = task.loss(network, batch) if part is None else task.loss(network, batch, part)
            losses.append(loss.item())
            if not math.isfinite(losses[-1]):
                return losses[-1]
            update(loss, network, optimisers, settings.get("clip_norm"))
    return losses[0]


@contextlib.contextmanager
def _alone(network: nn.Module, part: str | None) -> Iterator[None]:
    """Within the block, only this part's parameters have gradients; None is all of them."""
    kept = None if part is None else {id(parameter) for parameter in network.parts()[part]}
    fixed = [p for p in network.parameters() if kept is not None and id(p) not in kept and p.requires_grad]
    for parameter in fixed:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in fixed:
            parameter.requires_grad_(True)


def update(
    loss: torch.Tensor,
    network: nn.Module,
    optimisers: dict[str, torch.optim.Optimizer],
    clip_norm: float | None,
) -> None:
    """Gradients of the loss, clipping of their norm over all parameters, and one step of every optimiser.

    A parameter without a gradient, because it is held fixed, is left as it is.
    """
    for optimiser in optimisers.values():
        optimiser.zero_grad()
    loss.backward()
    if clip_norm is not None:
        nn.utils.clip_grad_norm_(network.parameters(), clip_norm)
    for optimiser in optimisers.values():
        optimiser.step()
