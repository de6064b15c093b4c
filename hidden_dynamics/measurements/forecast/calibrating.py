"""The calibration of a scale: every group of runs measured in a fresh process, the heaviest ones at length.

All groups are measured briefly, which says what each weighs: the hours of all its runs. Then, the heaviest first, each
is measured again for its part of the time that is left. That is time on the wall: on a machine that does other things,
less is measured, not longer.
"""

import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from datetime import date
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any

import numpy as np
import torch

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Run
from hidden_dynamics.configuration.schema import Dataset
from hidden_dynamics.data import prepared
from hidden_dynamics.data.preparing import module_of
from hidden_dynamics.errors import UserError
from hidden_dynamics.measurements.forecast.calibration import About, Calibration, Group, cost_of
from hidden_dynamics.measurements.forecast.groups import grouped
from hidden_dynamics.measurements.forecast.measuring import measure
from hidden_dynamics.measurements.interleaved import processor
from hidden_dynamics.system.files import ROOT
from hidden_dynamics.training import devices

BRIEFLY = 0.3  # share of the time in which all groups are measured
WORTH = 2.0  # a group is measured again where there is so many times the time that it took before
BETWEEN_LINES = 10.0  # seconds


@dataclass
class Calibrator:
    """Measures runs, `places` of them side by side, because runs that share a machine slow each other down.

    Attributes:
        seconds: on the wall, that all of it may take, about.
        found, took: the measurement of each group, and the seconds that it took.
        wall, cpu: seconds that all measurements took so far.
    """

    configuration: Configuration
    device: torch.device
    threads: int
    places: int
    seconds: float
    found: dict[str, Group] = field(default_factory=dict)
    took: dict[str, float] = field(default_factory=dict)
    wall: float = 0.0
    cpu: float = 0.0

    @property
    def clock(self) -> str:
        return "cpu" if self.device.type == "cpu" and self.threads == 1 else "wall"

    def calibrate(self, runs: list[Run]) -> Calibration:
        """
        Raises:
            UserError: a run cannot be measured.
        """
        self.load, self.begun, self.said = os.getloadavg()[0], time.monotonic(), 0.0
        self.groups, self.context = grouped(runs), _context(runs)
        brief = BRIEFLY * self.seconds * self.places / max(len(self.groups), 1)
        with ThreadPoolExecutor(self.places) as pool:
            for _ in pool.map(lambda key: self._measure(key, brief), self.groups):
                self._say("briefly")
            weights = {key: self._weight(key) for key in self.groups}
            for _ in pool.map(lambda key: self._refine(key, weights), sorted(weights, key=weights.get, reverse=True)):
                self._say("at length")
        return Calibration(about=self._about(), groups=self.found)

    def _weight(self, key: str) -> float:
        """Hours of all runs of a group, as if they were all like the first."""
        return len(self.groups[key]) * cost_of(self.groups[key][0], self.found[key]).seconds

    def _refine(self, key: str, weights: dict[str, float]) -> None:
        """Measure a group again, for its part of the time that is left to it and to the lighter ones."""
        left = (self.begun + self.seconds - time.monotonic()) * self.places
        seconds = left * weights[key] / sum(weight for weight in weights.values() if weight <= weights[key])
        if seconds > WORTH * self.took[key]:
            self._measure(key, seconds)

    def _measure(self, key: str, seconds: float) -> None:
        """In a process of its own, whose memory is that of this run."""
        run, started = self.groups[key][0], time.monotonic()
        dataset = self.configuration.datasets[run.spec["dataset"]]
        file = Path(self.configuration.paths.prepared(run.spec["dataset"], run.spec["data"]))
        how = self.device, self.threads, self.configuration.settings.runs_per_gpu, seconds, self.clock
        with ProcessPoolExecutor(1, mp_context=self.context) as executor:
            try:
                found, wall, cpu = executor.submit(measure_here, run, dataset, file, *how).result()
            except BrokenProcessPool:
                raise UserError(
                    f"{run.id}: the process that measured it was killed; did this machine run out of memory? Give "
                    "fewer cores, or forecast fewer artifacts (forecast.artifacts)."
                ) from None
        self.found[key], self.took[key] = Group(**found), time.monotonic() - started
        self.wall, self.cpu = self.wall + wall, self.cpu + cpu

    def _say(self, how: str) -> None:
        now = time.monotonic()
        if now - self.said > BETWEEN_LINES:
            self.said = now
            text = f"{len(self.found)} of {len(self.groups)} configurations measured"
            print(f"Calibrating {how}: {text} after {now - self.begun:.0f} s", flush=True)

    def _about(self) -> About:
        on_gpu = self.device.type == "cuda"
        return About(
            processor=processor(),
            device=torch.cuda.get_device_name(self.device) if on_gpu else "cpu",
            threads=self.threads,
            side_by_side=self.places,
            clock=self.clock,
            wall_per_cpu=self.wall / self.cpu if self.cpu else 1.0,
            load=self.load,
            torch=torch.__version__,
            date=date.today().isoformat(),
            seconds=time.monotonic() - self.begun,
        )


def measure_here(
    run: Run,
    dataset: Dataset,
    file: Path,
    device: torch.device,
    threads: int,
    runs_per_gpu: int,
    seconds: float,
    clock: str,
) -> tuple[dict[str, Any], float, float]:
    """A run's measurement, and the seconds on the wall and of computing that it took.

    Args:
        file: where its dataset is, if that is prepared.
    """
    devices.set_arithmetic(threads, run.spec["precision"])
    arrays = prepared.load(file).arrays if file.is_file() else stand_in(run, dataset)
    with devices.turn(device, runs_per_gpu, Path(".snakemake/gpu-places")) as device:
        wall, cpu = time.perf_counter(), time.process_time()
        found = measure(run, arrays, device, seconds, clock)
        took = time.perf_counter() - wall, time.process_time() - cpu
    return {"data": "prepared" if file.is_file() else "stand-in", **found}, *took


def stand_in(run: Run, dataset: Dataset) -> dict[str, np.ndarray]:
    """Arrays of the shapes of a run's dataset, as its module gives them.

    Raises:
        UserError: it gives none.
    """
    module = module_of(run.spec["dataset"], dataset)
    if not hasattr(module, "stand_in"):
        raise UserError(
            f"{dataset.module} does not say which shapes {dataset.title} has, on which {run.id} is to be measured: "
            "prepare the data first, or give the module a function stand_in(settings), which returns such arrays.",
            file=module.__file__,
            key="stand_in",
        )
    return module.stand_in(run.spec["data"])


def _context(runs: list[Run]) -> BaseContext:
    """Processes are forked from one that has imported the runs' classes, and what torch's first step imports."""
    # That one finds modules there, and not by the path that a script has set.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    context = multiprocessing.get_context("forkserver")
    modules = sorted({place.rpartition(".")[0] for run in runs for place in run.classes.values()})
    context.set_forkserver_preload([__name__, "torch.optim.swa_utils", *modules])
    return context
