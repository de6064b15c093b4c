"""Timing, robust to background load.

Times are taken in rounds: each round times everything once, in an order that rotates, so that what else the machine
does falls on all alike. A ratio is the median over the rounds of the ratios within a round.
"""

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch

from hidden_dynamics.configuration.runs import Run
from hidden_dynamics.tasks.task import AnyTask
from hidden_dynamics.training import optimisers
from hidden_dynamics.training.building import build

WARM_UP = 2  # calls of each before any is timed: libraries load, kernels are chosen, optimisers make their state
Name = TypeVar("Name", bound=Hashable)


@dataclass
class Subject:
    """A run at its first batch, to be measured."""

    run: Run
    task: AnyTask
    network: optimisers.Network
    optimisers: dict[str, torch.optim.Optimizer]
    batch: Any

    def sizes(self) -> dict[str, int]:
        """The columns on its batch, whose first member is x (T, batch, d), and on its epoch."""
        steps, batch = self.batch[0].shape[:2]
        schedule = self.task.schedule(self.run.spec["training"], self.run.seed)
        return {"batch": batch, "steps": steps, "samples_per_epoch": schedule.samples_per_epoch}


def subject_of(run: Run, arrays: Mapping[str, np.ndarray], device: torch.device, batch_size: int) -> Subject:
    """The run as its training starts, with a batch of `batch_size` samples (or all there are) on the device."""
    task, network = build(run, arrays, device)
    training = run.spec["training"]
    batch = first_batch(run, task, batch_size)
    return Subject(run, task, network, optimisers.build(network, training["optimisers"]), batch)


def first_batch(run: Run, task: AnyTask, batch_size: int) -> Any:
    schedule = task.schedule({**run.spec["training"], "batch_size": batch_size}, run.spec["seed"])
    return task.batch(*schedule.indices(0))


def training_step(subject: Subject, batch: object) -> None:
    """A training step: forward, loss, backward, clipping, one step of every optimiser."""
    subject.network.train()
    optimisers.learn(subject.task, subject.network, subject.optimisers, batch, subject.run.spec["training"])


def evaluation_step(subject: Subject, batch: object) -> None:
    """Forward and loss, without gradients."""
    subject.network.eval()
    with torch.no_grad():
        subject.task.loss(subject.network, batch)


ACTIONS = {"training": training_step, "evaluation": evaluation_step}


def interleaved(
    actions: Mapping[Name, Callable[[], object]],
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
    wait: Callable[[], object] = lambda: None,
    warm_up: int = WARM_UP,
) -> list[dict[Name, float]]:
    """Seconds that each action takes, round by round, after `warm_up` rounds that are not timed; each round starts one
    action later. `wait` returns when everything begun is done: on a GPU, torch.cuda.synchronize."""
    names = list(actions)
    for _ in range(warm_up):
        for action in actions.values():
            action()
    times = []
    for first in range(rounds):
        order = [names[(first + offset) % len(names)] for offset in range(len(names))]
        times.append({name: _seconds(actions[name], clock, wait) for name in order})
    return times


def _seconds(action: Callable[[], object], clock: Callable[[], float], wait: Callable[[], object]) -> float:
    wait()
    start = clock()
    action()
    wait()
    return clock() - start


def ratios_within_rounds(times: Sequence[Mapping[Name, float]], name: Name, baseline: Name) -> list[float]:
    """The ratio of an action's time to the baseline's, in each round."""
    return [seconds[name] / seconds[baseline] for seconds in times]
