"""The calibration of a forecast: of runs that cost alike one is measured, in a fresh process, for a second."""

import functools
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch

from hidden_dynamics.configuration import Configuration, Run
from hidden_dynamics.data import prepared
from hidden_dynamics.data.generated import LIKE
from hidden_dynamics.data.preparing import module_of
from hidden_dynamics.data.streams import generator
from hidden_dynamics.errors import SolverFailure, UserError
from hidden_dynamics.measurements.calibration import Calibration, Cost
from hidden_dynamics.measurements.processes import in_fresh_process, processor
from hidden_dynamics.system import memory
from hidden_dynamics.system.files import ROOT
from hidden_dynamics.training import devices, optimisers
from hidden_dynamics.training.building import build

TIMED, ENOUGH = 1.0, 20  # after one, iterations are timed for so many seconds on the wall, so many at most
EVALUATIONS = 0.1  # share of the iterations' time that evaluations take: 2 to 13 percent in nearly all published runs
# Settings that cannot change what a run costs; every other one can.
COSTLESS = {
    "hyperparameters": {
        *("mu", "s", "beta", "eps", "restart", "phase", "readout"),
        *("forget_bias", "forget_fill", "initialisation"),
    },
    "task_settings": {"permutation", "pixels", "target"},
    "training": {"evaluate_every", "report", "averaging"},
}
SIZES = {"side": "side", "words": "train", "quantisation": "tick"}  # settings of data, and those of LIKE

Clock = Callable[[], float]


def alike(run: Run) -> str:
    """The part of a run's specification on which its cost depends, as text."""
    spec = run.spec
    kept: dict[str, Any] = {
        part: {key: value for key, value in spec[part].items() if key not in costless}
        for part, costless in COSTLESS.items()
    }
    training = kept["training"]
    training["clip_norm"] = training.get("clip_norm") is not None
    training["rates"] = training.get("rates", {}).get("until")
    training["optimisers"] = {
        group: {key: value for key, value in optimiser.items() if key != "lr"}
        for group, optimiser in training["optimisers"].items()
    }
    kept |= {key: spec[key] for key in ("network", "core", "task_class", "dataset", "data", "precision")}
    return json.dumps(kept, sort_keys=True)


def calibrate(
    configuration: Configuration,
    runs_on: Mapping[torch.device, list[Run]],
    places: Mapping[torch.device, int],
    threads: int,
) -> Iterator[Calibration]:
    """The calibration so far, after each measurement, of one device after the other; the last has all runs. On each
    device as many are measured side by side as it has `places`, because runs that share a machine slow each other down.
    A `UserError` where a run cannot be measured."""
    costs, preload = dict[str, Cost](), _imported([run for runs in runs_on.values() for run in runs])
    for device, runs in runs_on.items():
        groups = dict[str, list[Run]]()
        for run in runs:
            groups.setdefault(alike(run), []).append(run)
        cost_of_first = functools.partial(_cost_of, configuration, device, threads, preload)
        with ThreadPoolExecutor(places[device]) as pool:
            for members, cost in zip(groups.values(), pool.map(cost_of_first, groups.values()), strict=True):
                costs |= {run.id: cost for run in members}
                yield Calibration(
                    processor=processor(),
                    threads=threads,
                    side_by_side={devices.name_of(device): places[device] for device in runs_on},
                    date=date.today().isoformat(),
                    costs=dict(costs),
                )


def _cost_of(
    configuration: Configuration, device: torch.device, threads: int, preload: list[str], members: list[Run]
) -> Cost:
    """The cost of runs that cost alike, of the first of them: from a process of its own, whose memory is that run's."""
    run, given = members[0], (configuration, members[0], device, threads)
    found = in_fresh_process("forkserver", run.id, measure_here, *given, preload=preload)
    cost = Cost(device=devices.name_of(device), **found)
    print(f"{run.id}: {cost.seconds:.3g} s", flush=True)
    return cost


def measure_here(configuration: Configuration, run: Run, device: torch.device, threads: int) -> dict[str, Any]:
    """A run's measurement, by the field of Cost, but for its device.

    The clock is the time that this process computes where a run has one thread on a CPU: what it takes whatever else
    the machine does.
    """
    devices.set_arithmetic(threads, run.spec["precision"])
    clock = time.process_time if device.type == "cpu" and threads == 1 else time.perf_counter
    with devices.turn(device, configuration.runs_per_gpu) as device:
        return measure(run, arrays_of(configuration, run), device, clock)


def arrays_of(configuration: Configuration, run: Run) -> Mapping[str, np.ndarray]:
    """The data of a run, where they are prepared or need no download; else generated ones of the same shapes. A
    `UserError` where no shapes of the dataset are known."""
    name, settings = run.spec["dataset"], run.spec["data"]
    dataset, file = configuration.datasets[name], Path(configuration.paths.prepared(name, settings))
    if file.is_file():
        return prepared.load(file).arrays
    if not (dataset.files or dataset.own_copy):
        return module_of(name, dataset).prepare(Path(), settings)
    if name not in LIKE:
        raise UserError(f"{dataset.title} has to be prepared before it can be measured on.", key=name)
    sizes = {SIZES[key]: value for key, value in settings.items() if key in SIZES}
    sizes |= {"series": 4000 * len(settings["sets"])} if "sets" in settings else {}
    return LIKE[name].model_copy(update=sizes).drawn(generator(0, name))


def measure(run: Run, arrays: Mapping[str, np.ndarray], device: torch.device, clock: Clock) -> dict[str, Any]:
    """A run's measurement, as `measure_here` gives it, on its dataset or on arrays of its shapes; a `UserError` where
    it cannot be built, its first losses are not finite, or its solver failed."""
    start = clock()
    task, network = build(run, arrays, device)
    set_up, schedule = clock() - start, task.schedule(run.spec["training"], run.seed)
    updating, end, seconds = optimisers.build(network, run.spec["training"]["optimisers"]), np.inf, list[float]()
    network.train()
    for iteration in range(min(schedule.iterations, ENOUGH + 1)):
        start = clock()
        batch = task.batch(*schedule.indices(iteration))
        try:
            loss = optimisers.learn(task, network, updating, batch, run.spec["training"])
        except SolverFailure as failure:
            raise UserError(f"{run.id} cannot be timed: its solver failed ({failure}).") from failure
        if not np.isfinite(loss):
            raise UserError(f"{run.id} cannot be timed: its first losses are not finite.")
        seconds.append((clock() - start) / schedule.work(iteration))
        if time.perf_counter() > end:
            break
        end = min(end, time.perf_counter() + TIMED)
    return {
        "measured": run.id,
        "seconds": set_up + (1 + EVALUATIONS) * schedule.total_work * fmean(seconds[1:] or seconds),
        "memory": memory.peak() * 10**6,
        "gpu_memory": torch.cuda.max_memory_allocated(device) if device.type == "cuda" else 0,
    }


def _imported(runs: list[Run]) -> list[str]:
    """The modules that a process has to have imported: the runs' classes, and what torch's first step imports."""
    # They are found there, and not by the path that a script has set.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    modules = {place.rpartition(".")[0] for run in runs for place in run.classes.values()}
    return [__name__, "torch.optim.swa_utils", *sorted(modules)]
