"""What every artifact says of itself: its scale, what the user changed, and which readings of the paper were taken."""

import itertools
import json
from collections.abc import Iterable, Mapping

from hidden_dynamics.configuration import Configuration


def scale_notes(configuration: Configuration) -> list[str]:
    """The scale in words and, where the user overrode the configuration, how."""
    notes = [f"Scale: {configuration.scale_name} ({configuration.scale['about']})."]
    overrides = configuration.settings["overrides"]
    if any(overrides.values()):
        notes.append(f"Changed by the user (overrides): {json.dumps(overrides, sort_keys=True)}.")
    return notes


def readings_note(readings: Iterable[Mapping[str, str]], tasks: Iterable[str] | None = None) -> str:
    """Which readings were taken where the paper and its code differ: "Readings taken: published (adam_epsilon)."

    Args:
        readings: for each run, {reading: "published" or "released"}.
        tasks: for each run, its task's title; with it, a reading that differs between tasks says which took which.
    """
    taken: dict[str, dict[str, set[str]]] = {}
    for choice, task in zip(readings, itertools.repeat("") if tasks is None else tasks, strict=False):
        for name, value in choice.items():
            taken.setdefault(name, {}).setdefault(task, set()).add(value)
    same: dict[str, list[str]] = {}
    differing = []
    for name, by_task in sorted(taken.items()):
        texts = {task: " and ".join(sorted(values)) for task, values in by_task.items()}
        if len(set(texts.values())) == 1:
            same.setdefault(texts.popitem()[1], []).append(name)
        else:
            differing.append(f"{name}: {', '.join(f'{value} in “{task}”' for task, value in texts.items())}")
    parts = [f"{value} ({', '.join(names)})" for value, names in sorted(same.items())]
    return f"Readings taken: {'; '.join(parts + differing) or 'none apply'}."
