"""The papers' tables and figures: the needs, content and drawing of each, a module per kind."""

from typing import get_type_hints

from hidden_dynamics.artifacts import kinds
from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.configuration import Configuration, known, typed

__all__ = ["Artifact", "artifact_named", "left_out_note", "load_artifacts"]


def load_artifacts(configuration: Configuration) -> dict[str, Artifact]:
    """Every configured artifact that has something to show, by name, held to its kind and to what is configured; a
    `UserError` where settings are not as the kind has them, or name what is not configured."""
    every = [artifact_named(configuration, name) for name in configuration.artifacts]
    return {artifact.name: artifact for artifact in every if not artifact.is_left_out}


def left_out_note(configuration: Configuration) -> str:
    """A sentence on the artifacts all of whose tasks are left out, by name; "" where there is none."""
    every = [artifact_named(configuration, name) for name in configuration.artifacts]
    missing = sorted(each.name for each in every if each.is_left_out and each.tasks())
    return f"Not made, as what they show is left out: {', '.join(missing)}." if missing else ""


def artifact_named(configuration: Configuration, name: str, origin: str = "config/artifacts.yaml") -> Artifact:
    """One artifact; a `UserError` where there is none of this name, or its settings are not as its kind has them."""
    known(name, configuration.artifacts, "artifact", origin)
    for place, content in configuration.artifact_layers[name]:
        kind = kinds.find(content.get("kind"), f"{place}.kind")
        file, _, key = place.partition(": ")
        settings = typed(get_type_hints(kind)["settings"], content, file, key)
        artifact = kind(name, settings, configuration)
        artifact.check(place)
    return artifact
