"""One run measured: iterations of its real training loop, one evaluation, its memory and its files."""

import contextlib
import io
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch
from torch import nn

from hidden_dynamics.configuration.runs import Run
from hidden_dynamics.errors import SolverFailure, UserError
from hidden_dynamics.measurements.processes import peak_resident
from hidden_dynamics.training import loop, optimisers
from hidden_dynamics.training.building import build
from hidden_dynamics.training.checkpoint import Checkpoint
from hidden_dynamics.training.interruption import Interrupted

Clock = Callable[[], float]
WARM_UP = 1  # iterations that are not timed
TIMED, ENOUGH = 1.0, 20  # iterations are timed for so many seconds on the wall, so many at most and one at least
# Bytes that an iteration adds to the files: its loss as a double, in train_loss.npy and in the checkpoint; its counts
# of function evaluations there.
LOSSES, COUNTS = 16, 8


def measure(run: Run, arrays: Mapping[str, np.ndarray], device: torch.device, clock: Clock) -> dict[str, Any]:
    """The content of hidden_dynamics.measurements.forecast.calibration.Group, without the data's origin.

    Args:
        arrays: the dataset, or arrays of its shapes.
        clock: tells the time in seconds.

    Raises:
        UserError: the run cannot be built, its first losses are not finite, or its solver failed.
    """
    start = clock()
    task, network = build(run, arrays, device)
    set_up = clock() - start
    try:
        watch = _in_the_loop(run, task, network, device, clock)
        network.eval()
        with torch.no_grad():
            evaluation = _seconds(task.evaluate, network, clock)
            test = _seconds(task.evaluate_test, network, clock) if hasattr(task, "evaluate_test") else None
    except SolverFailure as failure:
        raise UserError(f"{run.id} cannot be timed: its solver failed ({failure}).") from failure
    if not watch.timed or watch.history.diverged_at is not None:
        raise UserError(f"{run.id} cannot be timed: its first losses are not finite, or its solver failed.")
    counts = watch.history.function_evaluations
    return {
        "task": run.task,
        "model": run.sized_model,
        "schedule": type(watch.schedule).__name__,
        "sizes": watch.schedule.sizes,
        "set_up": set_up,
        "iteration": fmean(watch.timed),
        "evaluation": evaluation,
        "test": test,
        "function_evaluations": [float(part) for part in np.mean(counts, axis=0)] if counts else None,
        "data_bytes": sum(array.nbytes for array in arrays.values()),
        "model_bytes": sum(tensor.nbytes for tensor in network.state_dict().values()),
        "checkpoint_bytes": watch.checkpoint_bytes,
        "history_bytes": _history_bytes(watch.history, run.spec["training"]),
        "memory_bytes": peak_resident(),
        "gpu_memory_bytes": torch.cuda.max_memory_allocated(device) if device.type == "cuda" else 0,
    }


def _seconds(evaluate: Callable[[nn.Module], Any], network: nn.Module, clock: Clock) -> float:
    start = clock()
    evaluate(network)
    return clock() - start


def _history_bytes(history: loop.History, training: Mapping[str, Any]) -> float:
    recorded = history.gradient_norms[:1]  # the first iteration's; as single precision, in two files
    norms = 2 * recorded[0].nbytes / training["record_gradients"] if recorded else 0
    return LOSSES + bool(history.function_evaluations) * COUNTS + norms


class _Watch(Checkpoint):
    """An observer of a run in training: times its iterations and stops it; takes the size of its checkpoint, which is
    written nowhere.

    Attributes:
        timed: seconds of a unit of the schedule's work, of each iteration after the warm-up.
    """

    def __init__(self, clock: Clock):
        super().__init__(Path("nowhere"), "a calibration")
        self.clock, self.timed, self.end = clock, [], float("inf")

    def __call__(self, history: loop.History, schedule: Any) -> None:
        self.history, self.schedule = history, schedule
        if history.iteration == WARM_UP:
            self.end = time.perf_counter() + TIMED
        elif history.iteration > WARM_UP:
            self.timed.append((self.clock() - self.last) / schedule.work(history.iteration - 1))
        over = time.perf_counter() > self.end or len(self.timed) == ENOUGH
        if (self.timed and over) or history.iteration == schedule.iterations:
            raise Interrupted(signal.SIGTERM)
        self.last = self.clock()

    def due(self, after_evaluation: bool) -> bool:
        return False

    def load(self) -> None:
        return None

    def save(self, state: dict[str, Any]) -> None:
        content = io.BytesIO()
        torch.save(state, content)
        self.checkpoint_bytes = content.tell()


def _in_the_loop(run: Run, task: Any, network: nn.Module, device: torch.device, clock: Clock) -> _Watch:
    """The real training loop without evaluations, until the watch stops it."""
    training = {key: value for key, value in run.spec["training"].items() if key not in ("rates", "evaluate_every")}
    # A schedule of its own may draw all epochs beforehand.
    training |= {"epochs": 2 if hasattr(task, "schedule") else 2**30, "evaluate_every": 2**40}
    watch = _Watch(clock)
    with contextlib.suppress(Interrupted):  # by the watch
        updating = optimisers.build(network, training["optimisers"])
        loop.train({**run.spec, "training": training}, task, network, updating, watch, device, watch)
    return watch
