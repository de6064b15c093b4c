"""The command that makes a publication again: with all settings that decide results and are not config.yaml's."""

import shlex

import yaml

from hidden_dynamics.configuration import Configuration, read_yaml
from hidden_dynamics.system.files import ROOT

SETTINGS = ("scale", "seeds", "device", "precision", "readings", "overrides", "leave_out")  # no directory of a machine


def command_of(configuration: Configuration) -> str:
    """For a shell: "snakemake --cores all evidence --config scale=evening 'leave_out=[svhn]'"."""
    given, shipped = configuration.settings.given(), read_yaml(ROOT / "config.yaml")
    named = [name for name in SETTINGS if name == "scale" or given.get(name) != shipped.get(name)]
    settings = [f"{name}={_flow(given.get(name))}" for name in named]
    return f"snakemake --cores all evidence --config {shlex.join(settings)}"


def _flow(value: object) -> str:
    """A value as YAML on one line, which is what the command line is read as."""
    return yaml.safe_dump(value, default_flow_style=True, width=float("inf")).removesuffix("\n...\n").strip()
