"""The configuration, typed; the specification of a run; the paths of all files."""

from hidden_dynamics.configuration.entries import Entry, known, listed, merge, mistake, read_yaml, typed
from hidden_dynamics.configuration.loading import Configuration, load, parse_settings
from hidden_dynamics.configuration.runs import Case, Run, all_runs, resolve

__all__ = ["Case", "Configuration", "Entry", "Run", "all_runs", "known", "listed", "load", "merge", "mistake"]
__all__ += ["parse_settings", "read_yaml", "resolve", "typed"]
