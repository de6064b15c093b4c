# pyright: reportUnknownMemberType=false
"""A run's task and network, built from the names and settings in its specification."""

import importlib
import json
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import torch

from hidden_dynamics.configuration.runs import Run
from hidden_dynamics.errors import UserError
from hidden_dynamics.tasks.task import AnyTask, Task
from hidden_dynamics.training.optimisers import Network


def build(run: Run, arrays: Mapping[str, np.ndarray], device: torch.device) -> tuple[AnyTask, Network]:
    """The run's task on its prepared data, and its network as the run's seed initialises it; a `UserError` where a
    class cannot be imported, or does not accept its hyperparameters."""
    torch.manual_seed(run.spec["seed"])
    task = task_of(run, arrays, device)
    return task, _network(run, task).to(device)


def task_of(run: Run, arrays: Mapping[str, np.ndarray], device: torch.device) -> AnyTask:
    """The run's task on its prepared data; a UserError where its class is no whole task."""
    name = run.classes["task_class"]
    kind = imported(name)
    if not (isinstance(kind, type) and issubclass(kind, Task)):
        raise UserError(f"{name} is no task: derive it from {Task.__module__}.Task (docs/extending.md).", key="class")
    if missing := sorted(kind.__abstractmethods__):
        raise UserError(f"{name} lacks {', '.join(missing)}, which {Task.__module__}.Task describes.", key="class")
    return cast(AnyTask, kind(arrays, run.spec["task_settings"], run.spec["seed"], device))


def imported(name: str) -> Any:
    """The object of a dotted name, such as hidden_dynamics.models.recurrent.lstm.LSTM."""
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ModuleNotFoundError, AttributeError) as error:
        raise UserError(f"{name} cannot be imported: {error}. Check the name in config/.") from None


def _network(run: Run, task: AnyTask) -> Network:
    core = {"core": imported(run.classes["core"])} if "core" in run.classes else {}
    try:
        return imported(run.classes["network"])(task, **core, **run.spec["hyperparameters"])
    except (TypeError, ValueError, AttributeError) as error:  # the last: the task lacks what the network asks of it
        problem = " ".join(str(error).split())  # torch's errors have several lines
        name = " with the core ".join(run.classes[part] for part in ("network", "core") if part in run.classes)
        given = json.dumps(run.spec["hyperparameters"])
        text = f"{run.id}: {name} cannot be built: {problem}. Its hyperparameters are {given}."
        raise UserError(text, key="hyperparameters") from error
