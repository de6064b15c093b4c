"""The record of a run, typed: run.json is parsed here once, and all that is shown or judged is made of this.

What a record says of a run is what its run.json says, whatever is configured now, but for the titles of its task.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

from hidden_dynamics.configuration import Case, Configuration, Run
from hidden_dynamics.results.run_files import RECORD, RunFiles, check_is_of

Status = Literal["finished", "diverged", "failed"]
Baselines = Mapping[str, Mapping[str, float]]  # by metric, the score of each by its name

# Fitted to inputs, so no answer without learning: runs of speech have recorded them beside the naive baselines.
FITTED = ("ridge on three frames", "ridge on the frame at hand")


@dataclass(frozen=True)
class Reported:
    """The evaluation that a run reports.

    Attributes:
        metric, rule, value: it has the "max" or "min" of this metric, or is the "last".
        metrics: all that it measured, by name; fractions, and the task's own units.
    """

    metric: str
    rule: str
    value: float
    iteration: int
    epoch: float
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class RunRecord:
    """One run, as it ended.

    Attributes:
        size: the number of hidden units, or the name of a place in a grid, as run; `paper_size` is the paper's.
        stand_in_for: the dataset that the run's stands in for, by name; None of the paper's own.
        reported: None where no evaluation gave a finite number.
        naive: the baselines that need no network and no fitting, on the run's own test set.
        classical: those that are fitted to the run's own training data.
        test_set: "size", and of two classes "positive".
        failure: of a solver {"cause", "time", "step", "during"}, of an error {"error"}.
        limits: the scores of the best possible predictor, by metric.
        solver: the run's check of its solver (hidden_dynamics.training.solver_check).
        seconds: "training" and "evaluation".
        commit: with a + where changes were not committed.
        beside: what was measured beside the run, by metric (hidden_dynamics.results.evidence.with_measured).
    """

    run: Run
    scale: str
    label: str
    task_title: str
    size: int | str | None
    dataset: str
    dataset_title: str
    stand_in_for: str | None
    data_digest: str
    parameters: int | None
    status: Status
    diverged_at: int | None
    failure: Mapping[str, Any] | None
    reported: Reported | None
    iterations: int
    naive: Baselines
    classical: Baselines
    test_set: Mapping[str, int | None]
    split: Mapping[str, Any] | None
    limits: Mapping[str, float] | None
    solver: Mapping[str, Any] | None
    data: Mapping[str, Any]
    variants: Mapping[str, str]
    hyperparameters: Mapping[str, Any]
    training: Mapping[str, Any]
    precision: str
    device: str
    threads: int
    seconds: Mapping[str, float]
    versions: Mapping[str, str]
    code: str
    commit: str | None
    files: RunFiles = field(repr=False, compare=False)
    beside: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, configuration: Configuration, run: Run, root: Path) -> Self:
        """The record of a run whose directory is relative to `root`; a `UserError` where the run has not finished, or
        its record is damaged, or of another specification than configured."""
        files = RunFiles(root / run.directory, run.epochs)
        return cls.of(configuration, run, files.record(), files)

    @classmethod
    def of(cls, configuration: Configuration, run: Run, record: Mapping[str, Any], files: RunFiles) -> Self:
        """The same of the content of run.json."""
        check_is_of(run, record, files.directory / RECORD)
        spec, dataset, reported = record["spec"], record["dataset"], record["reported"]
        recorded = ("scale", "label", "parameters", "status", "diverged_at", "failure", "iterations", "device")
        recorded += ("threads", "seconds", "versions", "code", "commit")
        named_size = run.sized_model[len(run.model) + 1 :] or None
        return cls(
            run=run,
            task_title=configuration.tasks[run.task].title,
            size=spec["hyperparameters"].get("hidden_size", named_size),
            dataset=dataset["name"],
            dataset_title=dataset["title"],
            stand_in_for=dataset["stand_in_for"],
            data_digest=dataset["digest"],
            reported=Reported(**reported) if reported else None,
            naive=baselines_of(record["naive"], fitted=False),
            classical=baselines_of(record["naive"], fitted=True),
            test_set=record["test_set"] or {},
            files=files,
            **{name: record[name] for name in recorded},
            **{name: record.get(name) for name in ("split", "limits", "solver")},
            **{name: spec[name] for name in ("data", "variants", "hyperparameters", "training", "precision")},
        )

    @property
    def case(self) -> Case:
        return self.run.case

    @property
    def task(self) -> str:
        return self.run.task

    @property
    def model(self) -> str:
        return self.run.model

    @property
    def paper_size(self) -> int | str | None:
        return self.run.paper_size

    @property
    def seed(self) -> int:
        return self.run.seed

    @property
    def metrics(self) -> Mapping[str, float]:
        """The numbers of the reported evaluation, by metric, none where none was finite; and those measured beside."""
        return {**(self.reported.metrics if self.reported else {}), **self.beside}

    def value(self, metric: str) -> float:
        """A metric at the reported evaluation; nan where the run did not finish, or has no finite number."""
        value = self.metrics.get(metric, math.nan) if self.status == "finished" else math.nan
        return value if math.isfinite(value) else math.nan

    @property
    def has_no_momentum(self) -> bool:
        """Whether a cell with momentum ran with mu = 0."""
        return self.hyperparameters.get("mu") == 0


def baselines_of(recorded: Baselines | None, fitted: bool = False) -> Baselines:
    """The baselines that run.json calls naive: those that are, or those that are fitted."""
    return {
        metric: {name: score for name, score in scores.items() if (name in FITTED) == fitted}
        for metric, scores in (recorded or {}).items()
    }


# As text: a line of runs.csv

COLUMNS = (
    *("scale", "task", "task_title", "model", "label", "size", "paper_size", "seed"),
    *("dataset", "dataset_title", "stand_in_for", "data", "data_digest"),
    *("parameters", "status", "diverged_at", "failure"),
    *("metric", "rule", "reported", "reported_iteration", "reported_epoch", "measured", "iterations"),
    *("naive", "test_set", "split", "limits", "solver"),
    *("variants", "hyperparameters", "training", "device", "precision", "threads", "training_seconds", "versions"),
    *("directory", "code", "commit"),
)


def line_of(record: RunRecord) -> dict[str, str]:
    """The line of a record, by column; mappings as JSON, nothing as ""."""
    reported = record.reported
    naive: dict[str, dict[str, float]] = {}
    for metric, scores in (*record.naive.items(), *record.classical.items()):
        naive.setdefault(metric, {}).update(scores)
    values = {
        **{name: getattr(record.run, name) for name in ("task", "model", "paper_size", "seed", "directory")},
        **{name: getattr(reported, name) if reported else None for name in ("metric", "rule")},
        "reported": reported.value if reported else None,
        "reported_iteration": reported.iteration if reported else None,
        "reported_epoch": reported.epoch if reported else None,
        "measured": json.dumps(reported.metrics) if reported else None,  # in the order of its metrics
        "naive": naive,
        "test_set": record.test_set or None,
        "training_seconds": record.seconds["training"],
    }
    return {name: _text(values[name] if name in values else getattr(record, name)) for name in COLUMNS}


def _text(value: object) -> str:
    return "" if value is None else json.dumps(value, sort_keys=True) if isinstance(value, Mapping) else str(value)
