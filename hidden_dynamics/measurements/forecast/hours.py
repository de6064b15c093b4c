"""What a run costs: the measurement of its group times its schedule."""

import functools
import json
from dataclasses import dataclass
from typing import Any

from hidden_dynamics.configuration.runs import Run
from hidden_dynamics.measurements.forecast.calibration import Group
from hidden_dynamics.tasks import schedule as schedules

EVALUATION, RECORD = 300, 4000  # bytes of an evaluation (metrics.csv, clock.csv, the checkpoint), and of run.json


@dataclass(frozen=True)
class Cost:
    """Of one run.

    Attributes:
        seconds: of building it, of its iterations, its evaluations and its test.
        disk: bytes of its files.
        memory, gpu_memory: bytes of its process, at the highest.
        adaptive: whether its solver counts its function evaluations, which training changes.
    """

    seconds: float
    disk: int
    memory: int
    gpu_memory: int
    adaptive: bool


def cost_of(run: Run, group: Group) -> Cost:
    """
    Args:
        group: the measurement of the run's group.
    """
    training = {key: value for key, value in run.spec["training"].items() if key != "optimisers"}
    work, iterations, evaluations = counted(group.schedule, _text(training), _text(group.sizes), run.seed)
    files = group.model_bytes + group.checkpoint_bytes + RECORD
    return Cost(
        seconds=group.set_up + work * group.iteration + evaluations * group.evaluation + (group.test or 0.0),
        disk=files + round(iterations * group.history_bytes) + evaluations * EVALUATION,
        memory=group.memory_bytes,
        gpu_memory=group.gpu_memory_bytes,
        adaptive=group.function_evaluations is not None,
    )


@functools.cache  # the models of a task share it, and drawing the segments of 500 epochs takes a second
def counted(schedule: str, training: str, sizes: str, seed: int) -> tuple[int, int, int]:
    """The work, the iterations and the evaluations of a training on data of these sizes.

    Args:
        schedule: a class of hidden_dynamics.tasks.schedule.
        training, sizes: as JSON.
    """
    found = getattr(schedules, schedule)(json.loads(training), seed=seed, **json.loads(sizes))
    return found.total_work, found.iterations, found.evaluations


def _text(content: Any) -> str:
    return json.dumps(content, sort_keys=True)
