"""The configuration, typed; the specification of a run; the paths of all files."""

from hidden_dynamics.configuration.entries import Entry, known, merge, read_yaml, typed
from hidden_dynamics.configuration.loading import Configuration, load, parse_settings

__all__ = ["Configuration", "Entry", "known", "load", "merge", "parse_settings", "read_yaml", "typed"]
