"""The meaning of an artifact, as a digest: where it changes, the artifact is made again."""

import hashlib
import importlib
import json
from collections.abc import Iterable
from typing import Any

from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.system.digest import code_digest


def meaning_of(artifact: Artifact, code: Iterable[str] = ()) -> str:
    """Digest of what an artifact shows and of how it is made: titles, labels and colours count, other artifacts do not.

    Args:
        code: definitions (dotted names) that make it, beside its kind.
    """
    configuration, kind = artifact.configuration, type(artifact)
    tasks = artifact.tasks() or list(configuration.tasks)
    shown = [
        artifact.settings.given(),
        _common(configuration),
        {name: configuration.tasks[name].given() for name in tasks},
        {name: _without(model.given(), "tasks") for name, model in configuration.models.items()},
    ]
    return _digest(shown, [f"{kind.__module__}.{kind.__name__}", *_drawing(artifact), *code])


def _drawing(artifact: Artifact) -> list[str]:
    """The definition that `Artifact.draw` imports by its name; none of a kind that draws by itself."""
    if type(artifact).draw is not Artifact.draw:
        return []
    if artifact.is_left_out:
        return ["hidden_dynamics.artifacts.left_out.draw"]
    module = type(artifact).__module__
    return [f"{module}.draw" if hasattr(importlib.import_module(module), "draw") else f"{module}.drawing.draw"]


def meaning_of_all(configuration: Configuration, code: Iterable[str]) -> str:
    """Digest of everything that is configured, and of code: of what shows all artifacts or all runs."""
    tasks = {name: task.given() for name, task in configuration.tasks.items()}
    models = {name: model.given() for name, model in configuration.models.items()}
    return _digest([configuration.artifacts, _common(configuration), tasks, models], code)


def _common(configuration: Configuration) -> list[Any]:
    """The settings that every artifact may show: scale, its verdicts, seeds, readings, metrics, titles of datasets."""
    metrics = {name: metric.given() for name, metric in configuration.metrics.items()}
    datasets = {name: _without(dataset.given(), "files") for name, dataset in configuration.datasets.items()}
    own, settings = configuration.scale, configuration.settings
    scale = [configuration.scale_name, own.about, own.directions, configuration.seeds, list(configuration.left_out)]
    return [*scale, settings.readings, settings.overrides.given(), metrics, datasets]


def _without(entry: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != key}


def _digest(shown: Any, code: Iterable[str]) -> str:
    text = json.dumps(_with_text_keys(shown), sort_keys=True) + code_digest(code)
    return hashlib.sha256(text.encode()).hexdigest()


def _with_text_keys(value: Any) -> Any:
    """JSON's view of a YAML document, whose keys may be numbers and text side by side."""
    if isinstance(value, dict):
        return {str(key): _with_text_keys(item) for key, item in value.items()}
    return [_with_text_keys(item) for item in value] if isinstance(value, list | tuple) else value
