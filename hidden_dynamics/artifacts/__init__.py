"""The papers' tables and figures: the needs, content and drawing of each, a module per kind."""

from hidden_dynamics.artifacts import kinds
from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.configuration import Configuration, known, typed

__all__ = ["Artifact", "artifact_named", "load_artifacts"]


def load_artifacts(configuration: Configuration) -> dict[str, Artifact]:
    """Every configured artifact, by name, held to its kind and to what is configured.

    Raises:
        UserError: settings are not as the kind has them, or name what is not configured.
    """
    return {name: artifact_named(configuration, name) for name in configuration.artifacts}


def artifact_named(configuration: Configuration, name: str, origin: str = "config/artifacts.yaml") -> Artifact:
    """One artifact.

    Raises:
        UserError: there is none of this name, or its settings are not as its kind has them.
    """
    known(name, configuration.artifacts, "artifact", origin)
    for place, content in configuration.artifact_layers[name]:
        kind = kinds.find(content.get("kind"), f"{place}.kind")
        file, _, key = place.partition(": ")
        settings = typed(kind.Settings, content, file, key)
        artifact = kind(name, settings, configuration, _measurement_of(configuration, name))
        artifact.check(place)
    return artifact


def _kind_of(configuration: Configuration, name: str) -> type[Artifact]:
    place, content = configuration.artifact_layers[name][-1]
    return kinds.find(content.get("kind"), f"{place}.kind")


def _measurement_of(configuration: Configuration, name: str) -> str:
    """The first artifact that is measured alike; its own name where nothing is measured."""
    kind, content = _kind_of(configuration, name), configuration.artifacts[name]
    if kind.measured is None:
        return name
    return next(
        other
        for other, settings in configuration.artifacts.items()
        if _kind_of(configuration, other).measured == kind.measured
        and all(settings.get(key) == content.get(key) for key in kind.measured_by)
    )
