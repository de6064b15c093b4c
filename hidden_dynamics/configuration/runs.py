"""Runs, each one model on one task with one seed: specification, directory, and the identity that fixes the result."""

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from hidden_dynamics.configuration.entries import known, merge
from hidden_dynamics.configuration.equal_code import equals_of
from hidden_dynamics.configuration.loading import RECURRENT_NETWORK, Configuration
from hidden_dynamics.configuration.schema import Effect
from hidden_dynamics.configuration.spec import Spec, length_matters
from hidden_dynamics.errors import UserError
from hidden_dynamics.system.digest import code_digest

NEUTRAL = "a run's specification is compared itself"

WEIGHTS = "model.pt"
OUTPUTS = ("run.json", "metrics.csv", "train_loss.npy", "clock.csv", WEIGHTS)
GRADIENTS = "hidden_gradients.npz"  # of tasks that record them (training.record_gradients)
PREDICTIONS = "predictions.npz"  # likewise (training.record_predictions)
FAILURES = "failures.txt"  # a line for each failed attempt; no output, so that it stays when outputs are removed
TRAINING = (  # the definitions that determine a run beside its own classes
    "hidden_dynamics.training.building.build",
    "hidden_dynamics.training.devices.set_arithmetic",
    "hidden_dynamics.training.loop.train",
    "hidden_dynamics.training.optimisers.build",
)


class Case(NamedTuple):
    """A model at one of the paper’s sizes on a task; `size` is None of a model that has none."""

    task: str
    model: str
    size: int | str | None


@dataclass(frozen=True)
class Run:
    """One model on one task with one seed.

    Attributes:
        sized_model: the model with its size as run, such as "momentum_lstm-n128"; names the run's directory.
        paper_size: the size the paper gives for this row, which a scale may have mapped to a smaller one.
        spec: everything that determines the result, apart from code and data. It knows classes by their names alone.
        classes: where these classes are: {"network", "core", "task_class"} as dotted names.
    """

    task: str
    model: str
    sized_model: str
    paper_size: int | str | None
    seed: int
    directory: str
    spec: Spec
    classes: dict[str, str] = field(compare=False)

    @property
    def id(self) -> str:
        return f"{self.task}/{self.sized_model}/seed{self.seed}"

    @property
    def case(self) -> Case:
        return Case(self.task, self.model, self.paper_size)

    @property
    def epochs(self) -> float:
        return self.spec["training"]["epochs"]

    @cached_property
    def identity(self) -> str:
        """Digest of its specification, without its length where that does not matter, and of its code: all that
        determines its result but the data."""
        return self._identity_by(code_of(self))

    def fingerprint(self, data: str) -> str:
        """Digest of all that determines its result: its identity and its data, whose digest is given."""
        return _sha256(self.identity + data)

    def fingerprints(self, data: str) -> set[str]:
        """Its fingerprint, and those that it has by code that was tried and found equal."""
        return {_sha256(self._identity_by(code) + data) for code in equals_of(code_of(self))}

    def _identity_by(self, code: str) -> str:
        return _sha256(json.dumps([without_length(self.spec), code], sort_keys=True))


def without_length(spec: Spec) -> dict[str, object]:
    """A run's specification without its number of epochs, where a longer run begins with the same ones."""
    training = {name: value for name, value in spec["training"].items() if name != "epochs"}
    return {**spec, "training": spec["training"] if length_matters(spec["training"]) else training}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def all_runs(configuration: Configuration, seeds: list[int] | None = None) -> list[Run]:
    """Every configured run, in the order of the configuration, but of tasks that are run by name and not named."""
    named = configuration.chosen_tasks
    tasks = [name for name, task in configuration.tasks.items() if name in named or not task.by_name]
    return [run for task in tasks for run in runs_on(configuration, task, seeds)]


def runs_on(configuration: Configuration, task: str, seeds: list[int] | None = None) -> list[Run]:
    """Every run of a task, with the configured seeds or given ones; none of what is left out."""
    seeds = configuration.seeds_of(task) if seeds is None else seeds
    return [
        run
        for model, entry in configuration.tasks[task].models.items()
        for size in entry.run_sizes
        if configuration.is_run(task, model, size)
        for run in resolve_seeds(configuration, Case(task, model, size), seeds)
    ]


def outputs_of(configuration: Configuration, task: str) -> tuple[str, ...]:
    """The files of a run of the task, without its weights: a run that was restored from its record has none."""
    training = configuration.tasks[task].training
    gradients = (GRADIENTS,) if training.record_gradients is not None else ()
    always = (name for name in OUTPUTS if name != WEIGHTS)
    return (*always, *gradients, *((PREDICTIONS,) if training.record_predictions else ()))


def resolve(configuration: Configuration, task: str, model: str, paper_size: int | str | None, seed: int) -> Run:
    """The run of `model` at the paper's size on `task` with `seed`, fully specified; a `UserError` where the task, the
    model or the size is not configured."""
    return resolve_seeds(configuration, Case(task, model, paper_size), [seed])[0]


def resolve_seeds(configuration: Configuration, case: Case, seeds: list[int]) -> list[Run]:
    """A run of the case for each seed, as `resolve` gives it: the same one whoever asks."""
    resolved = configuration.resolved
    if missing := [seed for seed in seeds if (case, seed) not in resolved]:
        resolved |= {(case, run.seed): run for run in _resolved(configuration, case, missing)}
    return [resolved[case, seed] for seed in seeds]


def _resolved(configuration: Configuration, case: Case, seeds: list[int]) -> list[Run]:
    task, model, paper_size = case
    entry = configuration.tasks[known(task, configuration.tasks, "task", "the configured tasks")]
    model_entry = configuration.models[known(model, configuration.models, "model", "config/models.yaml")]
    settings = entry.models[known(model, entry.models, "model", f"task {task}")]
    if paper_size not in settings.run_sizes:
        sizes = ", ".join(map(str, settings.run_sizes))
        raise UserError(f"task {task}, model {model}: no size {paper_size}. Configured: {sizes}.", key=f"{task}.models")
    settings = entry.models[model_entry.control_of or model]
    by_size = settings.by_size[paper_size].given() if paper_size in settings.by_size else {}
    size = None if paper_size is None else entry.sizes.get(paper_size, paper_size)
    variants, effects = variants_taken(configuration, task, model), _effects(configuration, task, model)
    consequences = {
        key: merge({}, *(effect.given().get(key, {}) for effect in effects))
        for key in ("hyperparameters", "settings", "training")
    }
    network = model_entry.network or entry.network or RECURRENT_NETWORK
    places = {"network": network, "core": model_entry.core, "task_class": entry.task_class}
    spec: Spec = {
        "task": task,
        "model": model,
        "seed": 0,
        "network": network.rpartition(".")[2],
        "core": model_entry.core and model_entry.core.rpartition(".")[2],
        "task_class": entry.task_class.rpartition(".")[2],
        "hyperparameters": merge(
            {"hidden_size": size} if isinstance(size, int) else {},
            entry.hyperparameters,
            configuration.models[model_entry.control_of or model].hyperparameters,
            settings.hyperparameters,
            by_size.get("hyperparameters", {}),
            consequences["hyperparameters"],
            model_entry.hyperparameters if model_entry.control_of else {},
        ),
        "task_settings": merge(entry.settings, consequences["settings"]),
        "dataset": entry.dataset,
        "data": entry.data,
        "training": merge(
            entry.training.given(), settings.training, by_size.get("training", {}), consequences["training"]
        ),
        "precision": configuration.settings.precision,
        "variants": {
            name: value
            for name, value in variants.items()
            if value != "published" or not configuration.variants[name].later
        },
    }
    sized_model = model if size is None else f"{model}-{f'n{size}' if isinstance(size, int) else size}"
    classes = {part: place for part, place in places.items() if place}
    directories = {seed: configuration.paths.run(task, sized_model, seed) for seed in seeds}
    return [
        Run(task, model, sized_model, paper_size, seed, directory, {**spec, "seed": seed}, classes)
        for seed, directory in directories.items()
    ]


def check_is_run(configuration: Configuration, task: str) -> None:
    """A `UserError` where there is no such task, or it is left out."""
    known(task, configuration.tasks, "task", "the configured tasks")
    if task in configuration.left_out:
        raise UserError(f"the task {task} is left out, by leave_out or only in config.yaml", "config.yaml", task)


def find(configuration: Configuration, task: str, sized_model: str, seed: int) -> Run:
    """The run in the directory `<task>/<sized model>/seed<seed>`; a seed need not be configured."""
    check_is_run(configuration, task)
    candidates = {run.sized_model: run for run in runs_on(configuration, task, [seed])}
    return candidates[known(sized_model, candidates, "model", f"task {task} at scale {configuration.scale_name}")]


def extra_cases(configuration: Configuration) -> list[Case]:
    """The cases of models that joined tasks in config/models.yaml, the user's own; without controls."""
    return [
        Case(task, model, size)
        for task, entry in configuration.tasks.items()
        for model, settings in entry.models.items()
        if settings.extra and not configuration.models[model].control_of
        for size in settings.run_sizes
    ]


def seeds_are_blocks(configuration: Configuration, task: str, model: str) -> bool:
    """Whether the model's data on the task differ from seed to seed, so that runs are comparable within a seed only."""
    return any(effect.blocks for effect in _effects(configuration, task, model))


def resampled(configuration: Configuration, task: str, model: str) -> float:
    """The ratio n_test / n_train of a seed's data, where they are a random part of the same data; else 0."""
    return max((effect.resampled or 0.0 for effect in _effects(configuration, task, model)), default=0.0)


def _effects(configuration: Configuration, task: str, model: str) -> list[Effect]:
    taken = variants_taken(configuration, task, model)
    return [configuration.variants[name].values[value] for name, value in taken.items()]


def variants_taken(configuration: Configuration, task: str, model: str) -> dict[str, str]:
    """The value of each variant that concerns this model on this task.

    The most particular choice wins: the model's on this task, the task's, then config.yaml's; by name, then by default.
    A control takes those of its model.
    """
    entry, model = configuration.tasks[task], configuration.models[model].control_of or model
    choices = [entry.models[model].variants, entry.variants, configuration.settings.variants]
    variants = configuration.variants.items()
    return {name: variant.taken(name, choices) for name, variant in variants if variant.concerns(task, model)}


def code_of(run: Run) -> str:
    """Digest (hidden_dynamics.system.digest) of a run's code: network, core, task, training and how they are set up."""
    return code_digest(*TRAINING, *run.classes.values())
