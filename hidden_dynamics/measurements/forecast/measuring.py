"""One run of every group measured, in a fresh process: iterations of its real training loop, one evaluation, memory."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import numpy as np
import torch
from torch import nn

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Run
from hidden_dynamics.configuration.schema import Dataset
from hidden_dynamics.configuration.spec import Training
from hidden_dynamics.data import prepared
from hidden_dynamics.errors import SolverFailure, UserError
from hidden_dynamics.measurements.forecast.calibration import About, Calibration, Group, grouped
from hidden_dynamics.measurements.forecast.stand_ins import stand_in
from hidden_dynamics.measurements.processes import in_fresh_process, peak_resident, processor
from hidden_dynamics.system.files import ROOT
from hidden_dynamics.tasks.schedule import AnySchedule
from hidden_dynamics.tasks.task import AnyTask, Task, as_validated
from hidden_dynamics.training import devices, loop, optimisers
from hidden_dynamics.training.building import build
from hidden_dynamics.training.checkpoint import Checkpoint
from hidden_dynamics.training.interruption import Interrupted

Clock = Callable[[], float]
WARM_UP = 1  # iterations that are not timed
TIMED, ENOUGH = 1.0, 20  # iterations are timed for so many seconds on the wall, so many at most and one at least
# Beside an evaluation of so many seconds the test, which a run makes once, is not timed: it is taken to last as long.
LONG = 10.0


@dataclass(frozen=True)
class Calibrator:
    """Measures runs, `places` of them side by side, because runs that share a machine slow each other down."""

    configuration: Configuration
    device: torch.device
    threads: int
    places: int

    @property
    def clock(self) -> Literal["cpu", "wall"]:
        """That of the process where a run has one thread on a CPU: what it takes whatever else the machine does."""
        return "cpu" if self.device.type == "cpu" and self.threads == 1 else "wall"

    def calibrate(self, runs: list[Run]) -> Iterator[Calibration]:
        """What is measured so far, after each group of runs; the last has all groups. A `UserError` where a run cannot
        be measured."""
        begun, groups, preload = time.monotonic(), grouped(runs), _imported(runs)
        measured: dict[str, Group] = {}
        with ThreadPoolExecutor(self.places) as pool:
            found = pool.map(lambda members: self._measured(members[0], preload), groups.values())
            for key, group in zip(groups, found, strict=True):
                measured[key] = group
                yield Calibration(about=self._about(time.monotonic() - begun), groups=dict(measured))

    def _about(self, seconds: float) -> About:
        return About(
            processor=processor(),
            device=devices.name_of(self.device),
            threads=self.threads,
            side_by_side=self.places,
            clock=self.clock,
            torch=torch.__version__,
            date=date.today().isoformat(),
            seconds=seconds,
        )

    def _measured(self, run: Run, preload: list[str]) -> Group:
        """In a process of its own, whose memory is that of this run."""
        dataset = self.configuration.datasets[run.spec["dataset"]]
        file = Path(self.configuration.paths.prepared(run.spec["dataset"], run.spec["data"]))
        given = run, dataset, file, self.device, self.threads, self.configuration.settings.runs_per_gpu, self.clock
        group = Group(**in_fresh_process("forkserver", run.id, measure_here, *given, preload=preload))
        print(f"{run.id}: {group.iteration:.3g} s an iteration, {group.evaluation:.3g} s an evaluation", flush=True)
        return group


def measure_here(
    run: Run, dataset: Dataset, file: Path, device: torch.device, threads: int, runs_per_gpu: int, clock: str
) -> dict[str, Any]:
    """A run's measurement, by the field of Group.

    Args:
        file: where its dataset is, if that is prepared.
        clock: "cpu", the time that this process computes, or "wall".
    """
    devices.set_arithmetic(threads, run.spec["precision"])
    there = file.is_file()
    arrays = prepared.load(file).arrays if there else stand_in(run.spec["dataset"], dataset, run.spec["data"])
    with devices.turn(device, runs_per_gpu) as device:
        found = measure(run, arrays, device, time.process_time if clock == "cpu" else time.perf_counter)
    return {"data": "prepared" if there else "stand-in", **found}


def measure(run: Run, arrays: Mapping[str, np.ndarray], device: torch.device, clock: Clock) -> dict[str, Any]:
    """The content of `Group`, without the data's origin.

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
            tested = as_validated(task)
            test = evaluation if tested else None
            if tested and evaluation < LONG:
                test = _seconds(tested.evaluate_test, network, clock)
    except SolverFailure as failure:
        raise UserError(f"{run.id} cannot be timed: its solver failed ({failure}).") from failure
    if not watch.timed or watch.history.diverged_at is not None:
        raise UserError(f"{run.id} cannot be timed: its first losses are not finite, or its solver failed.")
    return {
        "task": run.task,
        "model": run.sized_model,
        "schedule": type(watch.schedule).__name__,
        "sizes": watch.schedule.sizes,
        "set_up": set_up,
        "iteration": fmean(watch.timed),
        "evaluation": evaluation,
        "test": test,
        "adaptive": bool(watch.history.function_evaluations),
        "memory_bytes": peak_resident(),
        "gpu_memory_bytes": torch.cuda.max_memory_allocated(device) if device.type == "cuda" else 0,
    }


def _seconds(evaluate: Callable[[nn.Module], object], network: nn.Module, clock: Clock) -> float:
    start = clock()
    evaluate(network)
    return clock() - start


class _Watch(Checkpoint):
    """An observer of a run in training: times its iterations and stops it. It is in the place of a checkpoint, too, and
    keeps none.

    Attributes:
        timed: seconds of a unit of the schedule's work, of each iteration after the warm-up.
    """

    def __init__(self, clock: Clock):
        self.clock, self.timed, self.end = clock, [], float("inf")

    def __call__(self, history: loop.History, schedule: AnySchedule) -> None:
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

    def save(self, state: Mapping[str, object]) -> None:
        pass

    def drop_previous(self) -> None:
        pass


def _in_the_loop(run: Run, task: AnyTask, network: optimisers.Network, device: torch.device, clock: Clock) -> _Watch:
    """The real training loop without evaluations, until the watch stops it."""
    # A schedule of its own may draw all epochs beforehand.
    epochs = 2**30 if type(task).schedule is Task.schedule else 2
    training: Training = {**run.spec["training"], "epochs": epochs, "evaluate_every": 2**40}
    training.pop("rates", None)
    watch = _Watch(clock)
    with contextlib.suppress(Interrupted):  # by the watch
        updating = optimisers.build(network, training["optimisers"])
        loop.train({**run.spec, "training": training}, task, network, updating, watch, device, watch)
    return watch


def _imported(runs: list[Run]) -> list[str]:
    """The modules that a process has to have imported: the runs' classes, and what torch's first step imports."""
    # They are found there, and not by the path that a script has set.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    modules = {place.rpartition(".")[0] for run in runs for place in run.classes.values()}
    return [__name__, "torch.optim.swa_utils", *sorted(modules)]
