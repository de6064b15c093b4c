"""The papers' tables and figures: the needs, content and drawing of each, a module per kind."""

from hidden_dynamics.artifacts import kinds
from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.configuration import Configuration, known, typed
from hidden_dynamics.papers.claims import artifacts_with_claims

__all__ = ["Artifact", "artifact_named", "left_out_note", "load_artifacts", "load_claimed"]


def load_artifacts(configuration: Configuration) -> dict[str, Artifact]:
    """Every configured artifact whose data are not left out, by name, held to its kind and to what is configured.

    Raises:
        UserError: settings are not as the kind has them, or name what is not configured.
    """
    every = (artifact_named(configuration, name) for name in configuration.artifacts)
    return {artifact.name: artifact for artifact in every if not artifact.is_left_out}


def load_claimed(configuration: Configuration) -> dict[str, Artifact]:
    """Those of them that claims rest on."""
    artifacts = load_artifacts(configuration)
    return {name: artifacts[name] for name in artifacts_with_claims(configuration) if name in artifacts}


def left_out_note(configuration: Configuration) -> str:
    """A sentence on the artifacts whose data are left out: "Left out with their data: ACE-NODE, Table 3."; else ""."""
    missing = [configuration.artifacts[name] for name in configuration.artifacts.keys() - load_artifacts(configuration)]
    return f"Left out with their data: {'; '.join(sorted(one['source'] for one in missing))}." if missing else ""


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
        artifact = kind(name, settings, configuration)
        artifact.check(place)
    return artifact
