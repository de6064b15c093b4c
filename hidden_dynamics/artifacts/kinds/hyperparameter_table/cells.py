"""The cells of a table of hyperparameters: configured values of a run beside those that the paper prints."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy

from hidden_dynamics.artifacts.kinds.hyperparameter_table import HyperparameterTable
from hidden_dynamics.artifacts.tables import ABSENT
from hidden_dynamics.configuration.runs import Cell as RunCell
from hidden_dynamics.configuration.runs import Run, resolve
from hidden_dynamics.papers.published import HyperparametersRow, PaperTask, load_tasks, published_task

COLUMNS = {
    "mu": "μ",
    "s": "s",
    "beta": "β",
    "restart": "F",
    "K": "K",
    "initialisation": "Initialisation",
    "forget_bias": "Forget bias",
    "optimiser": "Optimiser",
    "learning_rate": "Learning rate",
    "alpha": "α",
    "orthogonal_optimiser": "Orthogonal optimiser",
    "orthogonal_learning_rate": "Orthogonal learning rate",
    "clip_norm": "Clip norm",
    "batch_size": "Batch size",
    "epochs": "Epochs",
    "iterations_per_epoch": "Iterations per epoch",
}
# What few tasks have stands below the table: columns would make it too wide. A mapping has a cell for each entry.
DETAIL = "details."
DETAILS = {
    "embedding_size": "embedding",
    "layers": "layers",
    "dropouts": "dropout",
    "bptt": "steps of backpropagation",
    "activation_regularisation": "activation regularisation",
    "temporal_regularisation": "temporal activation regularisation",
    "weight_decay": "weight decay",
    "averaging": "averaging of the weights",
    "evaluation_batch_sizes": "batch size of the evaluation",
}
OPTIMISERS = {"name": "optimiser", "lr": "learning_rate", "alpha": "alpha", "weight_decay": "weight_decay"}
MISSING = object()


@dataclass(frozen=True)
class Cell:
    """A configured value and the published one; `MISSING` where there is none."""

    value: Any = MISSING
    published: Any = MISSING

    @property
    def present(self) -> bool:
        return self.value is not MISSING or self.published is not MISSING

    @property
    def differs(self) -> bool:
        if self.published is MISSING:
            return False
        left, right = (v.lower() if isinstance(v, str) else v for v in (self.value, self.published))
        return left != right

    @property
    def text(self) -> str:
        return f"{text_of(self.value)} (published {text_of(self.published)})" if self.differs else text_of(self.value)

    def map(self, name: Callable[[Any], Any]) -> "Cell":
        """Both values by other names."""
        return Cell(*(value if value is MISSING else name(value) for value in (self.value, self.published)))


@dataclass(frozen=True)
class Row:
    """A run, and the row that the paper prints of it, if any.

    Attributes:
        cells: by name: dataset, size, those of `COLUMNS`, "data.<key>", and `DETAIL` with the names of `DETAILS`.
    """

    run: Run
    task_title: str
    label: str
    printed: HyperparametersRow | None
    cells: Mapping[str, Cell]


def text_of(value: Any) -> str:
    if value is MISSING:
        return ABSENT
    if value is None:
        return "none"
    return numpy.format_float_positional(value, trim="0") if isinstance(value, float) else str(value)


def title_of(name: str) -> str:
    """A cell's name in words."""
    if name.startswith(DETAIL):
        return DETAILS[name.removeprefix(DETAIL).partition(".")[0]]
    return COLUMNS.get(name, name.removeprefix("data."))


def rows_of(artifact: HyperparameterTable) -> list[Row]:
    """A row for each task and size of the artifact's models."""
    configuration, published = artifact.configuration, artifact.published
    tasks, rows = load_tasks(artifact.settings.published), []
    for place in _configured(artifact):
        run = resolve(configuration, *place, configuration.seeds[0])
        theirs = published_task(configuration, run.task)
        printed = published.row(run.model, run.paper_size, theirs)
        cells = _cells(run, printed, tasks.get(theirs), published.by_definition)
        titles = configuration.tasks[run.task].title, configuration.models[run.model].label
        rows.append(Row(run, *titles, printed, cells))
    return rows


def _configured(artifact: HyperparameterTable) -> list[RunCell]:
    """The paper's models on their tasks; grids and runs repeated for their gradients are not the paper's."""
    return [
        RunCell(name, model, size)
        for model in artifact.settings.models
        for name, task in artifact.configuration.tasks.items()
        if model in task.models and task.models[model].grid is None and task.training.record_gradients is None
        for size in task.models[model].run_sizes
    ]


def _cells(
    run: Run, printed: HyperparametersRow | None, task: PaperTask | None, by_definition: Mapping[str, Any]
) -> dict[str, Cell]:
    """The configured values of a run beside those of the table's row and of the text about the task."""
    theirs = {**(task.settings.given() if task else {}), **(printed.settings.given() if printed else {})}
    ours = {**by_definition, **_settings(run.spec)}
    size = run.spec["hyperparameters"].get("hidden_size", run.paper_size)
    cells = {
        "dataset": Cell(run.spec["dataset"], task.dataset if task else MISSING),
        "size": Cell() if run.paper_size is None else Cell(size, run.paper_size),
    }
    said = task.data if task and not cells["dataset"].differs else {}
    cells |= {f"data.{key}": Cell(value, said.get(key, MISSING)) for key, value in run.spec["data"].items()}
    details = _flat({name: ours[name] for name in DETAILS if name in ours})
    cells |= {f"{DETAIL}{name}": Cell(value, theirs.get(name, MISSING)) for name, value in details.items()}
    return cells | {name: Cell(ours.get(name, MISSING), theirs.get(name, MISSING)) for name in COLUMNS}


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings written out: {"dropouts": {"input": 0.4}} becomes {"dropouts.input": 0.4}."""
    flat = {}
    for name, value in settings.items():
        flat |= {f"{name}.{key}": v for key, v in value.items()} if isinstance(value, Mapping) else {name: value}
    return flat


def _settings(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A run's specification under the names of the published tables."""
    training = {key: value for key, value in spec["training"].items() if key != "optimisers"}
    settings = {**spec["task_settings"], **spec["hyperparameters"], **training}
    for optimiser, prefix in (("main", ""), ("orthogonal", "orthogonal_")):
        entry = spec["training"]["optimisers"].get(optimiser, {})
        settings |= {f"{prefix}{OPTIMISERS[key]}": value for key, value in entry.items() if key in OPTIMISERS}
    settings.setdefault("iterations_per_epoch", "one pass")
    return settings
