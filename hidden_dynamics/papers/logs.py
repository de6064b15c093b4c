"""Losses that authors logged in training and released: published/<paper>/logs.yaml, and logs.csv beside it.

A log speaks to a run that has all its settings: those that it names, and else the paper's, as the released code reads
them. The number of epochs is none: the first ones of a shorter training are the same. Quick to import.
"""

import csv
import functools
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from hidden_dynamics.configuration import Case, Configuration, Entry, Run, read_yaml, resolve, typed
from hidden_dynamics.configuration.entries import flat
from hidden_dynamics.configuration.schema import Text, Whole
from hidden_dynamics.papers.published import PUBLISHED

NAMED = ("mu", "s", "beta", "restart")  # the hyperparameters of the columns
Loss = Annotated[float, Field(gt=0)]
Setting = Annotated[float, Field(ge=0)] | None


class About(Entry):
    """logs.yaml. `tasks` names each configured task as logs.csv does; of those of `clipping` it says whether gradients
    were clipped."""

    kind: Literal["logs"]
    source: dict[str, Text]
    tasks: dict[str, Text]
    clipping: list[str]
    notes: list[Text]


class Point(Entry):
    """A line of logs.csv: one cell's loss after `epoch` epochs, over n seeds."""

    model_config = ConfigDict(strict=False)  # its cells are text

    task: Text
    model: Text
    size: Whole
    mu: Setting
    s: Setting
    beta: Setting
    restart: Whole | None
    clipped: bool
    split: Literal["test", "validation"]
    epoch: Whole
    n: Whole
    mean: Loss
    sd: Annotated[float, Field(ge=0)]
    least: Loss
    greatest: Loss


Log = tuple[Point, ...]  # a cell's points by epoch


@dataclass(frozen=True)
class Logs:
    about: About
    logs: tuple[Log, ...]

    def of(self, configuration: Configuration, run: Run) -> Log | None:
        """The log that speaks to a run."""
        ours, cell = _settings(run), (self.about.tasks.get(run.task), run.model)
        logs = (log for log in self.logs if (log[0].task, log[0].model) == cell)
        return next((log for log in logs if _logged(configuration, self.about, run.task, log) == ours), None)

    def of_the_paper(self, configuration: Configuration, case: Case) -> Log | None:
        """The log of a case with the paper's settings, as the released code reads them."""
        authors = _authors(configuration)
        return self.of(authors, resolve(authors, *case, 0))


def whole(log: Log) -> dict[int, Point]:
    """The points of a log that all its seeds reached, by epoch."""
    most = max(point.n for point in log)
    return {point.epoch: point for point in log if point.n == most}


@functools.cache
def load_logs(name: str) -> Logs:
    """The logs of a file of published/, such as "momentumrnn/logs.yaml"; a `UserError` that names file and line where
    a line of its table is not as it should be."""
    table = name.removesuffix(".yaml") + ".csv"
    origin, logs = f"published/{table}", {}
    lines = (PUBLISHED / table).read_text(encoding="utf-8").splitlines()
    for number, row in enumerate(csv.DictReader(lines), 2):
        point = typed(Point, {column: cell or None for column, cell in row.items()}, origin, f"line {number}")
        key = tuple(row[column] for column in ("task", "model", "size", *NAMED, "clipped", "split"))
        logs.setdefault(key, []).append(point)
    return Logs(typed(About, read_yaml(PUBLISHED / name), f"published/{name}"), tuple(map(tuple, logs.values())))


def _logged(configuration: Configuration, about: About, task: str, log: Log) -> dict[str, Any] | None:
    """The settings that a log was made with; None of a cell that is not configured."""
    first, models = log[0], configuration.papers_tasks[task].models
    if first.model not in models or first.size not in models[first.model].run_sizes:
        return None
    settings = _settings(resolve(_authors(configuration), task, first.model, first.size, 0))
    settings |= {name: getattr(first, name) for name in NAMED if name in settings}
    if task in about.clipping and not first.clipped:
        settings.pop("training.clip_norm", None)
    return settings


def _authors(configuration: Configuration) -> Configuration:
    """The paper's settings, as the released code reads them."""
    settings = configuration.settings.model_copy(update={"variants": {"default": "released"}, "precision": "fp32"})
    return replace(configuration, settings=settings, tasks=configuration.papers_tasks)


def _settings(run: Run) -> dict[str, Any]:
    """The settings that fix a run's course, by dotted place: no seed, epochs or names of variants."""
    spec = {name: part for name, part in run.spec.items() if name not in ("seed", "variants", "hyperparameters")}
    settings = flat(spec) | flat(run.spec["hyperparameters"])
    return {name: value for name, value in settings.items() if value is not None and name != "training.epochs"}
