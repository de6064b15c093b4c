"""A calibration: the measurements, their machine, and a run's cost by them: its group's times its schedule."""

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from hidden_dynamics.configuration import Entry, known, typed
from hidden_dynamics.configuration.runs import Run
from hidden_dynamics.errors import UserError
from hidden_dynamics.measurements.forecast.groups import key_of
from hidden_dynamics.system.files import ROOT, atomic
from hidden_dynamics.tasks import schedule as schedules

STORED = ROOT / "calibrations"
EVALUATION, RECORD = 300, 4000  # bytes of an evaluation (metrics.csv, clock.csv, the checkpoint), and of run.json
Whole = Annotated[int, Field(ge=1)]
Bytes = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]
Above = Annotated[float, Field(gt=0)]


class About(Entry):
    """The machine, and the circumstances of the measurement.

    Attributes:
        device: "cpu", or the GPU's name.
        side_by_side: how many runs were measured at a time.
        clock: "cpu", the time that a process computes, or "wall".
        seconds: on the wall, of the whole calibration.
    """

    processor: str
    device: str
    threads: Whole
    side_by_side: Whole
    clock: Literal["cpu", "wall"]
    torch: str
    date: str
    seconds: Above


class Group(Entry):
    """The measurement of a group of runs.

    Attributes:
        task, model: of the run that was measured.
        data: whether it was the prepared data, or random arrays of its shapes.
        schedule: the class of hidden_dynamics.tasks.schedule that counts its iterations.
        sizes: what that class knows of the data.
        set_up: seconds of building task and network.
        iteration: seconds of a unit of the schedule's work: an iteration, or of a text one of its rows.
        evaluation: seconds of an evaluation.
        test: seconds of the test of the trained network, if the task has one.
        function_evaluations: of an iteration, forward and backward, if the network counts them.
        model_bytes, checkpoint_bytes: of the files; `history_bytes`, what every iteration adds to them.
        memory_bytes, gpu_memory_bytes: of the process, at the highest.
    """

    task: str
    model: str
    data: Literal["prepared", "stand-in"]
    schedule: str
    sizes: dict[str, int | None]
    set_up: Seconds
    iteration: Above
    evaluation: Seconds
    test: Seconds | None
    function_evaluations: list[Seconds] | None
    data_bytes: Bytes
    model_bytes: Bytes
    checkpoint_bytes: Bytes
    history_bytes: Seconds
    memory_bytes: Bytes
    gpu_memory_bytes: Bytes


class Calibration(Entry):
    """Measurements by the keys of their groups."""

    about: About
    groups: dict[Annotated[str, Field(pattern="^[0-9a-f]{16}$")], Group]

    def of(self, run: Run) -> Group:
        """
        Raises:
            UserError: there is no measurement of such a run.
        """
        try:
            return self.groups[key_of(run)]
        except KeyError:
            raise UserError(
                f"the calibration has no measurement of {run.id}: its model, size, data or batch were not configured "
                "like this when it was made. Measure on this machine instead (forecast.calibration: null, the "
                "default), or run scripts/calibrate.py on the other one with this configuration."
            ) from None


def path_of(name: str) -> Path:
    """The file of a stored calibration.

    Raises:
        UserError: there is none of this name.
    """
    stored = sorted(file.stem for file in STORED.glob("*.json"))
    return STORED / f"{known(name, stored, 'calibration', 'config.yaml: forecast.calibration')}.json"


def read(path: Path) -> Calibration:
    """
    Raises:
        UserError: it is missing, damaged or something else; the message names it and says what to do.
    """
    mend = "Remove it and run snakemake forecast again, which makes it; one of calibrations/, restore with git."
    try:
        return typed(Calibration, json.loads(path.read_text(encoding="utf-8")), str(path))
    except FileNotFoundError:
        text = f"{path} is missing: scripts/calibrate.py makes it (snakemake forecast does)."
        raise UserError(text, file=path) from None
    except ValueError as error:
        raise UserError(f"{path} is no calibration ({error}). {mend}", file=path) from None
    except UserError as error:
        raise UserError(f"{error} {mend}", file=path, key=error.key) from None


def write(path: Path, calibration: Calibration) -> None:
    with atomic(path) as handle:
        json.dump(calibration.model_dump(), handle, indent=1, sort_keys=True)
        handle.write("\n")


@dataclass(frozen=True)
class Cost:
    """The cost of one run.

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
    """The work, the iterations and the evaluations of a run on data of these sizes.

    Args:
        schedule: a class of hidden_dynamics.tasks.schedule.
        training, sizes: as JSON.
    """
    found = getattr(schedules, schedule)(json.loads(training), seed=seed, **json.loads(sizes))
    return found.total_work, found.iterations, found.evaluations


def _text(content: Any) -> str:
    return json.dumps(content, sort_keys=True)
