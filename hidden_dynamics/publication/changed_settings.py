"""settings.csv: each setting of a task that differs from the paper's, with both values."""

import json
from collections.abc import Iterable, Mapping

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.results.rows import Row

COLUMNS = ("task", "setting", "here", "paper")
ELSEWHERE = {"title", "variants", "sizes", "by_size", "extra"}  # in runs.csv; what follows from a grid or a model


def changed_settings(configuration: Configuration) -> list[Row]:
    """A row for each, in the order of the tasks that are run; a value that is not set is empty."""
    rows = []
    for task in (task for task in configuration.tasks if task not in configuration.left_out):
        here, paper = (dict(_flat(of[task].given())) for of in (configuration.tasks, configuration.papers_tasks))
        for name in {**here, **paper}:
            if here.get(name) != paper.get(name):
                rows.append(dict(zip(COLUMNS, (task, name, here.get(name, ""), paper.get(name, "")), strict=True)))
    return rows


def _flat(settings: Mapping[str, object], within: str = "") -> Iterable[tuple[str, str]]:
    """(name with dots, value as text) of what is within mappings."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{within}{key}.") if key not in ELSEWHERE else ()
        elif key not in ELSEWHERE and value is not None:
            yield f"{within}{key}", value if isinstance(value, str) else json.dumps(value)
