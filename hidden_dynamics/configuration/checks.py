"""Runs held to what their classes take, before the first of them is trained: names of hyperparameters and of settings,
values whose types their source tells; and to what is used of what is set. The rest is refused where a run begins."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from hidden_dynamics.configuration import schema
from hidden_dynamics.configuration.constructors import Types, arguments_of, constructor_of, find, line_of, settings_of
from hidden_dynamics.configuration.entries import closest, merge, typed
from hidden_dynamics.configuration.loading import Configuration
from hidden_dynamics.configuration.runs import Run, all_runs
from hidden_dynamics.errors import UserError


def check_runs(configuration: Configuration) -> None:
    """Refuse the first run that its classes would refuse, or that has a setting which nothing reads: a `UserError` with
    the file that sets what is wrong, and its key."""
    for run in all_runs(configuration, configuration.seeds[:1]):
        _check_overruled(configuration, run)
        spec, task = run.spec, line_of(run.classes["task_class"])
        taken = arguments_of(line_of(run.classes["network"]), line_of(run.classes.get("core", "")))
        if taken and "hidden_size" in taken:
            taken = taken | {"hidden_size": taken["hidden_size"]._replace(kind=schema.Units)}
        _check(configuration, run, "hyperparameters", spec["hyperparameters"], taken)
        constructor = constructor_of(task)
        _check(configuration, run, "settings", spec["task_settings"], constructor and settings_of(constructor[0]))
        prepare = find(f"{configuration.datasets[spec['dataset']].module}.prepare")
        _check(configuration, run, "data", spec["data"], prepare and settings_of(prepare))


def _check(configuration: Configuration, run: Run, part: str, given: Mapping[str, Any], taken: Types | None) -> None:
    """Refuse the first of what is given for a part of the run that is not among what is taken, and what is needed and
    not given; None takes all."""
    if taken is None:
        return
    for name, value in given.items():
        key = f"{part}.{name}"
        if name not in taken:
            text = f"unknown.{closest(name, taken)} {run.model} on {run.task} takes {', '.join(taken) or 'none'}."
            raise _refused(configuration, run, key, text)
        try:
            typed(taken[name].kind, value, "", key, strict=True)
        except UserError as error:
            text = str(error).removeprefix(f": {error.key}: ")
            raise _refused(configuration, run, error.key, text) from None
    if lacking := [name for name, argument in taken.items() if argument.needed and name not in given]:
        file, of = ("config/models.yaml", run.model) if part == "hyperparameters" else ("config/tasks.yaml", run.task)
        key = f"{of}.{part}.{lacking[0]}"
        raise UserError(f"{file}: {key}: missing. {run.model} on {run.task} needs {', '.join(lacking)}.", file, key)


def _check_overruled(configuration: Configuration, run: Run) -> None:
    """Refuse a setting of the user's that a variant which is taken overrules."""
    variants, of_task = configuration.variants, configuration.settings.overrides.tasks.get(run.task) or {}
    of_model = of_task.get("models", {}).get(run.model, {})
    for part in ("hyperparameters", "settings", "training"):
        of_size = of_model.get("by_size", {}).get(run.paper_size, {})
        chosen = merge(of_task.get(part, {}), of_model.get(part, {}), of_size.get(part, {}))
        for variant, value in run.spec["variants"].items() if chosen else ():
            effect = variants[variant].values[value].given().get(part, {})
            for name in chosen.keys() & effect.keys():
                if merge(chosen[name], effect[name]) != merge(effect[name], chosen[name]):
                    choice = " or ".join(variants[variant].values)
                    text = f"the variant {variant}, {value}, decides it: choose {choice} there"
                    of = f"by_size.{run.paper_size}." if name in of_size.get(part, {}) else ""
                    raise _refused(configuration, run, f"{of}{part}.{name}", text)


def _refused(configuration: Configuration, run: Run, key: str, text: str) -> UserError:
    """The error of a key of the run's task, with the file and the key there: where the last layer that has its name
    sets it."""
    places = places_of(configuration, run, [key.rpartition(".")[2]])
    file = places[-1] if places else "config/tasks.yaml"
    within = f"{run.task}.models.{run.model}." if key.startswith(("hyperparameters.", "by_size.")) else f"{run.task}."
    prefix = {
        "config.yaml": f"overrides.tasks.{within}",
        "config/scales.yaml": f"{configuration.scale_name}.tasks.{within}",
        "config/tasks.yaml": within,
        "config/models.yaml": f"{run.model}.",
        "config/variants.yaml": "",
    }[file]
    return UserError(f"{file}: {prefix}{key}: {text}", file, f"{prefix}{key}")


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
