# pyright: reportUnknownMemberType=false
"""The optimisers of Tables 6 to 10, one per group of parameters; and one iteration with them on a batch."""

import contextlib
import functools
import inspect
import math
from collections.abc import Callable, Generator, Mapping
from typing import Any, cast

import torch
from torch import nn

from hidden_dynamics.configuration.spec import Training
from hidden_dynamics.errors import UserError
from hidden_dynamics.tasks.task import Batch, Task, TaskOfParts


class Network(nn.Module):
    """A network as training needs it: a type for annotations, from which no network has to be derived. It may give the
    parameters by the name of their optimiser (without it, "main" trains all), and by the part, to train these in turn.
    """

    parameter_groups: Callable[[], dict[str, list[nn.Parameter]]]
    parts: Callable[[], dict[str, list[nn.Parameter]]]


def groups_of(network: Network) -> dict[str, list[nn.Parameter]]:
    """The network's parameters by the name of their optimiser."""
    return network.parameter_groups() if hasattr(network, "parameter_groups") else {"main": list(network.parameters())}


def build(network: Network, settings: Mapping[str, Mapping[str, Any]]) -> dict[str, torch.optim.Optimizer]:
    """An optimiser for each of the network's parameter groups; `settings` of a group are its `name` in torch.optim and
    its arguments. A `UserError` where the groups configured are not the network's, or arguments are not accepted."""
    groups = groups_of(network)
    if set(groups) != set(settings):
        raise UserError(
            f"training.optimisers names the groups {', '.join(settings)}, but {type(network).__name__} has "
            f"{', '.join(groups)}: give one optimiser for each."
        )
    return {name: _build_one(name, groups[name], dict(settings[name])) for name in groups}


def _build_one(group: str, parameters: list[nn.Parameter], settings: dict[str, Any]) -> torch.optim.Optimizer:
    name = settings.pop("name")
    try:
        return _without_compiler(getattr(torch.optim, name))(parameters, **settings)
    except (TypeError, ValueError) as error:
        problem = " ".join(str(error).split())
        raise UserError(f"training.optimisers.{group}: {name} does not accept these arguments: {problem}") from None


@functools.cache
def _without_compiler(optimiser: type[torch.optim.Optimizer]) -> type[torch.optim.Optimizer]:
    """The optimiser with its methods as torch defines them, without what torch wraps around them for `torch.compile`:
    at their first call the wrappers import the compiler, which nothing here uses and which takes a process 1 to 2 s."""
    wrapped = ("add_param_group", "load_state_dict", "state_dict", "zero_grad")
    methods = {name: inspect.unwrap(getattr(optimiser, name)) for name in wrapped}
    step = torch.no_grad()(inspect.unwrap(optimiser.step))
    return type(optimiser.__name__, (optimiser,), methods | {"step": step})


def set_rate(optimisers: Mapping[str, torch.optim.Optimizer], factor: float) -> None:
    """All learning rates become `factor` times the configured ones, which stay in their groups as `initial_lr`."""
    for optimiser in optimisers.values():
        for group in optimiser.param_groups:
            group["lr"] = factor * group.setdefault("initial_lr", group["lr"])


def learn(
    task: Task[Network, Batch],
    network: Network,
    optimisers: dict[str, torch.optim.Optimizer],
    batch: Batch,
    settings: Training,
) -> float:
    """Take one iteration on a batch; its loss before. A loss that is not finite changes nothing.

    Alternating training (ACE-NODE, Algorithm 1) takes one for each of the network's parts in turn, the others held
    fixed. The loss is then that of the first part, or the first one that is not finite: parts before it have learnt.
    """
    of_parts = cast("TaskOfParts[Network, Batch]", task)  # where it alternates, as the training loop has checked
    losses = list[float]()
    for part in network.parts() if settings.get("alternating") else [None]:
        with _alone(network, part):
            loss = task.loss(network, batch) if part is None else of_parts.loss(network, batch, part)
            losses.append(loss.item())
            if not math.isfinite(losses[-1]):
                return losses[-1]
            update(loss, network, optimisers, settings.get("clip_norm"))
    return losses[0]


@contextlib.contextmanager
def _alone(network: Network, part: str | None) -> Generator[None]:
    """Give gradients to this part's parameters alone within the block; None is all of them."""
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
    loss: torch.Tensor, network: nn.Module, optimisers: dict[str, torch.optim.Optimizer], clip_norm: float | None
) -> None:
    """Gradients, clipping of their norm over all parameters, and a step of every optimiser, of what has a gradient."""
    for optimiser in optimisers.values():
        optimiser.zero_grad()
    loss.backward()
    if clip_norm is not None:
        nn.utils.clip_grad_norm_(network.parameters(), clip_norm)
    for optimiser in optimisers.values():
        optimiser.step()
