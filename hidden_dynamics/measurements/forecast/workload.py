"""How many iterations and evaluations a training has, without its data: their number is enough."""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hidden_dynamics.errors import UserError
from hidden_dynamics.tasks.schedule import Schedule, SegmentSchedule


@dataclass(frozen=True)
class Workload:
    """Of a whole training.

    Attributes:
        rows: words of each text of a batch in an iteration, on average; 1 where it is no text.
    """

    iterations: int
    evaluations: int
    rows: float


def sizes_of(schedule: Any) -> dict[str, int | None]:
    """What a schedule needs to know of the data.

    Raises:
        UserError: it is a class of its own.
    """
    if type(schedule) is Schedule:
        return {"train_size": schedule.train_size}
    if type(schedule) is SegmentSchedule:
        return {"rows": schedule.rows, "bptt": schedule.bptt}
    raise UserError(
        f"{type(schedule).__name__} is no schedule that the forecast can count: it knows Schedule and SegmentSchedule."
    )


def workload_of(training: Mapping[str, Any], sizes: Mapping[str, int | None], seed: int) -> Workload:
    """Of a training on data of these `sizes` (see `sizes_of`)."""
    return _workload(json.dumps(training, sort_keys=True), json.dumps(sizes, sort_keys=True), seed)


@functools.cache  # the models of a task share it, and drawing the segments of 500 epochs takes a second
def _workload(training: str, sizes: str, seed: int) -> Workload:
    settings, known = json.loads(training), json.loads(sizes)
    if "train_size" in known:
        schedule = Schedule(settings, known["train_size"], seed)
        return Workload(schedule.iterations, _multiples(schedule.iterations, schedule.evaluate_every), 1.0)
    words = known["rows"] * settings["batch_size"]
    schedule = SegmentSchedule(settings, words, known["bptt"], seed)
    epochs, every = len(schedule.starts) - 1, schedule.every
    evaluations = epochs if every is None else _multiples(schedule.iterations, every)
    return Workload(schedule.iterations, evaluations, (schedule.rows - 1) * epochs / schedule.iterations)


def _multiples(iterations: int, every: int) -> int:
    """Evaluations: one every so many iterations, and one at the end."""
    return -(-iterations // every)
