"""Runs held to what their classes take, before the first of them is trained: hyperparameters, settings of tasks and
data; and to what is used of what is set. No numerical library is imported."""

import ast
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hidden_dynamics.configuration import schema
from hidden_dynamics.configuration.constructors import (
    Definition,
    arguments_of,
    find,
    line_of,
    method,
    names_of,
    place_in,
)
from hidden_dynamics.configuration.entries import closest, merge, typed
from hidden_dynamics.configuration.loading import Configuration
from hidden_dynamics.configuration.runs import Run, all_runs
from hidden_dynamics.errors import UserError


class Mistake(NamedTuple):
    """A value that is not taken: its key in a task, such as "settings.bptt"."""

    key: str
    text: str


def check_runs(configuration: Configuration) -> None:
    """Refuse the first run that its classes would refuse: a `UserError` with the file that sets what is wrong, and its
    key."""
    seen: set[str] = set()
    for run in all_runs(configuration, configuration.seeds[:1]):
        for wrong in _mistakes(configuration, run, seen):
            raise _named(configuration, run, wrong)


def _mistakes(configuration: Configuration, run: Run, seen: set[str]) -> Iterator[Mistake]:
    spec, task = run.spec, run.classes["task_class"]
    module = configuration.datasets[spec["dataset"]].module
    yield from _overruled(configuration, run)
    settings, data, classes = spec["task_settings"], spec["data"], run.classes
    parts = [
        (lambda: _of_hyperparameters(run), [spec["hyperparameters"], classes]),
        (lambda: _of_settings("settings", settings, _method(task, "__init__")), [settings, task]),
        (lambda: _of_settings("data", data, find(f"{module}.prepare")), [data, module]),
        (lambda: _unused(run), [spec["training"], classes]),
    ]
    for check, of in parts:  # most runs share most of them
        if (key := json.dumps(of, sort_keys=True)) not in seen:
            seen.add(key)
            yield from check()


def _overruled(configuration: Configuration, run: Run) -> Iterator[Mistake]:
    """Settings of the user's that a variant which is taken overrules."""
    variants, of_task = configuration.variants, configuration.settings.overrides.tasks.get(run.task) or {}
    of_model = of_task.get("models", {}).get(run.model, {})
    for part in ("hyperparameters", "settings", "training"):
        chosen = merge(of_task.get(part, {}), of_model.get(part, {}) if part != "settings" else {})
        for variant, value in run.spec["variants"].items() if chosen else ():
            effect = variants[variant].values[value].given().get(part, {})
            for name in chosen.keys() & effect.keys():
                if merge(chosen[name], effect[name]) != merge(effect[name], chosen[name]):
                    choice = " or ".join(variants[variant].values)
                    yield Mistake(
                        f"{part}.{name}", f"the variant {variant}, {value}, decides it: choose {choice} there"
                    )


def _of_hyperparameters(run: Run) -> Iterator[Mistake]:
    given, kind = run.spec["hyperparameters"], arguments_of(run.classes["network"], run.classes.get("core"))
    names = [str(field.alias) for field in kind.model_fields.values()]
    for name in given if kind.model_config.get("extra") == "forbid" else ():
        if name not in names:
            text = f"unknown.{closest(name, names)} {run.model} takes {', '.join(names)}."
            yield Mistake(f"hyperparameters.{name}", text)
    yield from _of_entry("hyperparameters.hidden_size", schema.Units, given.get("hidden_size", 1))
    yield from _of_entry("hyperparameters", kind, given)


def _of_settings(name: str, settings: Mapping[str, Any], function: Definition | None) -> Iterator[Mistake]:
    """What the entry refuses that a function or constructor reads its argument `settings` as, by `typed`; where it
    hands it on, the one that the next reads it as."""
    for call in ast.walk(function.node) if function else ():
        if function and isinstance(call, ast.Call) and any(ast.unparse(each) == "settings" for each in call.args):
            called = find(place_in(function.module, call.func))
            if called and called.node.name == typed.__name__:
                kind = names_of(function.module).get(ast.unparse(call.args[0]))
                yield from _of_entry(name, kind, settings) if kind else ()
            else:
                yield from _of_settings(name, settings, called)
            return
    named = {each.arg for each in ast.walk(function.node) if isinstance(each, ast.arg)} if function else set()
    used = {each.id for each in ast.walk(function.node) if isinstance(each, ast.Name)} if function else set()
    if settings and "settings" in named - used:
        yield Mistake(name, "expected none: nothing reads them")


def _of_entry(name: str, kind: Any, content: Any) -> Iterator[Mistake]:
    try:
        typed(kind, content, "", name)
    except UserError as error:
        yield Mistake(error.key, str(error).removeprefix(f": {error.key}: "))


def _unused(run: Run) -> Iterator[Mistake]:
    """Settings of the training for which its task or network has no use."""
    training, task, network = run.spec["training"], run.classes["task_class"], run.classes["network"]
    schedule = _method(task, "schedule")
    segments = schedule is not None and "SegmentSchedule" in ast.unparse(schedule.node)
    for name in ("rates", "drop_last", "fixed_batches", "iterations_per_epoch") if segments else ():
        if name in training:
            yield Mistake(f"training.{name}", "it is for batches of examples, not for segments of a text")
    if "iterations_per_epoch" in training and any("self.train_size = " in ast.unparse(e.node) for e in line_of(task)):
        text = "it is for data drawn without end: here an epoch is all examples"
        yield Mistake("training.iterations_per_epoch", text)
    if training.get("alternating") and line_of(network) and not _method(network, "parts"):
        yield Mistake("training.alternating", f"{run.spec['network']} has no parts to train in turn")
    if training.get("record_predictions") and line_of(task) and not _method(task, "predictions"):
        yield Mistake("training.record_predictions", f"{run.spec['task_class']} makes none")


def _method(dotted: str, name: str) -> Definition | None:
    definition = method(line_of(dotted), name)
    return definition and definition[0]


def _named(configuration: Configuration, run: Run, wrong: Mistake) -> UserError:
    """The mistake with its file and key: where the last layer that holds its name sets it."""
    part, _, rest = wrong.key.partition(".")
    prefixed = ["models", run.model] if part == "hyperparameters" else []
    key, names = ".".join([run.task, *prefixed, wrong.key]), set((rest or part).split(".")[-1:])
    places = places_of(configuration, run, names)
    file = places[-1] if places else "config/tasks.yaml"
    prefix = {"config.yaml": "overrides.tasks.", "config/scales.yaml": f"{configuration.scale_name}.tasks."}
    if file in ("config/models.yaml", "config/variants.yaml"):
        key = f"{run.model}.{wrong.key}" if file == "config/models.yaml" else wrong.key
    key = prefix.get(file, "") + key
    return UserError(f"{file}: {key}: {wrong.text}", file, key)


def places_of(configuration: Configuration, run: Run, names: Iterable[str]) -> list[str]:
    """The files that set one of these of a run, but for config/tasks.yaml; the later win."""
    entry = configuration.models[run.model]
    models = [entry, *([configuration.models[entry.control_of]] if entry.control_of else [])]
    places = {
        "config/models.yaml": [model.given() for model in models],
        "config/variants.yaml": [configuration.variants[name].given() for name in run.spec["variants"]],
        "config/scales.yaml": configuration.scale.tasks.get(run.task),
        "config.yaml": configuration.settings.overrides.tasks.get(run.task),
    }
    return [place for place, held in places.items() if any(f'"{name}":' in json.dumps(held) for name in names)]
