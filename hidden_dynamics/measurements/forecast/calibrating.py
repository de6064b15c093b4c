"""The calibration of a scale: one run of every group measured, in a fresh process."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
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
from hidden_dynamics.measurements.forecast.calibration import About, Calibration, Group
from hidden_dynamics.measurements.forecast.groups import grouped
from hidden_dynamics.measurements.forecast.measuring import measure
from hidden_dynamics.measurements.processes import in_fresh_process, processor
from hidden_dynamics.system.files import ROOT
from hidden_dynamics.training import devices


@dataclass(frozen=True)
class Calibrator:
    """Measures runs, `places` of them side by side, because runs that share a machine slow each other down."""

    configuration: Configuration
    device: torch.device
    threads: int
    places: int

    @property
    def clock(self) -> str:
        """That of the process where a run has one thread on a CPU: what it takes whatever else the machine does."""
        return "cpu" if self.device.type == "cpu" and self.threads == 1 else "wall"

    def calibrate(self, runs: list[Run]) -> Calibration:
        """
        Raises:
            UserError: a run cannot be measured.
        """
        begun, groups, preload = time.monotonic(), grouped(runs), _imported(runs)
        with ThreadPoolExecutor(self.places) as pool:
            found = pool.map(lambda members: self._measured(members[0], preload), groups.values())
            measured = dict(zip(groups, found, strict=True))
        return Calibration(about=self._about(time.monotonic() - begun), groups=measured)

    def _measured(self, run: Run, preload: list[str]) -> Group:
        """In a process of its own, whose memory is that of this run."""
        dataset = self.configuration.datasets[run.spec["dataset"]]
        file = Path(self.configuration.paths.prepared(run.spec["dataset"], run.spec["data"]))
        given = run, dataset, file, self.device, self.threads, self.configuration.settings.runs_per_gpu, self.clock
        group = Group(**in_fresh_process("forkserver", run.id, measure_here, *given, preload=preload))
        print(f"{run.id}: {group.iteration:.3g} s an iteration, {group.evaluation:.3g} s an evaluation", flush=True)
        return group

    def _about(self, seconds: float) -> About:
        on_gpu = self.device.type == "cuda"
        return About(
            processor=processor(),
            device=torch.cuda.get_device_name(self.device) if on_gpu else "cpu",
            threads=self.threads,
            side_by_side=self.places,
            clock=self.clock,
            torch=torch.__version__,
            date=date.today().isoformat(),
            seconds=seconds,
        )


def measure_here(
    run: Run, dataset: Dataset, file: Path, device: torch.device, threads: int, runs_per_gpu: int, clock: str
) -> dict[str, Any]:
    """A run's measurement, by the field of Group.

    Args:
        file: where its dataset is, if that is prepared.
        clock: "cpu", the time that this process computes, or "wall".
    """
    devices.set_arithmetic(threads, run.spec["precision"])
    arrays = prepared.load(file).arrays if file.is_file() else stand_in(run, dataset)
    with devices.turn(device, runs_per_gpu, Path(".snakemake/gpu-places")) as device:
        found = measure(run, arrays, device, time.process_time if clock == "cpu" else time.perf_counter)
    return {"data": "prepared" if file.is_file() else "stand-in", **found}


def stand_in(run: Run, dataset: Dataset) -> dict[str, np.ndarray]:
    """Arrays of the shapes of a run's dataset, as its module gives them; of what needs no download, the arrays.

    Raises:
        UserError: it gives none.
    """
    module = module_of(run.spec["dataset"], dataset)
    if not (dataset.files or dataset.own_copy):
        return module.prepare(Path(), run.spec["data"])
    if not hasattr(module, "stand_in"):
        raise UserError(
            f"{dataset.module} does not say which shapes {dataset.title} has, on which {run.id} is to be measured: "
            "prepare the data first, or give the module a function stand_in(settings), which returns such arrays.",
            file=module.__file__,
            key="stand_in",
        )
    return module.stand_in(run.spec["data"])


def _imported(runs: list[Run]) -> list[str]:
    """The modules that a process has to have imported: the runs' classes, and what torch's first step imports."""
    # They are found there, and not by the path that a script has set.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    modules = {place.rpartition(".")[0] for run in runs for place in run.classes.values()}
    return [__name__, "torch.optim.swa_utils", *sorted(modules)]
