"""The training loop: one run from its first iteration, or from its checkpoint, to its end."""

import functools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn

from hidden_dynamics.configuration import known
from hidden_dynamics.data.streams import generator
from hidden_dynamics.errors import UserError
from hidden_dynamics.training.checkpoint import Checkpoint
from hidden_dynamics.training.interruption import Interrupted, Interruption


@dataclass
class History:
    """What a training has done so far.

    Attributes:
        iteration: optimiser steps done.
        losses: the minibatch loss of each.
        metrics: one entry per evaluation.
        clock: training and evaluation seconds at each evaluation.
        diverged_at: the iteration whose loss was not finite, counted from 1, or None.
        gradient_norms: ||dL/dh_t|| for every t, (T,) each, at iterations 0, n, 2n, ... where `record_gradients` is n.
    """

    iteration: int = 0
    losses: list[float] = field(default_factory=list)
    metrics: list[dict[str, float]] = field(default_factory=list)
    clock: list[dict[str, float]] = field(default_factory=list)
    diverged_at: int | None = None
    gradient_norms: list[torch.Tensor] = field(default_factory=list)
    training_seconds: float = 0.0
    evaluation_seconds: float = 0.0


class Schedule:
    """How many iterations, in which epochs, evaluated when.

    Args:
        training: `epochs`, `batch_size`, and for endless data `iterations_per_epoch`; `evaluate_every` iterations
            (default: an epoch's).
        train_size: examples in an epoch, or None for endless data. The last batch of an epoch may be smaller.
    """

    def __init__(self, training: dict[str, Any], train_size: int | None):
        self.batch_size, self.train_size = training["batch_size"], train_size
        endless = training.get("iterations_per_epoch", 1)
        self.per_epoch = endless if train_size is None else math.ceil(train_size / self.batch_size)
        self.iterations = training["epochs"] * self.per_epoch
        self.evaluate_every = training.get("evaluate_every", self.per_epoch)

    def indices(self, seed: int, iteration: int) -> tuple[int, Any]:
        """The epoch of an iteration (both from 0), and what the task's `batch` takes for it."""
        epoch, position = divmod(iteration, self.per_epoch)
        if self.train_size is None:
            return epoch, (iteration, self.batch_size)
        order = _order(seed, epoch, self.train_size)
        return epoch, order[position * self.batch_size : (position + 1) * self.batch_size]

    def evaluates(self, iteration: int) -> bool:
        return iteration > 0 and (iteration % self.evaluate_every == 0 or iteration == self.iterations)


@functools.lru_cache(maxsize=1)  # every iteration of an epoch asks for it, and drawing it takes a millisecond on MNIST
def _order(seed: int, epoch: int, size: int) -> np.ndarray:
    """The order in which an epoch goes through the training set: (size,), int64."""
    return generator(seed, "order", epoch).permutation(size)


def train(
    spec: dict[str, Any],
    task: Any,
    network: nn.Module,
    optimisers: dict[str, torch.optim.Optimizer],
    checkpoint: Checkpoint,
    device: torch.device,
    report: Callable[[History, Schedule], None] = lambda history, schedule: None,
) -> History:
    """Train until the schedule ends or the loss is no longer finite.

    Raises:
        Interrupted: SIGTERM or SIGINT came; the checkpoint holds everything done so far.
        UserError: the metric to be reported is none that the evaluation gives.
    """
    schedule = Schedule(spec["training"], task.train_size)
    history = _resume(checkpoint, network, optimisers, device)
    with Interruption() as interruption:
        try:
            while not _finished(history, schedule):
                evaluating = _evaluation_due(history, schedule)
                if evaluating:
                    _evaluate(history, schedule, spec, task, network, interruption)
                else:
                    _step(history, schedule, spec, task, network, optimisers)
                report(history, schedule)
                interruption.check()
                if checkpoint.due(after_evaluation=evaluating):
                    _save(checkpoint, history, network, optimisers, device)
            _save(checkpoint, history, network, optimisers, device)
            interruption.check()
        except Interrupted:
            _save(checkpoint, history, network, optimisers, device)
            raise
    checkpoint.drop_previous()
    return history


def _step(
    history: History,
    schedule: Schedule,
    spec: dict[str, Any],
    task: Any,
    network: nn.Module,
    optimisers: dict[str, torch.optim.Optimizer],
) -> None:
    """One iteration: a batch, its loss and gradients, clipping over all parameters, one step of every optimiser."""
    start = time.perf_counter()
    network.train()
    batch = task.batch(*schedule.indices(spec["seed"], history.iteration))
    recording = _set_recording(history, spec, task, network)
    loss = task.loss(network, batch)
    value = loss.item()
    if not math.isfinite(value):
        history.diverged_at = history.iteration + 1
        return
    update(loss, network, optimisers, spec["training"].get("clip_norm"))
    if recording:
        history.gradient_norms.append(network.core.gradient_norms.detach().float().cpu())
    history.losses.append(value)
    history.iteration += 1
    history.training_seconds += time.perf_counter() - start


def update(
    loss: torch.Tensor,
    network: nn.Module,
    optimisers: dict[str, torch.optim.Optimizer],
    clip_norm: float | None,
) -> None:
    """Gradients of the loss, clipping of their norm over all parameters, and one step of every optimiser."""
    for optimiser in optimisers.values():
        optimiser.zero_grad()
    loss.backward()
    if clip_norm is not None:
        nn.utils.clip_grad_norm_(network.parameters(), clip_norm)
    for optimiser in optimisers.values():
        optimiser.step()


def _set_recording(history: History, spec: dict[str, Any], task: Any, network: nn.Module) -> bool:
    """Whether this iteration's gradients with respect to the hidden states are recorded; the core is told so."""
    every = spec["training"].get("record_gradients")
    if every is None:
        return False
    if getattr(task, "ragged", False):
        raise UserError(f"task {spec['task']}: training.record_gradients: its sequences differ in length.")
    if not hasattr(getattr(network, "core", None), "record_gradients"):
        name = spec["core"] or spec["network"]
        raise UserError(f"task {spec['task']}: training.record_gradients: {name} cannot record its gradients.")
    network.core.record_gradients = history.iteration % every == 0
    return network.core.record_gradients


def _evaluate(
    history: History,
    schedule: Schedule,
    spec: dict[str, Any],
    task: Any,
    network: nn.Module,
    interruption: Interruption,
) -> None:
    start = time.perf_counter()
    network.eval()
    with interruption.immediate(), torch.no_grad():
        measured = task.evaluate(network)
    before = int(history.metrics[-1]["iteration"]) if history.metrics else 0
    epoch = history.iteration / schedule.per_epoch
    row = {
        "iteration": history.iteration,
        "epoch": epoch,
        "train_loss": float(np.mean(history.losses[before:])),
        **measured,
    }
    known(spec["training"]["report"]["metric"], row, "metric", f"task {spec['task']}: training.report.metric")
    history.metrics.append(row)
    history.evaluation_seconds += time.perf_counter() - start
    seconds = {"training_seconds": history.training_seconds, "evaluation_seconds": history.evaluation_seconds}
    history.clock.append({"iteration": history.iteration, **seconds})


def _evaluation_due(history: History, schedule: Schedule) -> bool:
    done = history.metrics[-1]["iteration"] if history.metrics else 0
    return schedule.evaluates(history.iteration) and done != history.iteration


def _finished(history: History, schedule: Schedule) -> bool:
    if history.diverged_at is not None:
        return True
    return history.iteration >= schedule.iterations and not _evaluation_due(history, schedule)


def _resume(
    checkpoint: Checkpoint, network: nn.Module, optimisers: dict[str, torch.optim.Optimizer], device: torch.device
) -> History:
    state = checkpoint.load()
    if state is None:
        return History()
    network.load_state_dict(state["network"])
    for name, optimiser in optimisers.items():
        optimiser.load_state_dict(state["optimisers"][name])
    torch.set_rng_state(state["rng"])
    if device.type == "cuda" and state["cuda_rng"] is not None:  # None: so far it ran on a CPU
        torch.cuda.set_rng_state(state["cuda_rng"], device)
    history = dict(state["history"], losses=state["losses"].tolist(), gradient_norms=list(state["gradient_norms"]))
    return History(**history)


def _save(
    checkpoint: Checkpoint,
    history: History,
    network: nn.Module,
    optimisers: dict[str, torch.optim.Optimizer],
    device: torch.device,
) -> None:
    checkpoint.save(
        {
            "network": network.state_dict(),
            "optimisers": {name: optimiser.state_dict() for name, optimiser in optimisers.items()},
            "history": {k: value for k, value in vars(history).items() if k not in ("losses", "gradient_norms")},
            "losses": torch.tensor(history.losses, dtype=torch.float64),
            "gradient_norms": torch.stack(history.gradient_norms) if history.gradient_norms else torch.empty(0),
            "rng": torch.get_rng_state(),
            "cuda_rng": torch.cuda.get_rng_state(device) if device.type == "cuda" else None,
        }
    )
