"""settings.csv: each setting of a task that differs from the paper's, with both values."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.results.rows import Row

COLUMNS = ("task", "setting", "here", "paper")
IN_THE_RUNS = ("title", "sizes", "readings")  # what runs.csv has of each run
WRITTEN_OUT = ("sizes", "by_size")  # of a model with a grid: the grid says it


def changed_settings(configuration: Configuration, tasks: Iterable[str]) -> list[Row]:
    """A row for each, in the order of the tasks; a value that is not set is empty."""
    rows = []
    for task in tasks:
        own, papers = (of[task].given() for of in (configuration.tasks, configuration.papers_tasks))
        for key in configuration.changed(task):
            if key not in IN_THE_RUNS:
                here, there = (dict(_flat(_set(of.get(key)), key)) for of in (own, papers))
                differing = [name for name in {**here, **there} if here.get(name) != there.get(name)]
                values = ((name, _text(here.get(name)), _text(there.get(name))) for name in differing)
                rows += [dict(zip(COLUMNS, (task, *value), strict=True)) for value in values]
    return rows


def _set(value: Any) -> Any:
    """A value as it was set: without what follows from the grids of models."""
    if not isinstance(value, Mapping):
        return value
    return {
        name: {k: v for k, v in own.items() if k not in WRITTEN_OUT}
        if isinstance(own, Mapping) and "grid" in own
        else own
        for name, own in value.items()
    }


def _flat(value: Any, name: str) -> Iterable[tuple[str, Any]]:
    """(name with dots, value) of what is within mappings; nothing of an empty one."""
    if not isinstance(value, Mapping):
        return [(name, value)]
    return [pair for key, own in value.items() for pair in _flat(own, f"{name}.{key}")]


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)
