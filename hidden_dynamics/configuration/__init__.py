"""The configuration, typed; the specification of a run; the paths of all files."""

from hidden_dynamics.configuration.loading import Configuration, load, load_datasets, parse_settings
from hidden_dynamics.configuration.paths import Paths
from hidden_dynamics.configuration.reading import Entry, known, listed, merge, read_yaml, typed

__all__ = [
    "Configuration",
    "Entry",
    "Paths",
    "known",
    "listed",
    "load",
    "load_datasets",
    "merge",
    "parse_settings",
    "read_yaml",
    "typed",
]
