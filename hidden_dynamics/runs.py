"""A run is one model on one task with one seed: its specification, its directory, and which runs an artifact needs."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hidden_dynamics import features
from hidden_dynamics.configuration import Configuration, known, merge
from hidden_dynamics.digest import code_digest
from hidden_dynamics.errors import UserError

OUTPUTS = ("run.json", "metrics.csv", "train_loss.npy", "clock.csv", "model.pt")
NETWORK = "hidden_dynamics.networks.RecurrentNetwork"  # unless the model or the task has one of its own
GRADIENTS = "hidden_gradients.npz"  # of tasks that record them (training.record_gradients)


@dataclass(frozen=True)
class Run:
    """One model on one task with one seed.

    Attributes:
        variant: the model with its size as run, such as "momentum_lstm-n128"; names the run's directory.
        paper_size: the size the paper gives for this row, which a scale may have mapped to a smaller one.
        spec: everything that determines the result, apart from code and data.
    """

    task: str
    model: str
    variant: str
    paper_size: int | str | None
    seed: int
    directory: str
    spec: dict[str, Any]

    @property
    def id(self) -> str:
        return f"{self.task}/{self.variant}/seed{self.seed}"


def all_runs(configuration: Configuration, seeds: Iterable[int] | None = None) -> list[Run]:
    """Every configured run, in the order of the configuration."""
    given = None if seeds is None else list(seeds)
    return [
        run
        for task in configuration.tasks
        for run in _runs_on(configuration, task, seeds_of(configuration, task) if given is None else given)
    ]


def _runs_on(configuration: Configuration, task: str, seeds: list[int]) -> list[Run]:
    return [
        resolve(configuration, task, model, size, seed)
        for model, settings in configuration.tasks[task]["models"].items()
        for size in settings.get("sizes", [None])
        for seed in seeds
    ]


def seeds_of(configuration: Configuration, task: str) -> list[int]:
    """The seeds that a task is trained with: all of them, or the first where one is enough (`single_seed`)."""
    return configuration.seeds[:1] if configuration.tasks[task].get("single_seed") else configuration.seeds


def outputs_of(configuration: Configuration, task: str) -> tuple[str, ...]:
    """The files of a run of the task."""
    records = "record_gradients" in configuration.tasks[task]["training"]
    return (*OUTPUTS, GRADIENTS) if records else OUTPUTS


def resolve(configuration: Configuration, task: str, model: str, paper_size: int | str | None, seed: int) -> Run:
    """The run of `model` at the paper's size on `task` with `seed`, fully specified.

    Raises:
        UserError: the task, the model or the size is not configured.
    """
    entry = configuration.tasks[known(task, configuration.tasks, "task", "the configured tasks")]
    known(model, configuration.models, "model", "config/models.yaml")
    settings = entry["models"][known(model, entry["models"], "model", f"task {task}")]
    sizes = settings.get("sizes", [None])
    if paper_size not in sizes:
        raise UserError(f"task {task}, model {model}: no size {paper_size}. Configured: {', '.join(map(str, sizes))}.")
    by_size = settings.get("by_size", {}).get(paper_size, {})
    size = entry.get("sizes", {}).get(paper_size, paper_size)
    readings, consequences = _readings(configuration, task, model)
    hyperparameters = merge(
        {"hidden_size": size} if isinstance(size, int) else {},
        entry.get("hyperparameters", {}),
        configuration.models[model].get("hyperparameters", {}),
        settings.get("hyperparameters", {}),
        by_size.get("hyperparameters", {}),
        consequences["hyperparameters"],
    )
    spec = {
        "task": task,
        "model": model,
        "seed": seed,
        "network": configuration.models[model].get("network") or entry.get("network", NETWORK),
        "core": configuration.models[model].get("core"),
        "hyperparameters": hyperparameters,
        "task_class": entry["class"],
        "task_settings": merge(entry.get("settings", {}), consequences["settings"]),
        "dataset": entry["dataset"],
        "data": entry.get("data", {}),
        "training": merge(
            entry["training"],
            settings.get("training", {}),
            by_size.get("training", {}),
            consequences["training"],
        ),
        "precision": configuration.settings["precision"],
        "readings": readings,
    }
    variant = model if size is None else f"{model}-{f'n{size}' if isinstance(size, int) else size}"
    directory = f"{configuration.results}/runs/{task}/{variant}/seed{seed}"
    return Run(task, model, variant, paper_size, seed, directory, spec)


def find(configuration: Configuration, task: str, variant: str, seed: int) -> Run:
    """The run in the directory `<task>/<variant>/seed<seed>`; a seed that is not configured is as good as any other."""
    known(task, configuration.tasks, "task", "the configured tasks")
    candidates = {run.variant: run for run in _runs_on(configuration, task, [seed])}
    return candidates[known(variant, candidates, "model", f"task {task} at scale {configuration.scale_name}")]


def runs_of(configuration: Configuration, artifact: str) -> list[Run]:
    """The runs that an artifact shows: its rows or panels, and the user's own models on the same tasks and sizes.

    A table of costs is measured, not trained: it shows none.
    """
    cells = cells_of(configuration, artifact)
    try:
        runs = [resolve(configuration, *cell, seed) for cell in cells for seed in seeds_of(configuration, cell[0])]
    except UserError as error:
        raise UserError(f"config/artifacts.yaml: {artifact} shows what is not configured: {error}") from None
    return list({run.id: run for run in runs}.values())


def cells_of(configuration: Configuration, artifact: str) -> list[tuple[str, str, int | str | None]]:
    """(task, model, paper's size) of everything an artifact shows: the paper's rows in its order, then the user's own.

    The grids of Figure 7 and the heat maps of Figure 2 are of the paper's models alone.
    """
    entry = configuration.artifacts[known(artifact, configuration.artifacts, "artifact", "config/artifacts.yaml")]
    if entry["kind"] == "ablation":
        return [cell for panel in entry["panels"] for cell in _grid_cells(configuration, panel["task"], panel["model"])]
    if entry["kind"] in ("gradient_norms", "time_to_accuracy_table", *features.KINDS):
        shown = [(entry["task"], model, entry.get("size")) for model in entry["models"]]
        if entry["kind"] == "gradient_norms":
            return shown
    elif "rows" in entry:
        shown = [(task, row["model"], row.get("size")) for row in entry["rows"] for task in entry["tasks"]]
    else:
        shown = [(p["task"], model, p.get("size")) for p in entry.get("panels", []) for model in entry["models"]]
    places = {(task, size) for task, _, size in shown}
    return [*dict.fromkeys(shown), *(cell for cell in _extra_cells(configuration) if (cell[0], cell[2]) in places)]


def _grid_cells(configuration: Configuration, task: str, model: str) -> list[tuple[str, str, str]]:
    settings = configuration.tasks[task]["models"].get(model, {})
    if "grid" not in settings:
        raise UserError(f"config/artifacts.yaml: an ablation of {model} on {task} needs a grid in config/tasks.yaml.")
    return [(task, model, size) for size in settings["sizes"]]


def data_file(configuration: Configuration, dataset: str, settings: dict[str, Any]) -> str:
    """Path of a prepared dataset: its name and the settings it was prepared with."""
    name = "-".join([dataset, *(f"{key}{value}" for key, value in sorted(settings.items()))])
    return str(Path(configuration.settings["data"]["directory"]) / "prepared" / f"{name}.npz")


def _extra_cells(configuration: Configuration) -> Iterator[tuple[str, str, int | str | None]]:
    for task, entry in configuration.tasks.items():
        for model, settings in entry["models"].items():
            if settings.get("extra"):
                yield from ((task, model, size) for size in settings.get("sizes", [None]))


def _readings(configuration: Configuration, task: str, model: str) -> tuple[dict[str, str], dict[str, dict]]:
    """Which readings are taken for this model on this task, and the hyperparameters, settings and training they set.

    The most particular choice wins: the model's on this task, the task's, then config.yaml's by name, then its default.
    """
    entry = configuration.tasks[task]
    choices = [
        entry["models"][model].get("readings", {}),
        entry.get("readings", {}),
        configuration.settings["readings"],
    ]
    taken, consequences = {}, {"hyperparameters": {}, "settings": {}, "training": {}}
    for name, reading in configuration.readings.items():
        if model not in reading.get("models", [model]) or task not in reading.get("tasks", [task]):
            continue
        value = next((choice[key] for choice in choices for key in (name, "default") if key in choice), "published")
        taken[name] = value
        for key in consequences:
            consequences[key] = merge(consequences[key], reading[value].get(key, {}))
    return taken, consequences


def identity(run: Run) -> str:
    """Digest of what determines the run but its data: the specification and the code."""
    return hashlib.sha256(json.dumps([run.spec, code_of(run)], sort_keys=True).encode()).hexdigest()


def code_of(run: Run) -> str:
    """Digest (hidden_dynamics.digest) of the code of a run: network, core, task, training and how they are set up."""
    roots = [
        "hidden_dynamics.building.build",
        "hidden_dynamics.training.devices.set_arithmetic",
        "hidden_dynamics.training.loop.train",
        "hidden_dynamics.training.optimisers.build",
    ]
    return code_digest([*roots, *filter(None, (run.spec["network"], run.spec["core"], run.spec["task_class"]))])
