"""A table of hyperparameters: the configured values of a scale, with the published ones beside those that differ."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hidden_dynamics.artifacts.base import REQUIRED, Artifact, ArtifactSettings, Models
from hidden_dynamics.artifacts.notes import chosen_notes, title_of, variants_note
from hidden_dynamics.artifacts.tables import ABSENT, Table
from hidden_dynamics.configuration import Case, Run, resolve
from hidden_dynamics.configuration.entries import flat
from hidden_dynamics.configuration.schema import Names
from hidden_dynamics.configuration.spec import Spec
from hidden_dynamics.papers.published import load_tasks, published_task
from hidden_dynamics.results.evidence import Evidence

HEADINGS = dict(mu="μ", s="s", beta="β", restart="F", alpha="α", penalty="λ", augmented="Augmented dimensions")
NAMES = (
    *("mu", "s", "beta", "restart", "K", "initialisation", "forget_bias", "optimiser", "learning_rate", "alpha"),
    *("dropout", "penalty", "augmented", "attention", "orthogonal_optimiser", "orthogonal_learning_rate"),
    *("clip_norm", "batch_size", "epochs", "iterations_per_epoch"),
)
COLUMNS = {name: HEADINGS.get(name, name.replace("_", " ").capitalize()) for name in NAMES}
# What few tasks have shares a column. A mapping has a value for each entry.
DETAILS = (
    *("embedding_size", "layers", "dropouts", "bptt", "activation_regularisation", "temporal_regularisation"),
    *("weight_decay", "rates", "delta", "prep", "mixing", "recognition_size", "recognition_layers"),
    *("generative_layers", "units", "gru_units", "samples", "solver", "averaging", "evaluation_batch_sizes"),
)
SPACES = str.maketrans({"_": " ", ".": " "})
OPTIMISERS = {"name": "optimiser", "lr": "learning_rate", "alpha": "alpha", "weight_decay": "weight_decay"}


class Settings(ArtifactSettings):
    """`tasks`: those shown; null: all that the models are trained on."""

    published: str = REQUIRED
    models: Models
    tasks: Names | None = None


class HyperparameterTable(Artifact):
    settings: Settings
    form = "table"
    origin = "The numbers are the configuration's (config/tasks.yaml, config/models.yaml, the scale)."

    def configured(self) -> list[Case]:
        """The paper's models on their tasks; grids and runs repeated for their gradients are not the paper's."""
        return [
            Case(name, model, size)
            for model in self.settings.models
            for name, task in self.configuration.tasks.items()
            if name in (self.settings.tasks or self.configuration.tasks)
            if model in task.models and task.models[model].grid is None and task.training.record_gradients is None
            for size in task.models[model].run_sizes
        ]


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, float):
        return np.format_float_positional(value, precision=4, fractional=False, trim="0")
    return "none" if value is None else str(value)


@dataclass(frozen=True)
class Row:
    """A run's values by name: as configured, as published, and as the authors' scripts have them; and the row of the
    paper's table, if that has it (`printed`).

    Names are dataset, size, "data.<key>", and those of `COLUMNS` and `DETAILS`, "rates.factor" where one is a mapping.
    """

    run: Run
    printed: Mapping[str, Any] | None
    ours: Mapping[str, Any]
    published: Mapping[str, Any]
    released: Mapping[str, Any]

    @property
    def differing(self) -> list[str]:
        return [name for name in {**self.ours, **self.published} if _differ(name, self.ours, self.published)]

    def text(self, name: str, text: Callable[..., str] = _text) -> str:
        """Our value, as `text` says it, and in brackets what is another one."""
        others = {"published": self.published, "released": self.released}
        marks = [f"{of} {text(theirs[name])}" for of, theirs in others.items() if _differ(name, self.ours, theirs)]
        ours = text(self.ours[name]) if name in self.ours else ABSENT
        return f"{ours} ({'; '.join(marks)})" if marks else ours

    def texts(self, artifact: HyperparameterTable) -> dict[str, str]:
        """The cells; a row that the paper's table does not have says so."""
        configuration, absent = artifact.configuration, "" if self.printed else f" (not in {artifact.published.place})"
        data = [f"{name.removeprefix('data.')} {self.text(name)}" for name in self.ours if name.startswith("data.")]
        details = [name for name in {**self.ours, **self.released} if name.partition(".")[0] in DETAILS]
        return {
            "Task": configuration.tasks[self.run.task].title + absent,
            "Model": configuration.models[self.run.model].label,
            "Data": ": ".join(filter(None, (self.text("dataset", configuration.title_of), ", ".join(data)))),
            "N": self.text("size"),
            **{title: self.text(name) for name, title in COLUMNS.items()},
            "Other": "; ".join(f"{name.translate(SPACES)} {self.text(name)}" for name in details) or ABSENT,
        }

    def data(self, artifact: HyperparameterTable) -> dict[str, Any]:
        """The row for programs."""
        about = {"artifact": artifact.name, "scale": artifact.configuration.scale_name, "task": self.run.task}
        about |= {"model": self.run.model, "differs": " ".join(self.differing)}
        stated = {"": self.ours, "published_": self.published, "released_": self.released}
        return about | {f"{of}{name}": value for of, values in stated.items() for name, value in values.items()}


def _differ(name: str, ours: Mapping[str, object], theirs: Mapping[str, object]) -> bool:
    """Whether they state another value than ours; 1 is 1.0, and Adam is adam."""
    own, other = ours.get(name, ABSENT), theirs.get(name)
    return name in theirs and own != other and str(own).lower() != str(other).lower()


def draw(artifact: HyperparameterTable, evidence: Evidence) -> Table:
    """The configured hyperparameters of its models, a row per task and size, beside the published ones."""
    rows = [_row_of(artifact, case) for case in artifact.configured()]
    count = sum(len(row.differing) for row in rows)
    deviates = ", which deviates from the paper's settings" if count else ""
    texts, data = [row.texts(artifact) for row in rows], [row.data(artifact) for row in rows]
    return Table.of(title_of(artifact) + deviates, _notes(artifact, rows, count), texts, data, optional=("",))


def _notes(artifact: HyperparameterTable, rows: Sequence[Row], count: int) -> list[str]:
    """What was chosen; how much differs from what is printed, what a model fixes, and what is not configured."""
    configuration, published = artifact.configuration, artifact.published
    seeds = f"Seeds: {', '.join(map(str, configuration.seeds))}. Precision: {configuration.settings.precision}."
    differing = [f"{count} values differ from the published ones, which stand beside them."]
    fixed = by_definition(artifact).items()
    differing += [f"{COLUMNS[name]} = {_text(value)} by definition of the cell." for name, value in fixed]
    shown, models = [row.printed for row in rows], configuration.models
    lacking = [
        f"{row['printed']}, {models[row['model']].label}" + (f", N = {row['size']}" if "size" in row else "")
        for row in published.rows
        if row not in shown
    ]
    differing += [f"Printed, and not configured here: {'; '.join(lacking)}."] if lacking else []
    chosen = [*chosen_notes(configuration, {row.run.task for row in rows}), seeds]
    chosen.append(variants_note(row.run.spec["variants"] for row in rows))
    return [" ".join(chosen), " ".join(differing), published.note]


def _row_of(artifact: HyperparameterTable, case: Case) -> Row:
    """The configured values of a run beside those of the table's row, the text about the task, and the scripts."""
    published, task = artifact.published, published_task(artifact.configuration, case.task)
    run = resolve(artifact.configuration, *case, artifact.configuration.seeds[0])
    row, text = published.row(run.model, run.paper_size, task), load_tasks(artifact.paper).get(task, {})
    printed = row or {"settings": {}}
    stated = by_definition(artifact) | _settings(run.spec), text.get("settings", {}) | printed["settings"]
    ours, theirs, scripts = (flat(of) for of in (*stated, printed.get("released", {})))
    ours |= {"dataset": run.spec["dataset"], **{f"data.{key}": value for key, value in run.spec["data"].items()}}
    theirs |= {"dataset": text["dataset"]} if "dataset" in text else {}
    if ours["dataset"] == theirs.get("dataset"):
        theirs |= {name: value for key, value in text.get("data", {}).items() if (name := f"data.{key}") in ours}
    if run.paper_size is not None:
        ours["size"] = run.spec["hyperparameters"].get("hidden_size", run.paper_size)
        if not any("hidden_size" in of.get("released", {}) for of in published.rows):  # else no size is published
            theirs["size"] = run.paper_size
    scripts |= {"size": scripts["hidden_size"]} if "hidden_size" in scripts else {}
    shown = [name for name in {**ours, **scripts} if name.partition(".")[0] in ("dataset", "size", "data", *DETAILS)]
    shown += [name for name in COLUMNS if any(name in of for of in (ours, theirs, scripts))]
    return Row(run, row, *({name: of[name] for name in shown if name in of} for of in (ours, theirs, scripts)))


def by_definition(artifact: HyperparameterTable) -> dict[str, Any]:
    """The values that the model itself fixes, so that the configuration does not name them."""
    return artifact.published.content.get("by_definition", {})


def _settings(spec: Spec) -> dict[str, Any]:
    """A run's specification under the names of the published tables."""
    training = {key: value for key, value in spec["training"].items() if key != "optimisers"}
    settings = {**spec["task_settings"], **spec["hyperparameters"], **training}
    for optimiser, prefix in (("main", ""), ("orthogonal", "orthogonal_")):
        entry = spec["training"]["optimisers"].get(optimiser, {})
        settings |= {f"{prefix}{OPTIMISERS[key]}": value for key, value in entry.items() if key in OPTIMISERS}
    if isinstance(settings.get("mixing"), str):  # of ACE-Latent-ODE, the way in which attention mixes: a variant
        del settings["mixing"]
    if isinstance(settings.get("penalty"), Mapping):
        settings["penalty"] = settings["penalty"]["weight"]
    settings.setdefault("iterations_per_epoch", "one pass")
    return settings
