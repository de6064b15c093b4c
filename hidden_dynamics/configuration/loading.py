"""The configuration at one scale: config.yaml and config/, typed, merged and checked against each other.

Nothing here imports a numerical library: Snakemake reads it before it builds its graph, on every node.
"""

import copy
import functools
import itertools
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hidden_dynamics.configuration import schema
from hidden_dynamics.configuration.entries import known, merge, mistake, read_yaml, typed, with_types
from hidden_dynamics.configuration.paths import Paths
from hidden_dynamics.errors import UserError
from hidden_dynamics.system.files import ROOT

ENVIRONMENT = "HIDDEN_DYNAMICS_CONFIG"  # the settings of the workflow that runs a script, as JSON
PARTS = {
    "datasets": dict[schema.Name, schema.Dataset],
    "metrics": dict[schema.Name, schema.Metric],
    "models": dict[schema.Name, schema.Model],
    "tasks": dict[schema.Name, schema.Task],
    "variants": dict[schema.Name, schema.Variant],
    "scales": dict[schema.Name, schema.Scale],
    "artifacts": dict[schema.ArtifactName, dict[str, Any]],
}
RECURRENT_NETWORK = "hidden_dynamics.models.recurrent_network.RecurrentNetwork"  # of tasks that name no other


@dataclass(frozen=True)
class Configuration:
    """A validated configuration at one scale.

    Attributes:
        tasks: merged with scale, models and overrides, their grids written out as sizes.
        papers_tasks: as config/tasks.yaml has them.
        artifact_layers: (where they stand, the settings with these merged in) of config/artifacts.yaml, then of a scale
            and the overrides where they change the artifact: a mistake is named where it was made.
    """

    settings: schema.Settings
    scale: schema.Scale
    datasets: Mapping[str, schema.Dataset]
    metrics: Mapping[str, schema.Metric]
    models: Mapping[str, schema.Model]
    tasks: Mapping[str, schema.Task]
    papers_tasks: Mapping[str, schema.Task]
    variants: Mapping[str, schema.Variant]
    artifact_layers: Mapping[str, list[tuple[str, Mapping[str, Any]]]]

    @functools.cached_property
    def artifacts(self) -> Mapping[str, Mapping[str, Any]]:
        """The settings of each; hidden_dynamics.artifacts gives them their types and methods."""
        return {name: layers[-1][1] for name, layers in self.artifact_layers.items()}

    @property
    def scale_name(self) -> str:
        return self.settings.scale

    @property
    def seeds(self) -> list[int]:
        return list(self.settings.seeds or self.scale.seeds)

    def seeds_of(self, task: str) -> list[int]:
        """The user's, the task's own or the scale's."""
        return list(self.settings.seeds or self.tasks[task].seeds or self.scale.seeds)

    @property
    def paths(self) -> Paths:
        return Paths(self.settings.data.directory, self.results)

    @property
    def results(self) -> str:
        """Directory of this scale's results, relative to the working directory."""
        return f"{self.settings.results}/{self.scale_name}"

    @property
    def published_in(self) -> str:
        """Directory of this scale's publication."""
        return f"{self.settings.evidence}/{self.scale_name}"

    @property
    def verdicts_beside(self) -> str | None:
        """The published verdicts of the scale that this one names (`beside`)."""
        return self.scale.beside and f"{self.settings.evidence}/{self.scale.beside}/verdicts.csv"

    @property
    def together(self) -> Sequence[str]:
        """The coordinates (model, seed) whose runs share a job: the settings' choice, or else the scale's."""
        given = self.settings.together
        return self.scale.together if given is None else given

    def device_of(self, task: str) -> schema.Device:
        """The device on which the task's runs are trained and measured: the task's own, that of all tasks on its
        dataset, or the default."""
        given, dataset = self.settings.device, self.tasks[task].dataset
        if isinstance(given, str):
            return given
        of_dataset = given.get(dataset) if dataset not in self.tasks else None  # a task's name means that task alone
        return given.get(task) or of_dataset or given.get("default", "auto")

    @property
    def runs_per_gpu(self) -> int:
        """The number of runs that are trained side by side on one GPU."""
        return self.settings.runs_per_gpu or self.scale.runs_per_gpu

    def title_of(self, dataset: str) -> str:
        """The title of a dataset; its name where it is no longer configured."""
        return self.datasets[dataset].title if dataset in self.datasets else dataset

    @functools.cached_property
    def chosen_tasks(self) -> list[str]:
        """The tasks that `only` names, of which all or some models, or sizes, are run."""
        return [name.partition("/")[0] for name in self.settings.only]

    @functools.cached_property
    def left_out(self) -> dict[str, str]:
        """Tasks not run, with the title to show: the dataset's (`leave_out`) or the task's (`only`)."""
        out, only = self.settings.leave_out, self.chosen_tasks or self.tasks
        return {
            name: self.title_of(task.dataset) if task.dataset in out else task.title
            for name, task in self.tasks.items()
            if task.dataset in out or name not in only
        }

    def is_run(self, task: str, model: str, size: object) -> bool:
        """Whether the model of one of the paper's sizes is run on the task: none of them is left out."""
        only, names = self.settings.only, (task, f"{task}/{model}", f"{task}/{model}/{size}")
        return task not in self.left_out and (not only or any(name in only for name in names))

    def data_title(self, task: str) -> str:
        """The title of the task's dataset as it is prepared for the task."""
        return self.datasets[self.tasks[task].dataset].titled(self.tasks[task].data)

    def title_as_run(self, task: str) -> str:
        """The task's title with the data that it runs on, where they are not the paper's: "Free Spoken Digit Dataset,
        previous frame", "PMNIST of MNIST averaged to 14 × 14"."""
        title, data, replaced = self.tasks[task].title, self.data_title(task), self.replaced(task)
        original = self.title_of(replaced) if replaced else self.reduced(task)
        if original is None:
            return title
        return data + title.removeprefix(original) if title.split(",")[0] == original else f"{title} of {data}"

    def reduced(self, task: str) -> str | None:
        """The title of the paper's data, where the task has them prepared in another way that their title names."""
        own, papers = self.tasks[task], self.papers_tasks[task]
        dataset = self.datasets[papers.dataset]
        differs = own.dataset == papers.dataset and dataset.titled(own.data) != dataset.titled(papers.data)
        return dataset.titled(papers.data) if differs else None

    def replaced(self, task: str) -> str | None:
        """The dataset that the task's stands in for: config/tasks.yaml's, where scale or overrides name another.

        Where config/tasks.yaml itself names a stand-in, it is the first that this one stands in for.
        """
        original, dataset = self.papers_tasks[task].dataset, self.tasks[task].dataset
        if dataset != original:
            return original
        return next(iter(self.datasets[dataset].originals), None)

    def changed(self, task: str) -> list[str]:
        """The keys of a task that the scale or the user sets otherwise than config/tasks.yaml."""
        changes = self.scale.tasks.get(task), self.settings.overrides.tasks.get(task)
        keys = [key for change in changes for key in change or ()]
        own, papers = self.tasks[task].given(), _with_grids(self.papers_tasks[task]).given()
        return [key for key in dict.fromkeys(keys) if own.get(key) != papers.get(key)]

    @functools.cached_property
    def resolved(self) -> dict[Any, Any]:
        """The runs that hidden_dynamics.configuration.runs has resolved, by case and seed."""
        return {}


def load(settings: Mapping[str, object] | None = None, directory: Path = ROOT) -> Configuration:
    """Read, validate and merge the configuration of a directory with config.yaml and config/; a `UserError` names the
    file and key of a mistake. `settings` stand in the place of config.yaml, as Snakemake hands it over, with its
    command line merged in."""
    given = read_yaml(directory / "config.yaml") if settings is None else with_types(settings)
    chosen = typed(schema.Settings, given, "config.yaml")
    raw = {name: read_yaml(directory / "config" / f"{name}.yaml") for name in PARTS}
    parts = {name: typed(kind, raw[name], f"config/{name}.yaml") for name, kind in PARTS.items()}
    scale = known(chosen.scale, parts["scales"], "scale", "config.yaml: scale")
    if beside := parts["scales"][scale].beside:
        known(beside, parts["scales"], "scale", f"config/scales.yaml: {scale}.beside")
    configuration = Configuration(
        settings=chosen,
        scale=parts["scales"][scale],
        tasks=_merge_tasks(parts, raw, scale, given),
        papers_tasks=parts["tasks"],
        artifact_layers=_merge_artifacts(raw, scale, given),
        **{name: parts[name] for name in ("datasets", "metrics", "models", "variants")},
    )
    _check_names(configuration)
    return replace(configuration, tasks={name: _as_prepared(configuration, name) for name in configuration.tasks})


def _merge_tasks(parts: Mapping, raw: Mapping, scale: str, settings: Mapping) -> dict[str, schema.Task]:
    _check_tasks(parts, parts["tasks"], "config/tasks.yaml")
    content = copy.deepcopy(raw["tasks"])
    for model, entry in parts["models"].items():
        for task, joined in entry.tasks.items():
            known(task, content, "task", f"config/models.yaml: {model}.tasks")
            models = content[task]["models"]  # an anchor may have made them those of another task, too
            if model in models:
                raise mistake(f"config/models.yaml: {model}.tasks.{task}", "config/tasks.yaml configures it already.")
            content[task] = content[task] | {"models": models | {model: joined.given() | {"extra": True}}}
    tasks = _checked_tasks(parts, content, "config/models.yaml: tasks")
    for origin, changes in _layers("tasks", raw, scale, settings).items():
        for task, override in changes.items():
            known(task, content, "task", origin)
            if override.get("dataset", content[task]["dataset"]) != content[task]["dataset"]:
                content[task].pop("data", None)  # settings of another dataset mean nothing to this one
            content[task] = merge(content[task], override)
        tasks = _checked_tasks(parts, content, origin)
    return {name: _with_grids(task) for name, task in tasks.items()}


def _layers(part: str, raw: Mapping, scale: str, settings: Mapping) -> dict[str, Mapping[str, Any]]:
    """The changes of the scale, then of the user, to "tasks" or "artifacts", by where they stand."""
    return {
        f"config/scales.yaml: {scale}.{part}": raw["scales"][scale].get(part, {}),
        f"config.yaml: overrides.{part}": settings["overrides"].get(part, {}),
    }


def _checked_tasks(parts: Mapping, content: Mapping, origin: str) -> dict[str, schema.Task]:
    file, _, key = origin.partition(": ")
    tasks = typed(PARTS["tasks"], content, file, key)
    _check_tasks(parts, tasks, origin)
    return tasks


def _with_grids(task: schema.Task) -> schema.Task:
    """The task with every model's grid of hyperparameters written out: a size for each combination."""
    return task.model_copy(update={"models": {name: _with_grid(model) for name, model in task.models.items()}})


def _with_grid(model: schema.TaskModel) -> schema.TaskModel:
    if model.grid is None:
        return model
    points = [dict(zip(model.grid, point, strict=True)) for point in itertools.product(*model.grid.values())]
    by_size = {"-".join(f"{k}{v}" for k, v in point.items()): {"hyperparameters": point} for point in points}
    return schema.TaskModel.model_validate({**model.given(), "sizes": list(by_size), "by_size": by_size})


def _merge_artifacts(raw: Mapping, scale: str, settings: Mapping) -> dict[str, list[tuple[str, Mapping[str, Any]]]]:
    layers = {name: [(f"config/artifacts.yaml: {name}", content)] for name, content in raw["artifacts"].items()}
    for origin, changes in _layers("artifacts", raw, scale, settings).items():
        for name, change in changes.items():
            of_one = layers[known(name, layers, "artifact", origin)]
            of_one.append((f"{origin}.{name}", merge(of_one[-1][1], change)))
    return layers


def _as_prepared(configuration: Configuration, name: str) -> schema.Task:
    """The task with its data prepared as variants have it; a `UserError` where a stand-in is in their place."""
    task, chosen = configuration.tasks[name], configuration.settings.variants
    preparing = {key: one for key, one in configuration.variants.items() if one.prepares and name in (one.tasks or ())}
    for variant, entry in preparing.items():
        value = entry.taken(variant, [task.variants, chosen])
        data = entry.values[value].data
        if data and (replaced := configuration.replaced(name)):
            place = f"overrides.tasks.{name}.variants" if variant in task.variants else "variants"
            original, title = map(configuration.title_of, (replaced, task.dataset))
            text = f"{value} is of {original}, in whose place task {name} has {title}. Leave it out."
            raise mistake(f"config.yaml: {place}.{variant}", text)
        task = task.model_copy(update={"data": task.data | data})
    return task


def _check_tasks(parts: Mapping, tasks: Mapping[str, schema.Task], origin: str) -> None:
    """Every name that a task uses must be defined, and its runs must differ in name; `origin` was merged last."""
    within = f"{origin}." if ": " in origin else f"{origin}: "
    for name, task in tasks.items():
        known(task.dataset, parts["datasets"], "dataset", f"{within}{name}.dataset")
        _check_variants(parts["variants"], task.variants, f"{within}{name}.variants")
        _check_metrics(parts, name, task, within)
        for model, entry in task.models.items():
            known(model, parts["models"], "model", f"{within}{name}.models")
            _check_variants(parts["variants"], entry.variants, f"{within}{name}.models.{model}.variants")
            for variant in entry.variants:
                if variant in parts["variants"] and parts["variants"][variant].prepares:
                    text = "all models of a task have the same data: expected it among the task's variants."
                    raise mistake(f"{within}{name}.models.{model}.variants.{variant}", text)
            _check_sizes(name, task, model, entry, within)
            joined = parts["models"][model].tasks.get(name, entry)
            papers = parts["tasks"][name].models.get(model, joined).run_sizes  # of which a user may run some
            for size in entry.by_size:
                if size not in (*entry.run_sizes, *papers):  # as "128" is not 128
                    text = f"{size!r} is none of the model's sizes, {papers}."
                    raise mistake(f"{within}{name}.models.{model}.by_size", text)
            for training in filter(None, [entry.training, *(of.training for of in entry.by_size.values())]):
                file, _, key = f"{within}{name}.models.{model}.training".partition(": ")
                typed(schema.Training, merge(task.training.given(), training), file, key)


def _check_variants(variants: Mapping[str, schema.Variant], chosen: Mapping[str, str], place: str) -> None:
    for name, value in chosen.items():
        known(name, ["default", *variants], "variant", place)
        known(value, schema.FOR_ALL if name == "default" else variants[name].values, "value", f"{place}.{name}")


def _check_metrics(parts: Mapping, name: str, task: schema.Task, within: str) -> None:
    known(task.training.report.metric, parts["metrics"], "metric", f"{within}{name}.training.report.metric")
    if task.training.averaging is not None:
        place = f"{within}{name}.training.averaging.metric"
        metric = parts["metrics"][known(task.training.averaging.metric, parts["metrics"], "metric", place)]
        if metric.better != "lower":
            raise mistake(place, "expected a metric of which less is better, such as validation_loss.")


def _check_sizes(name: str, task: schema.Task, model: str, entry: schema.TaskModel, within: str) -> None:
    if entry.grid is not None and (entry.sizes or entry.by_size):
        raise mistake(f"{within}{name}.models.{model}", "a grid makes the sizes: leave out sizes and by_size.")
    run_as: dict[Any, Any] = {}
    for size in entry.run_sizes:
        mapped = None if size is None else task.sizes.get(size, size)
        if mapped in run_as:
            both = f"{run_as[mapped]} and {size} of {model} both become {mapped}"
            raise mistake(f"{within}{name}.sizes", f"{both}: expected a different size for each: it names a run.")
        run_as[mapped] = size


def _check_names(c: Configuration) -> None:
    """Every name that one file uses must be defined in another; artifacts are left to their kinds."""
    for name, dataset in c.datasets.items():
        for original in dataset.originals:
            known(original, c.datasets, "dataset", f"config/datasets.yaml: {name}.stand_in_for")
    for key, names in {"data.copies": c.settings.data.copies, "leave_out": c.settings.leave_out}.items():
        for name in names:
            known(name, c.datasets, "dataset", f"config.yaml: {key}")
    for name in c.settings.device if isinstance(c.settings.device, dict) else ():
        known(name, ["default", *c.tasks, *c.datasets], "task or dataset", f"config.yaml: device.{name}")
    for parts in (name.split("/", 2) for name in c.settings.only):
        if not all(parts):
            raise mistake("config.yaml: only", f"{'/'.join(parts)} has an empty part: expected task/model/size.")
        task, model, size = (*parts, "", "")[:3]
        if task not in c.tasks and (places := [name for name, one in c.tasks.items() if task in one.models]):
            raise mistake("config.yaml: only", f"'{task}' is a model: name it with its task, as in {places[0]}/{task}")
        models = c.tasks[known(task, c.tasks, "task", "config.yaml: only")].models
        if model:
            known(model, models, "model", f"config.yaml: only: {task}")
        if size:
            known(size, map(str, models[model].run_sizes), "size", f"config.yaml: only: {task}/{model}")
    for name in c.settings.forecast.artifacts or ():
        known(name, c.artifacts, "artifact", "config.yaml: forecast.artifacts")
    _check_variants(c.variants, c.settings.variants, "config.yaml: variants")
    for name, model in c.models.items():
        for task in model.tasks if model.control_of else ():
            known(model.control_of, c.tasks[task].models, "model", f"config/models.yaml: {name}.control_of")
    for name, variant in c.variants.items():
        for what, names, entries in (("model", variant.models, c.models), ("task", variant.tasks, c.tasks)):
            for entry in names or ():
                known(entry, entries, what, f"config/variants.yaml: {name}.{what}s")


def parse_settings(text: str | None) -> dict[str, Any]:
    """The settings that a script's `--config` gives, merged over config.yaml; without it, those of the workflow that
    runs the script, as the environment has them, or config.yaml alone. A `UserError` where they are no JSON object."""
    base = read_yaml(ROOT / "config.yaml")
    text = os.environ.get(ENVIRONMENT) if text is None else text
    if not text:
        return base
    return merge(base, with_types(json_object(text, "--config")))


def json_object(text: str, option: str) -> dict[str, Any]:
    """The JSON object that an option of the command line gives; a `UserError` where it is none."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"{option} is not valid JSON: {error}", key=option) from None
    if not isinstance(content, dict):
        example = '{"name": "value"}'
        raise UserError(f"{option} must be a JSON object, as {example} is, found {text}", key=option)
    return content
