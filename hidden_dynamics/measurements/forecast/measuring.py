"""One run of every group measured, in a fresh process: some of its iterations, one evaluation, memory."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import fmean
from typing import Any

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
from hidden_dynamics.measurements.processes import in_fresh_process, processor
from hidden_dynamics.system import memory
from hidden_dynamics.system.files import ROOT
from hidden_dynamics.tasks.schedule import AnySchedule
from hidden_dynamics.tasks.task import AnyTask, Task, as_validated
from hidden_dynamics.training import devices, optimisers
from hidden_dynamics.training.building import build

Clock = Callable[[], float]
TIMED, ENOUGH = 1.0, 20  # after one, iterations are timed for so many seconds on the wall, so many at most


@dataclass(frozen=True)
class Calibrator:
    """Measures runs, `places` of them side by side, because runs that share a machine slow each other down."""

    configuration: Configuration
    device: torch.device
    threads: int
    places: int

    def calibrate(self, runs: list[Run]) -> Iterator[Calibration]:
        """What is measured so far, after each group of runs; the last has all groups. A `UserError` where a run cannot
        be measured."""
        groups, preload, measured = grouped(runs), _imported(runs), dict[str, Group]()
        about = About(
            processor=processor(),
            device=devices.name_of(self.device),
            threads=self.threads,
            side_by_side=self.places,
            date=date.today().isoformat(),
        )
        with ThreadPoolExecutor(self.places) as pool:
            found = pool.map(lambda members: self._measured(members[0], preload), groups.values())
            for key, group in zip(groups, found, strict=True):
                measured[key] = group
                yield Calibration(about=about, groups=dict(measured))

    def _measured(self, run: Run, preload: list[str]) -> Group:
        """In a process of its own, whose memory is that of this run."""
        dataset = self.configuration.datasets[run.spec["dataset"]]
        file = Path(self.configuration.paths.prepared(run.spec["dataset"], run.spec["data"]))
        given = run, dataset, file, self.device, self.threads, self.configuration.settings.runs_per_gpu
        group = Group(**in_fresh_process("forkserver", run.id, measure_here, *given, preload=preload))
        print(f"{run.id}: {group.iteration:.3g} s an iteration, {group.evaluation:.3g} s an evaluation", flush=True)
        return group


def measure_here(
    run: Run, dataset: Dataset, file: Path, device: torch.device, threads: int, runs_per_gpu: int
) -> dict[str, Any]:
    """A run's measurement, by the field of Group; `file` is where its dataset is, if that is prepared.

    The clock is the time that this process computes where a run has one thread on a CPU: what it takes whatever else
    the machine does.
    """
    devices.set_arithmetic(threads, run.spec["precision"])
    prepared_here = file.is_file()
    arrays = prepared.load(file).arrays if prepared_here else stand_in(run.spec["dataset"], dataset, run.spec["data"])
    alone = device.type == "cpu" and threads == 1
    with devices.turn(device, runs_per_gpu) as device:
        return measure(run, arrays, device, time.process_time if alone else time.perf_counter)


def measure(run: Run, arrays: Mapping[str, np.ndarray], device: torch.device, clock: Clock) -> dict[str, Any]:
    """The content of `Group`.

    Args:
        arrays: the dataset, or arrays of its shapes.
        clock: tells the time in seconds.

    Raises:
        UserError: the run cannot be built, its first losses are not finite, or its solver failed.
    """
    start = clock()
    task, network = build(run, arrays, device)
    set_up = clock() - start
    # A schedule of its own may draw all epochs beforehand.
    epochs = 2**30 if type(task).schedule is Task.schedule else 2
    training: Training = {**run.spec["training"], "epochs": epochs}
    training.pop("rates", None)
    schedule = task.schedule(training, run.seed)
    try:
        iteration = fmean(_iterations(run, task, network, schedule, clock))
        network.eval()
        with torch.no_grad():
            evaluation = _seconds(task.evaluate, network, clock)
    except SolverFailure as failure:
        raise UserError(f"{run.id} cannot be timed: its solver failed ({failure}).") from failure
    return {
        "run": run.id,
        "schedule": type(schedule).__name__,
        "sizes": schedule.sizes,
        "set_up": set_up,
        "iteration": iteration,
        "evaluation": evaluation,
        "test": evaluation if as_validated(task) else None,  # not timed: a run makes it once
        "memory_bytes": memory.peak() * 10**6,
        "gpu_memory_bytes": torch.cuda.max_memory_allocated(device) if device.type == "cuda" else 0,
    }


def _iterations(
    run: Run, task: AnyTask, network: optimisers.Network, schedule: AnySchedule, clock: Clock
) -> Iterator[float]:
    """Seconds of a unit of the schedule's work, of each iteration after the first."""
    updating, end = optimisers.build(network, run.spec["training"]["optimisers"]), float("inf")
    network.train()
    for place in range(min(schedule.iterations, ENOUGH + 1)):
        start = clock()
        batch = task.batch(*schedule.indices(place))
        if not np.isfinite(optimisers.learn(task, network, updating, batch, run.spec["training"])):
            raise UserError(f"{run.id} cannot be timed: its first losses are not finite.")
        if place:
            yield (clock() - start) / schedule.work(place)
        if time.perf_counter() > end:
            return
        end = min(end, time.perf_counter() + TIMED)


def _seconds(evaluate: Callable[[nn.Module], object], network: nn.Module, clock: Clock) -> float:
    start = clock()
    evaluate(network)
    return clock() - start


def _imported(runs: list[Run]) -> list[str]:
    """The modules that a process has to have imported: the runs' classes, and what torch's first step imports."""
    # They are found there, and not by the path that a script has set.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    modules = {place.rpartition(".")[0] for run in runs for place in run.classes.values()}
    return [__name__, "torch.optim.swa_utils", *sorted(modules)]
