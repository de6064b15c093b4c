"""The cells of a table of hyperparameters: configured values of a run beside those that the paper prints."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy

from hidden_dynamics.artifacts.kinds.hyperparameter_table import HyperparameterTable
from hidden_dynamics.artifacts.tables import ABSENT
from hidden_dynamics.configuration.runs import Cell as RunCell
from hidden_dynamics.configuration.runs import Run, resolve
from hidden_dynamics.papers.published import Hyperparameters, HyperparametersRow, PaperTask, load_tasks, published_task

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
    "dropout": "Dropout",
    "penalty": "λ",
    "augmented": "Augmented dimensions",
    "attention": "Attention",
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
    "rates": "fall of the learning rate",
    "delta": "Euler step",
    "prep": "width of a feature's input to the jump",
    "mixing": "weight of the loss after jumps",
    "recognition_size": "dimensions of the recognition model",
    "recognition_layers": "hidden layers beyond the first in recognition",
    "generative_layers": "hidden layers beyond the first in generation",
    "units": "units of a layer",
    "gru_units": "units of the GRU’s layers",
    "samples": "samples of z(0)",
    "solver": "solver",
    "averaging": "averaging of the weights",
    "evaluation_batch_sizes": "batch size of the evaluation",
}
OPTIMISERS = {"name": "optimiser", "lr": "learning_rate", "alpha": "alpha", "weight_decay": "weight_decay"}
MISSING = object()


@dataclass(frozen=True)
class Cell:
    """A configured value, the published one, and that of the authors' scripts; `MISSING` where there is none."""

    value: Any = MISSING
    published: Any = MISSING
    released: Any = MISSING

    @property
    def present(self) -> bool:
        return any(value is not MISSING for value in (self.value, self.published, self.released))

    @property
    def differs(self) -> bool:
        """Whether it is not as published."""
        return self._is_other_than(self.published)

    @property
    def differs_from_released(self) -> bool:
        return self._is_other_than(self.released)

    @property
    def text(self) -> str:
        others = [f"published {text_of(self.published)}"] if self.differs else []
        others += [f"released {text_of(self.released)}"] if self.differs_from_released else []
        return f"{text_of(self.value)} ({'; '.join(others)})" if others else text_of(self.value)

    def map(self, name: Callable[[Any], Any]) -> "Cell":
        """The values by other names."""
        values = (self.value, self.published, self.released)
        return Cell(*(value if value is MISSING else name(value) for value in values))

    def _is_other_than(self, theirs: Any) -> bool:
        if theirs is MISSING:
            return False
        left, right = (v.lower() if isinstance(v, str) else v for v in (self.value, theirs))
        return left != right


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
    if isinstance(value, list):
        return ", ".join(map(text_of, value))
    digits = {"precision": 4, "fractional": False, "trim": "0"}
    return numpy.format_float_positional(value, **digits) if isinstance(value, float) else str(value)


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
        cells = _cells(run, printed, tasks.get(theirs), published)
        titles = configuration.tasks[run.task].title, configuration.models[run.model].label
        rows.append(Row(run, *titles, printed, cells))
    return rows


def _configured(artifact: HyperparameterTable) -> list[RunCell]:
    """The paper's models on their tasks; grids and runs repeated for their gradients are not the paper's."""
    return [
        RunCell(name, model, size)
        for model in artifact.settings.models
        for name, task in artifact.configuration.tasks.items()
        if name in (artifact.settings.tasks or artifact.configuration.tasks)
        if model in task.models and task.models[model].grid is None and task.training.record_gradients is None
        for size in task.models[model].run_sizes
    ]


def _cells(
    run: Run, printed: HyperparametersRow | None, task: PaperTask | None, published: Hyperparameters
) -> dict[str, Cell]:
    """The configured values of a run beside those of the table's row, the text about the task, and the scripts."""
    theirs = {**(task.settings.given() if task else {}), **(printed.settings.given() if printed else {})}
    scripts = printed.released.given() if printed else {}
    ours = {**published.by_definition, **_settings(run.spec)}
    cells = {"dataset": Cell(run.spec["dataset"], task.dataset if task else MISSING)}
    cells["size"] = _size(run, scripts, published)
    said = task.data if task and not cells["dataset"].differs else {}
    cells |= {f"data.{key}": Cell(value, said.get(key, MISSING)) for key, value in run.spec["data"].items()}
    stated = (ours, theirs, scripts)
    details = [_flat({name: of[name] for name in DETAILS if name in of}) for of in stated]
    cells |= {f"{DETAIL}{name}": _cell(name, *details) for name in {**details[0], **details[2]}}
    return cells | {name: _cell(name, *stated) for name in COLUMNS}


def _cell(name: str, *stated: Mapping[str, Any]) -> Cell:
    """The values of what is configured, printed, and set by the authors' scripts."""
    return Cell(*(of.get(name, MISSING) for of in stated))


def _size(run: Run, scripts: Mapping[str, Any], published: Hyperparameters) -> Cell:
    """The number of hidden units; where the authors' scripts alone say it, of whichever row, none is published."""
    if run.paper_size is None:
        return Cell()
    size = run.spec["hyperparameters"].get("hidden_size", run.paper_size)
    by_scripts = any("hidden_size" in row.released.given() for row in published.rows)
    return Cell(size, MISSING if by_scripts else run.paper_size, scripts.get("hidden_size", MISSING))


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
    if isinstance(settings.get("mixing"), str):  # of ACE-Latent-ODE, the way in which attention mixes: a reading
        del settings["mixing"]
    if isinstance(settings.get("penalty"), Mapping):
        settings["penalty"] = settings["penalty"]["weight"]
    settings.setdefault("iterations_per_epoch", "one pass")
    return settings
