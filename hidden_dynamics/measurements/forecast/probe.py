"""One configuration measured for a few seconds: what an iteration, an evaluation and the files of its training take.

Iterations are those of the real training loop, batches and bookkeeping included. Where a whole iteration would take
longer than there is time, smaller batches are timed, and the time of the whole one follows from a straight line through
the last two; in the same way an evaluation is timed on parts of its data.
"""

import contextlib
import dataclasses
import math
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import numpy as np
import torch
from torch import nn

from hidden_dynamics.training.building import build, imported
from hidden_dynamics.errors import SolverFailure, UserError
from hidden_dynamics.measurements.forecast.workload import sizes_of
from hidden_dynamics.configuration.runs import Run
from hidden_dynamics.training import loop, optimisers
from hidden_dynamics.training.checkpoint import Checkpoint
from hidden_dynamics.training.interruption import Interrupted
from hidden_dynamics.training.learning import learn
from hidden_dynamics.tasks.schedule import SegmentSchedule, schedule_of

CLOCKS: dict[str, Callable[[], float]] = {"cpu": time.process_time, "wall": time.perf_counter}
STEPS, EVALUATIONS = 0.65, 0.3  # shares of the time
WARM_UP = 2  # iterations that are not timed, if there are more
ENOUGH, PRECISION = 20, 0.01  # iterations that are enough, if the relative standard error of their mean is below this
PARTS = (1 / 16, 1 / 4, 1.0)  # of a batch and of the data of an evaluation, as far as time allows
GROWTH = 4  # from one of them to the next
EXAMPLES = 2048  # to train on: the others would only take time to be copied
Arrays = Mapping[str, np.ndarray]


def probe(run: Run, arrays: Arrays, device: torch.device, seconds: float, clock_name: str) -> dict[str, Any]:
    """The measurement of a run's group, an entry of `groups` in config/schemas/calibration.json.

    Args:
        arrays: the dataset, or arrays of its shapes.
        seconds: by the clock, that it may take, about; less where that is precise enough.
        clock_name: by which it measures: "cpu", the CPU time of this process, which is what one thread takes that has
            a core of its own, whatever else the machine does; or "wall".

    Raises:
        UserError: the run cannot be built, its schedule cannot be counted, or its solver failed.
    """
    clock = CLOCKS[clock_name]
    few, settings, _ = part_of(arrays, run.spec["task_settings"], PARTS[0], EXAMPLES)
    build(dataclasses.replace(run, spec={**run.spec, "task_settings": settings}), few, device)  # imports what it needs
    begun = clock()
    task, network = build(run, arrays, device)
    schedule = schedule_of(run.spec["training"], task, run.spec["seed"])
    measured = {
        "parameters": sum(parameter.numel() for parameter in network.parameters()),
        "sizes": sizes_of(schedule),
        "set_up": clock() - begun,
        "data_bytes": sum(array.nbytes for array in arrays.values()),
    }
    held = _peak_memory(device)
    with _solving(run):
        measured |= _iteration(run, arrays, device, STEPS * seconds, clock)
        measured |= _evaluation(run, arrays, network, device, EVALUATIONS * seconds, clock)
    scale = run.spec["training"]["batch_size"] / measured["batch"]
    peaks = zip(held, _peak_memory(device), strict=True)
    host, gpu = (round(before + (peak - before) * scale) for before, peak in peaks)
    return measured | {"memory_bytes": host, "gpu_memory_bytes": gpu}


@contextlib.contextmanager
def _solving(run: Run) -> Iterator[None]:
    try:
        yield
    except SolverFailure as failure:
        raise UserError(f"{run.id} cannot be timed: its solver failed ({failure}).") from failure


def _peak_memory(device: torch.device) -> tuple[int, int]:
    """Bytes of this process so far, in the host's memory and on the GPU."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return peak, torch.cuda.max_memory_allocated(device) if device.type == "cuda" else 0


def _timed(run: Run, batch_size: int) -> dict[str, Any]:
    """The run's specification, not evaluated on the way."""
    training = {**run.spec["training"], "evaluate_every": 2**40, "batch_size": batch_size}
    if hasattr(imported(run.spec["task_class"]), "schedule"):
        training["epochs"] = 1  # of a text: the segments of hundreds take seconds to draw
    if "rates" in training:
        training["rates"] = {key: value for key, value in training["rates"].items() if key != "until"}
    return {**run.spec, "training": training}


def _iteration(run: Run, arrays: Arrays, device: torch.device, seconds: float, clock: Callable) -> dict[str, Any]:
    """Seconds of an iteration with the run's batch size (of a text, of each of its rows), and the files' bytes."""
    begun, whole = clock(), run.spec["training"]["batch_size"]
    few, settings, _ = part_of(arrays, run.spec["task_settings"], PARTS[0], EXAMPLES)
    run = dataclasses.replace(run, spec={**run.spec, "task_settings": settings})
    tried: list[tuple[float, float]] = []
    left = seconds
    for size in dict.fromkeys(max(1, round(whole * part)) for part in PARTS):
        warm = not tried or 2 * GROWTH * tried[-1][1] < left  # libraries prepare for a size at its first use
        tried.append((size, _one_step(run, few, device, size, clock, steps=1 + warm)))
        left = seconds - (clock() - begun)
        if at_whole(tried, min(whole, GROWTH * size)) > left:
            break
    in_time = size == whole and left > 0
    steps, found = _in_the_loop(run, few, device, *(whole, left) if in_time else (int(tried[0][0]), 0.0), clock)
    if in_time:
        tried[-1] = (whole, sum(took for took, _ in steps) / sum(rows for _, rows in steps))
    each = [took / rows for took, rows in steps] if in_time else []
    return found | {
        "iteration": at_whole(tried, whole),
        "iterations": len(each),
        "spread": pstdev(each) / fmean(each) if len(each) > 1 else None,
        "batch": size,
    }


def at_whole(tried: Sequence[tuple[float, float]], whole: float) -> float:
    """The seconds of the whole, of (size, seconds) of growing parts: from a straight line through the last two; through
    0 where there is one alone."""
    (earlier, before), (size, seconds) = [(0.0, 0.0), *tried][-2:]
    return seconds + max(0.0, seconds - before) / (size - earlier) * (whole - size)


def _one_step(run: Run, arrays: Arrays, device: torch.device, size: int, clock: Callable, steps: int) -> float:
    """Seconds of the last of `steps` iterations with the first batch of `size`."""
    spec = _timed(run, size)
    task, network = build(run, arrays, device)
    schedule = schedule_of(spec["training"], task, spec["seed"])
    updating = optimisers.build(network, spec["training"]["optimisers"])
    network.train()
    for _ in range(steps):
        start = clock()
        learn(task, network, updating, task.batch(*schedule.indices(0)), spec["training"])
    return (clock() - start) / _rows(schedule, 0)


def _rows(schedule: Any, iteration: int) -> int:
    """Words of each text of an iteration's batch; 1 where it is no text."""
    return schedule.indices(iteration)[1][1] if isinstance(schedule, SegmentSchedule) else 1


class _Watch:
    """Told of every iteration of a training; stops it after `seconds`."""

    def __init__(self, clock: Callable[[], float], seconds: float):
        self.clock, self.steps, self.last = clock, [], clock()
        self.end = self.last + seconds

    def __call__(self, history: loop.History, schedule: Any) -> None:
        now = self.clock()
        self.history, self.schedule = history, schedule
        if history.iteration > len(self.steps):
            self.steps.append(now - self.last)
        if now > self.end or self._precise():
            raise Interrupted(signal.SIGTERM)
        self.last = self.clock()

    def _precise(self) -> bool:
        steps = self.steps[WARM_UP:]
        return len(steps) >= ENOUGH and pstdev(steps) < PRECISION * fmean(steps) * math.sqrt(len(steps))


class _Kept(Checkpoint):
    """A checkpoint that is written at the end alone, and says how long that takes."""

    def due(self, after_evaluation: bool) -> bool:
        return False

    def save(self, state: dict[str, Any]) -> None:
        start = time.perf_counter()
        super().save(state)
        self.seconds = time.perf_counter() - start


def _in_the_loop(
    run: Run, arrays: Arrays, device: torch.device, size: int, seconds: float, clock: Callable
) -> tuple[list[tuple[float, int]], dict[str, Any]]:
    """The real training loop for so many seconds, one iteration at least: seconds and rows of each, and what the
    training keeps."""
    spec = _timed(run, size)
    task, network = build(run, arrays, device)
    updating = optimisers.build(network, spec["training"]["optimisers"])
    watch = _Watch(clock, seconds)
    with tempfile.TemporaryDirectory() as directory:
        checkpoint = _Kept(Path(directory), "a calibration")
        with contextlib.suppress(Interrupted):  # by the watch
            loop.train(spec, task, network, updating, checkpoint, device, watch)
        kept = checkpoint.path.stat().st_size
    if not watch.steps:
        raise UserError(f"{run.id} cannot be timed: its first loss is not finite, or its solver failed.")
    first = min(WARM_UP, len(watch.steps) - 1)
    steps = [(watch.steps[place], _rows(watch.schedule, place)) for place in range(first, len(watch.steps))]
    counts = watch.history.function_evaluations
    return steps, {
        "function_evaluations": [float(part) for part in np.mean(counts, axis=0)] if counts else None,
        "saving": checkpoint.seconds,
        "checkpoint_bytes": kept,
        "model_bytes": sum(tensor.numel() * tensor.element_size() for tensor in network.state_dict().values()),
    }


def _evaluation(
    run: Run, arrays: Arrays, network: nn.Module, device: torch.device, seconds: float, clock: Callable
) -> dict[str, Any]:
    """Seconds of an evaluation, and of the test of the trained network where the task has one."""
    begun, network = clock(), network.eval()
    tried: dict[str, list[tuple[float, float]]] = {"evaluate": [], "evaluate_test": []}
    for part in PARTS:
        few, settings, share = part_of(arrays, run.spec["task_settings"], part, 1)
        task = imported(run.spec["task_class"])(few, settings, run.spec["seed"], device)
        if part == PARTS[0]:
            _seconds_of(task.evaluate, network, clock)  # what is made at its first use does not count
        for name in tried:
            if hasattr(task, name):
                tried[name].append((share, _seconds_of(getattr(task, name), network, clock)))
        following = sum(at_whole(_distinct(times), min(1.0, GROWTH * share)) for times in tried.values() if times)
        if share == 1.0 or following > seconds - (clock() - begun):
            break
    evaluation, test = (at_whole(_distinct(times), 1.0) if times else None for times in tried.values())
    return {"evaluation": evaluation, "test": test, "evaluated": share}


def _distinct(tried: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The last of those with the same share: data of a few examples cannot be cut into 64 parts."""
    return list(dict(tried).items())


def _seconds_of(evaluate: Callable[[nn.Module], Any], network: nn.Module, clock: Callable) -> float:
    start = clock()
    with torch.no_grad():
        evaluate(network)
    return clock() - start


def part_of(
    arrays: Arrays, settings: Mapping[str, Any], part: float, examples: int
) -> tuple[dict[str, np.ndarray], dict[str, Any], float]:
    """The first `examples` of the training set, of what is not text, and a part of what evaluations are made on.

    Returns:
        arrays, the task's settings with as much less held out for validation, and which share of the evaluation's data
        that is.
    """
    settings, chosen = dict(settings), dict(arrays)
    shares = []
    if "validation" in settings:  # held out from the training set
        held_out = max(1, round(settings["validation"] * part))
        shares.append(held_out / settings["validation"])
        settings["validation"], examples = held_out, examples + held_out
    for split in ("train", "validation", "test"):
        names = [name for name in arrays if name.startswith(f"{split}_")]
        lengths = f"{split}_lengths"
        count = len(arrays[lengths if lengths in names else names[0]]) if names else 0
        kept = min(count, examples) if split == "train" else max(1, round(count * part))
        for name in names:
            ragged = name == f"{split}_frames" and lengths in names
            chosen[name] = arrays[name][: int(arrays[lengths][:kept].sum()) if ragged else kept]
        if split != "train" and lengths in names:
            shares.append(len(chosen[f"{split}_frames"]) / len(arrays[f"{split}_frames"]))
        elif split == "test" and names:
            shares.append(kept / count)
        if split != "train" and split in arrays:  # a text
            columns = settings.get("evaluation_batch_sizes", {}).get(split, 1)
            words = min(len(arrays[split]), max(2 * columns, math.ceil(len(arrays[split]) * part)))
            chosen[split] = arrays[split][:words]
            shares.append(words / len(arrays[split]))
    return chosen, settings, max(shares, default=1.0)
