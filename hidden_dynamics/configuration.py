"""What is configured: settings, scales, tasks, models, datasets, readings and artifacts, validated and merged.

Nothing here imports a numerical library: Snakemake reads it before it builds its graph, on every node.
"""

import copy
import difflib
import itertools
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from hidden_dynamics.errors import UserError

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("datasets", "models", "tasks", "readings", "scales", "artifacts")
# To JSON Schema 2.0 is an integer; as a seed or a number of epochs it is not.
VALIDATOR = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int),
)


@dataclass(frozen=True)
class Configuration:
    """A validated configuration at one scale.

    `tasks` are merged with scale, models and overrides, and their grids written out as sizes; `artifacts` are merged
    with the scale. `originals` are the datasets of the tasks as config/tasks.yaml names them.
    """

    settings: Mapping[str, Any]
    scale: Mapping[str, Any]
    datasets: Mapping[str, Any]
    models: Mapping[str, Any]
    tasks: Mapping[str, Any]
    originals: Mapping[str, str]
    readings: Mapping[str, Any]
    artifacts: Mapping[str, Any]

    @property
    def scale_name(self) -> str:
        return self.settings["scale"]

    @property
    def seeds(self) -> list[int]:
        return list(self.settings["seeds"] or self.scale["seeds"])

    @property
    def results(self) -> str:
        """Directory of this scale's results, relative to the working directory."""
        return f"{self.settings['results']}/{self.scale_name}"

    @property
    def together(self) -> list[str]:
        """Which runs of a task share a job: as the settings say, or else the scale."""
        given = self.settings.get("together")
        return self.scale["together"] if given is None else given

    def title_of(self, dataset: str) -> str:
        """What a dataset is called; its name, where it is not configured any more."""
        return self.datasets.get(dataset, {}).get("title", dataset)

    def replaced(self, task: str) -> str | None:
        """The dataset that the task's stands in for: config/tasks.yaml's, where scale or overrides name another.

        Where config/tasks.yaml itself names a stand-in, it is the first that this one stands in for.
        """
        original, dataset = self.originals[task], self.tasks[task]["dataset"]
        if dataset != original:
            return original
        return next(iter(listed(self.datasets[dataset]["stand_in_for"])), None)


def first_alike(configuration: Configuration, artifact: str, kinds: Iterable[str], keys: Iterable[str]) -> str:
    """The first artifact of these kinds whose `keys` are this one's: those alike share a measurement."""
    entry, names = configuration.artifacts[artifact], list(keys)
    return next(
        name
        for name, other in configuration.artifacts.items()
        if other["kind"] in kinds and all(other.get(key) == entry.get(key) for key in names)
    )


def load(settings: Mapping[str, Any] | None = None, directory: Path = ROOT) -> Configuration:
    """Read, validate and merge the configuration.

    Args:
        settings: the content of config.yaml, as Snakemake hands it over with its command line merged in; None reads the
            file.
        directory: where config.yaml and config/ are.

    Raises:
        UserError: a file is missing or malformed, or names something that does not exist; the message names file and
            key.
    """
    settings = read_yaml(directory / "config.yaml") if settings is None else _typed(with_number_keys(settings))
    validate(settings, "settings", "config.yaml")
    parts = {name: read_yaml(directory / "config" / f"{name}.yaml") for name in PARTS}
    for name, content in parts.items():
        validate(content, name, f"config/{name}.yaml")
    scale = parts["scales"][known(settings["scale"], parts["scales"], "scale", "config.yaml: scale")]
    tasks = _merge_tasks(parts, scale, settings)
    parts["artifacts"] = _merge_artifacts(parts["artifacts"], scale, settings)
    configuration = Configuration(
        settings=settings,
        scale=scale,
        tasks=tasks,
        originals={task: entry["dataset"] for task, entry in parts["tasks"].items()},
        **{name: parts[name] for name in ("datasets", "models", "readings", "artifacts")},
    )
    _check_names(configuration)
    return configuration


def read_yaml(path: Path) -> Any:
    """The content of a YAML file; a `UserError` that names the file and line where it cannot be read."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except FileNotFoundError:
        raise UserError(f"{path} is missing: it belongs to the project; restore it with git.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Refuses a key that stands twice in one mapping, of which YAML would keep the last without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        seen = set()
        for key, _ in node.value:
            name = (key.tag, key.value)
            if isinstance(key, yaml.ScalarNode) and name in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key '{key.value}' stands twice", key.start_mark
                )
            seen.add(name if isinstance(key, yaml.ScalarNode) else id(key))
        return super().construct_mapping(node, deep)


def validate(content: Any, schema: str, origin: str) -> None:
    """Hold `content` to config/schemas/<schema>.json; the first error becomes a `UserError` that names file and key."""
    document = json.loads((ROOT / "config" / "schemas" / f"{schema}.json").read_text(encoding="utf-8"))
    validator = VALIDATOR(document)
    error = jsonschema.exceptions.best_match(validator.iter_errors(with_text_keys(content)))
    if error is None:
        return
    where = ".".join(str(part) for part in error.absolute_path) or "(top level)"
    raise UserError(f"{origin}: {where}: {_explain(error)}")


def known(name: Any, names: Iterable[str], what: str, origin: str) -> Any:
    """`name`, if it is one of `names`; else a `UserError` that lists them and offers the closest."""
    names = [str(n) for n in names]
    if str(name) in names:
        return name
    close = difflib.get_close_matches(str(name), names, n=1)
    hint = f" Did you mean '{close[0]}'?" if close else ""
    raise UserError(f"{origin}: unknown {what} '{name}'.{hint} Known: {', '.join(names)}.")


def listed(names: str | list[str] | None) -> tuple[str, ...]:
    """What a key says that takes a name, a list of names, or null."""
    return (names,) if isinstance(names, str) else tuple(names or ())


def merge(base: Any, *changes: Any) -> Any:
    """`base` with each of `changes` merged in: mappings key by key, anything else replaced; nothing in place."""
    result = copy.deepcopy(base)
    for change in changes:
        if isinstance(result, Mapping) and isinstance(change, Mapping):
            merged = {key: merge(result[key], value) if key in result else value for key, value in change.items()}
            result = {**result, **copy.deepcopy(merged)}
        else:
            result = copy.deepcopy(change)
    return result


def _merge_tasks(parts: dict, scale: Mapping, settings: Mapping) -> dict:
    tasks = copy.deepcopy(parts["tasks"])
    _check_tasks(parts, tasks, "config/tasks.yaml")
    for model, entry in parts["models"].items():
        for task, joined in entry.get("tasks", {}).items():
            known(task, tasks, "task", f"config/models.yaml: {model}.tasks")
            if model in tasks[task]["models"]:
                raise UserError(f"config/models.yaml: {model}.tasks.{task}: config/tasks.yaml configures it already.")
            tasks[task]["models"][model] = {**joined, "extra": True}
    _check_tasks(parts, tasks, "config/models.yaml: tasks")
    for change, origin in (
        (scale["tasks"], f"config/scales.yaml: {settings['scale']}.tasks"),
        (settings["overrides"].get("tasks", {}), "config.yaml: overrides.tasks"),
    ):
        for task in change:
            known(task, tasks, "task", origin)
        for task, override in change.items():
            if override.get("dataset", tasks[task]["dataset"]) != tasks[task]["dataset"]:
                tasks[task].pop("data", None)  # settings of another dataset mean nothing to this one
            tasks[task] = merge(tasks[task], override)
        validate(tasks, "tasks", origin)
        _check_tasks(parts, tasks, origin)
    for entry in tasks.values():
        entry["models"] = {model: _with_grid(settings) for model, settings in entry["models"].items()}
    return tasks


def _with_grid(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """A model's entry whose grid of hyperparameters, if it has one, is written out: a size for each combination."""
    if "grid" not in settings:
        return settings
    names, values = settings["grid"].keys(), settings["grid"].values()
    points = [dict(zip(names, point, strict=True)) for point in itertools.product(*values)]
    by_size = {"-".join(f"{k}{v}" for k, v in point.items()): {"hyperparameters": point} for point in points}
    return {**settings, "sizes": list(by_size), "by_size": by_size}


def _merge_artifacts(artifacts: Mapping, scale: Mapping, settings: Mapping) -> Mapping:
    for changes, origin in (
        (scale.get("artifacts", {}), f"config/scales.yaml: {settings['scale']}.artifacts"),
        (settings["overrides"].get("artifacts", {}), "config.yaml: overrides.artifacts"),
    ):
        for name in changes:
            known(name, artifacts, "artifact", origin)
        artifacts = merge(artifacts, changes)
        validate(artifacts, "artifacts", origin)
    return artifacts


def _check_tasks(parts: Mapping, tasks: Mapping, origin: str) -> None:
    """Every name that a task uses must be defined, and its runs must differ in name; `origin` was merged last."""
    for task, entry in tasks.items():
        known(entry["dataset"], parts["datasets"], "dataset", f"{origin}: {task}.dataset")
        for reading in entry.get("readings", {}):
            known(reading, ["default", *parts["readings"]], "reading", f"{origin}: {task}.readings")
        for model, settings in entry["models"].items():
            where = f"{origin}: {task}.models"
            known(model, parts["models"], "model", where)
            for reading in settings.get("readings", {}):
                known(reading, ["default", *parts["readings"]], "reading", f"{where}.{model}.readings")
            if "grid" in settings and ("sizes" in settings or "by_size" in settings):
                raise UserError(f"{where}.{model}: a grid makes the sizes: leave out sizes and by_size.")
            run_as: dict[Any, Any] = {}
            for size in settings.get("sizes", [None]):
                mapped = entry.get("sizes", {}).get(size, size)
                if mapped in run_as:
                    raise UserError(
                        f"{origin}: {task}.sizes: {run_as[mapped]} and {size} of {model} both become {mapped}: "
                        "expected a different size for each, because a run is named by it."
                    )
                run_as[mapped] = size


def _check_names(configuration: Configuration) -> None:
    """Every name that one file uses must be defined in another."""
    c = configuration
    for dataset, entry in c.datasets.items():
        for original in listed(entry["stand_in_for"]):
            known(original, c.datasets, "dataset", f"config/datasets.yaml: {dataset}.stand_in_for")
    for dataset in c.settings["data"].get("copies", {}):
        known(dataset, c.datasets, "dataset", "config.yaml: data.copies")
    for reading in c.settings["readings"]:
        known(reading, ["default", *c.readings], "reading", "config.yaml: readings")
    for reading, entry in c.readings.items():
        for model in entry.get("models", []):
            known(model, c.models, "model", f"config/readings.yaml: {reading}.models")
        for task in entry.get("tasks", []):
            known(task, c.tasks, "task", f"config/readings.yaml: {reading}.tasks")
    for name, artifact in c.artifacts.items():
        origin = f"config/artifacts.yaml: {name}"
        panels = artifact.get("panels", [])
        for task in artifact.get("tasks", []) + [panel["task"] for panel in panels]:
            known(task, c.tasks, "task", origin)
        shown = [*artifact.get("rows", []), *(panel for panel in panels if "model" in panel)]
        for model in artifact.get("models", []) + [row["model"] for row in shown]:
            known(model, c.models, "model", origin)
        if "task" in artifact:
            known(artifact["task"], c.tasks, "task", origin)


def parse_settings(text: str | None) -> dict[str, Any]:
    """The settings that a script's `--config` gives: a JSON object, merged over config.yaml.

    Without it, the settings of the workflow that runs the script (Snakemake's command line may have changed some, and
    hands them over in the environment), or config.yaml alone.

    Raises:
        UserError: the text is no JSON object.
    """
    base = read_yaml(ROOT / "config.yaml")
    text = os.environ.get("HIDDEN_DYNAMICS_CONFIG") if text is None else text
    if not text:
        return base
    try:
        given = json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"--config is not valid JSON: {error}") from None
    if not isinstance(given, Mapping):
        raise UserError(f'--config must be a JSON object such as \'{{"scale": "pilot"}}\', found {text}')
    return merge(base, with_number_keys(given))


def with_number_keys(value: Any) -> Any:
    """YAML's view of a JSON document: `128` as a key is a number (a size), where JSON has only text."""
    if isinstance(value, Mapping):
        return {int(k) if isinstance(k, str) and k.isdecimal() else k: with_number_keys(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [with_number_keys(item) for item in value]
    return value


def _typed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Snakemake's command line leaves text inside lists and mappings (--config seeds=[0,1]): give it its type."""

    def typed(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: typed(item) for key, item in value.items()}
        if isinstance(value, list):
            return [typed(item) for item in value]
        return _scalar(value) if isinstance(value, str) else value

    structured = ("seeds", "data", "overrides", "forecast")
    return {key: typed(value) if key in structured else value for key, value in settings.items()}


def _scalar(text: str) -> Any:
    """The number, truth value or null that `text` is in YAML; the text itself where it is none of them."""
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        return text
    return value if text and isinstance(value, int | float | None) else text


def with_text_keys(value: Any) -> Any:
    """JSON's view of a YAML document: keys are text (YAML reads `128:` as a number)."""
    if isinstance(value, Mapping):
        return {str(key): with_text_keys(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [with_text_keys(item) for item in value]
    return value


def _explain(error: jsonschema.ValidationError) -> str:
    message = error.message if len(error.message) < 300 else error.message[:300] + " …"
    if error.validator == "additionalProperties" and isinstance(error.instance, Mapping):
        allowed = list(error.schema.get("properties", {}))
        patterns = error.schema.get("patternProperties", {})
        unknown = next(k for k in error.instance if k not in allowed and not any(re.search(p, k) for p in patterns))
        if not allowed:
            expected = error.schema.get("description", " or ".join(patterns))
            return f"the name '{unknown}' is not allowed; expected {expected}"
        close = difflib.get_close_matches(unknown, allowed, n=1)
        hint = f" Did you mean '{close[0]}'?" if close else ""
        message = f"unknown key '{unknown}'.{hint} Allowed: {', '.join(allowed)}."
    elif "description" in error.schema:
        message += f"; expected {error.schema['description']}"
    return message
