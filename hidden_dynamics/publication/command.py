"""The settings that decide results, and the command that makes a publication again with them."""

import json
import shlex
from typing import Any

from hidden_dynamics.configuration import Configuration, read_yaml
from hidden_dynamics.system.files import ROOT

SETTINGS = ("scale", "seeds", "device", "precision", "variants", "overrides", "leave_out", "only")


def settings_of(configuration: Configuration) -> dict[str, Any]:
    """The `SETTINGS` that are given, by name."""
    given = configuration.settings.given()
    return {name: given[name] for name in SETTINGS if name in given}


def command_of(configuration: Configuration) -> str:
    """For a shell, with all that is not config.yaml's: "snakemake --cores all evidence --config scale=evening"."""
    shipped, place = read_yaml(ROOT / "config.yaml"), {"evidence": configuration.settings.evidence}
    settings = [
        f"{name}={value if isinstance(value, str) else json.dumps(value)}"
        for name, value in (settings_of(configuration) | place).items()
        if name == "scale" or value != shipped[name]
    ]
    return f"snakemake --cores all evidence --config {shlex.join(settings)}"
