"""One run measured for a few seconds: an iteration of its training, an evaluation, its memory and its files.

Iterations are those of the real training loop, batches and bookkeeping included. Batches grow from a few examples to
the whole one, and parts of the data of an evaluation likewise, as long as there is time; where there is none for the
whole, its time follows from a straight line through the last two parts.
"""

import contextlib
import copy
import io
import math
import resource
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import numpy as np
import torch
from torch import nn

from hidden_dynamics.configuration.runs import Run
from hidden_dynamics.errors import SolverFailure, UserError
from hidden_dynamics.training import loop, optimisers
from hidden_dynamics.training.building import build
from hidden_dynamics.training.checkpoint import Checkpoint
from hidden_dynamics.training.interruption import Interrupted

CLOCKS: dict[str, Callable[[], float]] = {"cpu": time.process_time, "wall": time.perf_counter}
BATCHES = (1 / 64, 1 / 16, 1 / 4, 1.0)
EVALUATED = (1 / 1024, 1 / 256, 1 / 64, 1 / 16, 1 / 4, 1.0)
LEAST = 2  # different parts that are timed whatever the time: no line goes through one
ITERATING = 0.65  # share of the time; the rest is for evaluations
WARM_UP = 1  # iterations that are not timed, if there are more; of those that take so long there need not be more:
LONG = 1.0  # seconds
ENOUGH, PRECISION = 20, 0.01  # iterations that are enough, if the relative standard error of their mean is below this
# Bytes that an iteration adds to the files (its loss as a double, in train_loss.npy and in the checkpoint; its counts
# of function evaluations there).
LOSSES, COUNTS = 16, 8


def measure(
    run: Run, arrays: Mapping[str, np.ndarray], device: torch.device, seconds: float, clock_name: str
) -> dict[str, Any]:
    """The content of hidden_dynamics.measurements.forecast.calibration.Group, without the data's origin.

    Args:
        arrays: the dataset, or arrays of its shapes.
        seconds: on the wall, that it may take, about; less where that is precise enough.
        clock_name: by which it measures: "cpu", the time that this process computes, which is what one thread takes
            that has a core of its own, whatever else the machine does; or "wall".

    Raises:
        UserError: the run cannot be built, or its solver failed.
    """
    clock, begun, start = CLOCKS[clock_name], time.perf_counter(), CLOCKS[clock_name]()
    task, network = build(run, arrays, device)
    set_up = clock() - start
    try:
        iterations = _iterations(run, task, network, device, begun + ITERATING * seconds, clock)
        evaluations = _evaluations(task, network, begun + seconds, clock)
    except SolverFailure as failure:
        raise UserError(f"{run.id} cannot be timed: its solver failed ({failure}).") from failure
    return {
        "task": run.task,
        "model": run.variant,
        "set_up": set_up,
        "data_bytes": sum(array.nbytes for array in arrays.values()),
        "model_bytes": sum(tensor.nbytes for tensor in network.state_dict().values()),
        **iterations,
        **evaluations,
    }


def at_whole(tried: Sequence[tuple[float, float]], whole: float) -> float:
    """The value at the whole, from (size, value) of growing parts: a straight line through the last two, never falling;
    through 0 where there is one part alone."""
    (earlier, before), (size, value) = [(0.0, 0.0), *tried][-2:]
    return value + max(0.0, value - before) / (size - earlier) * (whole - size)


def _iterations(
    run: Run, task: Any, network: nn.Module, device: torch.device, end: float, clock: Callable[[], float]
) -> dict[str, Any]:
    """Batches of growing size, until the whole one or the time `end`: seconds, memory, and what the files hold."""
    whole, initial = run.spec["training"]["batch_size"], copy.deepcopy(network.state_dict())
    times, walls, memories = [], [], []
    for size in dict.fromkeys(math.ceil(whole * part) for part in BATCHES):
        begun = time.perf_counter()
        if len(times) >= LEAST and begun + at_whole(walls, size) > end:
            break
        network.load_state_dict(initial)
        watch = _in_the_loop(run, task, network, device, size, end if size == whole else begun, clock)
        if not watch.steps and size < whole:
            continue  # a solver may fail on a part of a batch alone: noise that batches average out is larger there
        walls.append((size, time.perf_counter() - begun))
        times.append((size, watch.seconds_of_work(run)))
        memories.append((size, _peak_memory(device)))
    network.load_state_dict(initial)
    counts = watch.history.function_evaluations
    host, gpu = (round(at_whole([(at, peak[place]) for at, peak in memories], whole)) for place in (0, 1))
    return {
        "schedule": type(watch.schedule).__name__,
        "sizes": watch.schedule.sizes,
        "iteration": at_whole(times, whole),
        "batch": times[-1][0],
        "iterations": len(watch.timed) if times[-1][0] == whole else 0,
        "function_evaluations": [float(part) for part in np.mean(counts, axis=0)] if counts else None,
        "checkpoint_bytes": watch.checkpoint_bytes,
        "history_bytes": _history_bytes(watch.history, run.spec["training"]),
        "memory_bytes": host,
        "gpu_memory_bytes": gpu,
    }


def _history_bytes(history: loop.History, training: Mapping[str, Any]) -> float:
    recorded = history.gradient_norms[:1]  # the first iteration's; as single precision, in two files
    norms = 2 * recorded[0].nbytes / training["record_gradients"] if recorded else 0
    return LOSSES + bool(history.function_evaluations) * COUNTS + norms


def _peak_memory(device: torch.device) -> tuple[int, int]:
    """Bytes of this process so far, in the host's memory and on the GPU."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return peak, torch.cuda.max_memory_allocated(device) if device.type == "cuda" else 0


class _Watch(Checkpoint):
    """An observer of a run in training: stops it at the time `end`, but not before one timed iteration; takes the size
    of its checkpoint, which is written nowhere."""

    def __init__(self, clock: Callable[[], float], end: float):
        super().__init__(Path("nowhere"), "a calibration")
        self.clock, self.end, self.steps, self.last, self.begun = clock, end, [], clock(), time.perf_counter()

    def __call__(self, history: loop.History, schedule: Any) -> None:
        now, now_on_the_wall = self.clock(), time.perf_counter()
        self.history, self.schedule = history, schedule
        if history.iteration > len(self.steps):
            self.steps.append((now - self.last) / schedule.work(history.iteration - 1))
        over = now_on_the_wall > self.end and (len(self.steps) > WARM_UP or now_on_the_wall - self.begun > LONG)
        if over or self._precise() or history.iteration == schedule.iterations:
            raise Interrupted(signal.SIGTERM)
        self.last = self.clock()

    @property
    def timed(self) -> list[float]:
        return self.steps[WARM_UP:] or self.steps

    def seconds_of_work(self, run: Run) -> float:
        if not self.steps:
            raise UserError(f"{run.id} cannot be timed: its first loss is not finite, or its solver failed.")
        return fmean(self.timed)

    def _precise(self) -> bool:
        steps = self.timed
        return len(steps) >= ENOUGH and pstdev(steps) < PRECISION * fmean(steps) * math.sqrt(len(steps))

    def due(self, after_evaluation: bool) -> bool:
        return False

    def load(self) -> None:
        return None

    def save(self, state: dict[str, Any]) -> None:
        content = io.BytesIO()
        torch.save(state, content)
        self.checkpoint_bytes = content.tell()


def _in_the_loop(
    run: Run, task: Any, network: nn.Module, device: torch.device, size: int, end: float, clock: Callable[[], float]
) -> _Watch:
    """The real training loop with batches of `size`, until the time `end`."""
    training = {key: value for key, value in run.spec["training"].items() if key not in ("rates", "evaluate_every")}
    # Without evaluations; a schedule of its own may draw all epochs beforehand.
    training |= {"batch_size": size, "epochs": 1 if hasattr(task, "schedule") else 2**30, "evaluate_every": 2**40}
    updating = optimisers.build(network, training["optimisers"])
    watch = _Watch(clock, end)
    with contextlib.suppress(Interrupted):  # by the watch
        loop.train({**run.spec, "training": training}, task, network, updating, watch, device, watch)
    return watch


def _evaluations(task: Any, network: nn.Module, end: float, clock: Callable[[], float]) -> dict[str, Any]:
    """Seconds of an evaluation, and of the test of the trained network where the task has one."""
    network.eval()
    tried = {name: {} for name in ("evaluate", "evaluate_test") if hasattr(task, name)}
    walls: dict[float, float] = {}
    for part in EVALUATED if hasattr(task, "keep") else (1.0,):
        begun = time.perf_counter()
        if len(walls) >= LEAST and begun + at_whole([*walls.items()], part) > end:
            break
        share = _evaluate_part(task, network, part, tried, clock, warm=not walls)
        walls[share] = time.perf_counter() - begun
    evaluation, test = (
        at_whole([*tried[name].items()], 1.0) if name in tried else None for name in ("evaluate", "evaluate_test")
    )
    return {"evaluation": evaluation, "test": test, "evaluated": share}


def _evaluate_part(
    task: Any, network: nn.Module, part: float, tried: dict, clock: Callable[[], float], warm: bool
) -> float:
    """Time the evaluations of `tried` on a share of their data, twice where the first `warm`s up; the share kept."""
    whole = dict(vars(task))
    try:
        share = task.keep(part) if part < 1.0 else 1.0
        with torch.no_grad():
            for name, times in tried.items():
                times[share] = _seconds(getattr(task, name), network, clock)
                if warm and times[share] < LONG:
                    times[share] = _seconds(getattr(task, name), network, clock)
        return share
    finally:
        vars(task).update(whole)


def _seconds(evaluate: Callable[[nn.Module], Any], network: nn.Module, clock: Callable[[], float]) -> float:
    start = clock()
    evaluate(network)
    return clock() - start
