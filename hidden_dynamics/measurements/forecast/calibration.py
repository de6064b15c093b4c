"""A calibration: the groups of runs that cost the same, the measurement of each, and a run's cost by it."""

import functools
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from hidden_dynamics.configuration import Configuration, Entry, known, typed
from hidden_dynamics.configuration.runs import Run, all_runs
from hidden_dynamics.errors import UserError
from hidden_dynamics.system.files import atomic
from hidden_dynamics.tasks import schedule as schedules

Whole = Annotated[int, Field(ge=1)]
Bytes = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]

# Numbers that an equation is evaluated with, and choices between permutations, pixels, targets and initial values of
# the same shapes. Everything else, that of a model of one's own included, may change what a run costs.
NUMBERS, STARTS = {"mu", "s", "beta", "eps", "restart", "phase"}, {"forget_bias", "forget_fill", "initialisation"}
COSTLESS = {
    "hyperparameters": NUMBERS | STARTS | {"readout"},
    "task_settings": {"permutation", "pixels", "target"},
    "training": {"epochs", "iterations_per_epoch", "evaluate_every", "rates", "report", "averaging"},
}


class About(Entry):
    """Where and how a calibration was made.

    Attributes:
        device: "cpu", or the GPU's name.
        side_by_side: how many runs were measured at a time.
    """

    processor: str
    device: str
    threads: Whole
    side_by_side: Whole
    date: str


class Group(Entry):
    """The measurement of a group of runs.

    Attributes:
        run: the one that was measured.
        schedule: the class of hidden_dynamics.tasks.schedule that counts its iterations.
        sizes: what that class knows of the data.
        set_up: seconds of building task and network.
        iteration: seconds of a unit of the schedule's work: an iteration, or of a text one of its rows.
        evaluation: seconds of an evaluation.
        test: seconds of the test of the trained network, if the task has one: taken to be those of an evaluation.
        memory_bytes, gpu_memory_bytes: of the process, at the highest.
    """

    run: str
    schedule: str
    sizes: dict[str, int | None]
    set_up: Seconds
    iteration: Annotated[float, Field(gt=0)]
    evaluation: Seconds
    test: Seconds | None
    memory_bytes: Bytes
    gpu_memory_bytes: Bytes


class Calibration(Entry):
    """Measurements by the keys of their groups."""

    about: About
    groups: dict[str, Group]

    def of(self, run: Run) -> Group:
        """A `UserError` where there is no measurement of such a run."""
        if (key := key_of(run)) not in self.groups:
            text = f"the calibration has no measurement of {run.id}: make it anew (scripts/calibrate.py)."
            raise UserError(text, key=run.id)
        return self.groups[key]


def read(path: Path) -> Calibration:
    """A `UserError` where it is missing, damaged or something else."""
    try:
        return typed(Calibration, json.loads(path.read_text(encoding="utf-8")), str(path))
    except (OSError, ValueError) as error:
        text = f"{path} is no calibration, which scripts/calibrate.py makes (snakemake forecast does): {error}"
        raise UserError(text, file=path) from None


def write(path: Path, calibration: Calibration) -> None:
    with atomic(path) as handle:
        json.dump(calibration.model_dump(), handle, indent=1, sort_keys=True)
        handle.write("\n")


def group_of(run: Run) -> dict[str, Any]:
    """The part of a run's specification on which an iteration and an evaluation depend."""
    spec = run.spec
    kept = {
        part: {key: value for key, value in spec[part].items() if key not in costless}
        for part, costless in COSTLESS.items()
    }
    kept["training"]["clip_norm"] = spec["training"].get("clip_norm") is not None
    kept["training"]["optimisers"] = {
        group: {key: value for key, value in optimiser.items() if key != "lr"}
        for group, optimiser in spec["training"]["optimisers"].items()
    }
    return {**kept, **{key: spec[key] for key in ("network", "core", "task_class", "dataset", "data", "precision")}}


def key_of(run: Run) -> str:
    """Name of a run's group in a calibration: 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(group_of(run), sort_keys=True).encode()).hexdigest()[:16]


def grouped(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """The runs of each group, by the group's key."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(key_of(run), []).append(run)
    return groups


def chosen(
    configuration: Configuration, runs_of: Mapping[str, Sequence[Run]]
) -> tuple[list[Run], dict[str, Sequence[Run]]]:
    """The runs that the forecast is about, and those of each artifact: all configured runs, also those that nothing
    shows; or where forecast.artifacts names some of `runs_of`, the runs of every artifact, what these show. A
    `UserError` where it names one that is not configured."""
    names = configuration.settings.forecast.artifacts
    if names is None:
        return all_runs(configuration), dict(runs_of)
    rows = {known(name, runs_of, "artifact", "config.yaml: forecast.artifacts"): runs_of[name] for name in names}
    return list({run.id: run for runs in rows.values() for run in runs}.values()), rows


def seconds_of(run: Run, group: Group) -> float:
    """Of building a run of a group, its iterations, evaluations and test."""
    training = {key: value for key, value in run.spec["training"].items() if key != "optimisers"}
    work, _, evaluations = counted(group.schedule, _text(training), _text(group.sizes), run.seed)
    return group.set_up + work * group.iteration + evaluations * group.evaluation + (group.test or 0.0)


@functools.cache  # the models of a task share it, and drawing the segments of 500 epochs takes a second
def counted(schedule: str, training: str, sizes: str, seed: int) -> tuple[int, int, int]:
    """The work, the iterations and the evaluations of a run on data of these sizes.

    Args:
        schedule: a class of hidden_dynamics.tasks.schedule.
        training, sizes: as JSON.
    """
    found = getattr(schedules, schedule)(json.loads(training), seed=seed, **json.loads(sizes))
    return found.total_work, found.iterations, found.evaluations


def _text(content: object) -> str:
    return json.dumps(content, sort_keys=True)
