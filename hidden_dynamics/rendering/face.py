"""What every artifact says of itself: its scale, what the user changed, and which readings of the paper were taken."""

import json
from collections.abc import Iterable, Mapping

from hidden_dynamics.configuration import Configuration


def scale_notes(configuration: Configuration) -> list[str]:
    """The scale in words and, where the user overrode the configuration, how."""
    notes = [f"Scale: {configuration.scale_name} ({configuration.scale['about']})."]
    overrides = configuration.settings["overrides"]
    if overrides.get("tasks"):
        notes.append(f"Changed by the user (overrides): {json.dumps(overrides, sort_keys=True)}.")
    return notes


def readings_note(readings: Iterable[Mapping[str, str]]) -> str:
    """Which readings were taken where the paper and its code differ: "Readings taken: published (adam_epsilon)."

    Args:
        readings: for each run, {reading: "published" or "released"}.
    """
    taken: dict[str, set[str]] = {}
    for choice in readings:
        for name, value in choice.items():
            taken.setdefault(name, set()).add(value)
    by_value: dict[str, list[str]] = {}
    for name, values in sorted(taken.items()):
        by_value.setdefault(" and ".join(sorted(values)), []).append(name)
    parts = [f"{value} ({', '.join(names)})" for value, names in sorted(by_value.items())]
    return f"Readings taken: {'; '.join(parts) or 'none apply'}."
