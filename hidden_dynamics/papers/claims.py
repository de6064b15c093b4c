"""published/claims.yaml: its entries, held to the schema and to what is configured; quick to import."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from hidden_dynamics.configuration import Configuration, known, read_yaml, validate
from hidden_dynamics.system.files import ROOT
from hidden_dynamics.errors import UserError

FILE = ROOT / "published" / "claims.yaml"


@cache
def load_claims(path: Path = FILE) -> Mapping[str, Any]:
    """The file's `definitions` and `claims`.

    Raises:
        UserError: it is missing, does not follow config/schemas/claims.json, or names two entries alike.
    """
    content = read_yaml(path)
    validate(content, "claims", "published/claims.yaml")
    names = [entry["id"] for entry in content["claims"]]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UserError(f"published/claims.yaml: the id {', '.join(twice)} stands twice: give each entry its own.")
    return content


def artifacts_with_claims(configuration: Configuration) -> list[str]:
    """The artifacts that claims rest on, in the order of config/artifacts.yaml.

    Raises:
        UserError: an entry names an artifact that is not configured.
    """
    named = {entry["artifact"]: entry["id"] for entry in load_claims()["claims"]}
    for artifact, name in named.items():
        known(artifact, configuration.artifacts, "artifact", f"published/claims.yaml: {name}")
    return [artifact for artifact in configuration.artifacts if artifact in named]


def claims_about(artifact: str) -> list[Mapping[str, Any]]:
    return [entry for entry in load_claims()["claims"] if entry["artifact"] == artifact]


def stated(artifact: str) -> list[Any]:
    """All that the file says of claims about an artifact: where it changes, they are judged again."""
    return [load_claims()["definitions"], claims_about(artifact)]


def several(value: Any) -> Iterable[Any]:
    """What a key says that takes one thing or a list."""
    return value if isinstance(value, list) else [value]
