"""What a run costs, from the measurement of its group and its schedule."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.measurements.forecast.calibration import Calibration
from hidden_dynamics.measurements.forecast.workload import Workload, workload_of
from hidden_dynamics.configuration.runs import Run, identity, outputs_of

# As hidden_dynamics.training.checkpoint saves: seconds between two, and times what the last one took.
BETWEEN_SAVINGS, TIMES_A_SAVING = 5.0, 50
# Bytes that come with every iteration (its loss as a double, in train_loss.npy and in the checkpoint; its function
# evaluations) and with every evaluation (in metrics.csv, clock.csv and the checkpoint), and those of run.json.
AN_ITERATION, COUNTED, AN_EVALUATION, RECORD = 16, 8, 300, 4000
A_NORM = 8  # of a gradient recorded: twice a float


@dataclass(frozen=True)
class RunCost:
    """Of one run.

    Attributes:
        loop: seconds of iterations and evaluations, the test included: what run.json calls `seconds`.
        around: seconds of building it and of writing its files.
        kept, transient: bytes of its files when it has finished, and what more there are at most while it trains.
        memory, gpu_memory: bytes of its process, at the highest.
        adaptive: whether its solver counts its function evaluations, which training changes.
    """

    loop: float
    around: float
    workload: Workload
    kept: int
    transient: int
    memory: int
    gpu_memory: int
    adaptive: bool

    @property
    def seconds(self) -> float:
        return self.loop + self.around


def cost_of(run: Run, calibration: Calibration) -> RunCost:
    """
    Raises:
        UserError: the calibration has no measurement of such a run.
    """
    group, training = calibration.of(run), run.spec["training"]
    workload = workload_of(training, group["sizes"], run.seed)
    loop = workload.iterations * workload.rows * group["iteration"]
    loop += workload.evaluations * group["evaluation"] + (group["test"] or 0.0)
    savings = 2 + (group["test"] is not None) + loop / max(BETWEEN_SAVINGS, TIMES_A_SAVING * group["saving"])
    counted = group["function_evaluations"] is not None
    history = workload.iterations * (AN_ITERATION + counted * COUNTED) + workload.evaluations * AN_EVALUATION
    history += _recorded(training, workload) * A_NORM
    checkpoint = group["checkpoint_bytes"] + history
    copies = (group["test"] is not None) + ("averaging" in training and training["averaging"] is not None)
    return RunCost(
        loop=loop,
        around=group["set_up"] + savings * group["saving"],
        workload=workload,
        kept=group["model_bytes"] + checkpoint + RECORD,
        transient=checkpoint + 2 * copies * group["model_bytes"],
        memory=group["memory_bytes"],
        gpu_memory=group["gpu_memory_bytes"],
        adaptive=counted,
    )


def _recorded(training: dict[str, Any], workload: Workload) -> int:
    """Norms of gradients, of sequences of 784 steps (of images: those alone record)."""
    every = training.get("record_gradients")
    return 0 if every is None else -(-workload.iterations // every) * 784


def is_finished(configuration: Configuration, run: Run) -> bool:
    """Whether a run is there, of this specification and code; which data it was trained on, its record says."""
    directory = Path(run.directory)
    if not all((directory / file).is_file() for file in outputs_of(configuration, run.task)):
        return False
    try:
        record = json.loads((directory / "run.json").read_text(encoding="utf-8"))
        text = identity(run) + record["dataset"]["digest"]
        return record["fingerprint"] == hashlib.sha256(text.encode()).hexdigest()
    except (ValueError, KeyError, TypeError):
        return False
