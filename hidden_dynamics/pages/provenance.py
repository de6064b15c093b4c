"""The provenance of a scale's results: data, devices, versions, stand-ins."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hidden_dynamics.artifacts.notes import scale_notes
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.results.rows import Row


def provenance_of(configuration: Configuration, runs: Sequence[Row]) -> dict[str, Any]:
    """Of all runs: `scale` in words, and the numbers of `tasks`, of those `replaced` by stand-ins, and of `runs`.

    Args:
        runs: the summary of all runs.
    """
    versions = {f"{name} {version}" for run in runs for name, version in json.loads(run["versions"]).items()}
    return {
        "scale": scale_notes(configuration),
        "stand_ins": stand_ins(runs, configuration.title_of),
        "tasks": len({run["task"] for run in runs}),
        "replaced": len({run["task"] for run in runs if run["stand_in_for"]}),
        "runs": len({run["directory"] for run in runs}),
        "seeds": sorted({int(run["seed"]) for run in runs}),
        "devices": sorted({f"{run['device']}, {run['precision']}" for run in runs}),
        "versions": sorted(versions),
    }


def data_of(runs: Iterable[Row], title_of: Callable[[str], str]) -> list[dict[str, Any]]:
    """Each prepared dataset, in the order of the runs, with the titles of what it stands in for and of its tasks.

    Args:
        title_of: gives the title of a dataset by its name.
    """
    found: dict[str, list[Row]] = {}
    for run in runs:
        found.setdefault(run["data_digest"], []).append(run)
    return [
        {
            "digest": digest,
            "title": own[0]["dataset_title"],
            "stands_in_for": stand_ins(own, title_of).get(own[0]["dataset_title"], []),
            "tasks": list(dict.fromkeys(run["task_title"] for run in own)),
        }
        for digest, own in found.items()
    ]


def stand_ins(rows: Iterable[Row], title_of: Callable[[str], str]) -> dict[str, list[str]]:
    """{title of a stand-in: titles of what it stands in for}, of runs or measurements."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row["stand_in_for"]:
            found.setdefault(row["dataset_title"], []).append(title_of(row["stand_in_for"]))
    return {title: list(dict.fromkeys(originals)) for title, originals in found.items()}
