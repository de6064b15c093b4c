"""Sentences that artifacts say of themselves: scale, the user's changes, data, seeds, readings, failed runs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Run
from hidden_dynamics.configuration.schema import Effect
from hidden_dynamics.results.departures import departures

LAST = "last"  # a run's last evaluation is reported, whatever its metric
RULES = {"max": "highest", "min": "lowest"}  # or the one with the highest, or lowest, metric


def scale_notes(configuration: Configuration) -> list[str]:
    """The scale in words and, where the user overrode the configuration or left data out, how."""
    notes = [f"Scale: {configuration.scale_name} ({configuration.scale.about})."]
    overrides = configuration.settings.overrides.given()
    if any(overrides.values()):
        notes.append(f"Changed by the user (overrides): {json.dumps(overrides, sort_keys=True)}.")
    if configuration.left_out:
        datasets = ", ".join(dict.fromkeys(configuration.left_out.values()))
        tasks = ", ".join(configuration.left_out)
        notes.append(f"Left out by the user (leave_out): {datasets}; so there are no runs of {tasks}.")
    return notes


def title_of(artifact: Artifact, about: str = "") -> str:
    """An artifact's title with its place in the paper and the scale.

    Args:
        about: what else to say of what is shown.
    """
    settings = artifact.settings
    return f"{settings.title}{about} ({settings.source}): {artifact.configuration.scale_name} scale"


def caption(artifact: Artifact) -> str:
    """An artifact in sentences, before it is made: title, scale, data, departures from the paper, seeds, readings."""
    configuration, runs = artifact.configuration, artifact.runs
    parts = [f"{artifact.settings.heading}.", *scale_notes(configuration)]
    data = dict.fromkeys(configuration.data_title(t) for t in artifact.tasks() if t not in configuration.left_out)
    if data:
        parts.append(f"Data: {'; '.join(data)}.")
    departing = departures(configuration, [_row(configuration, run) for run in artifact.cell_runs], bool(runs))
    departing += artifact.departures()
    if departing:
        parts.append(f"Departs from the paper, and is not held to the published numbers: {'; '.join(departing)}.")
    if runs:
        parts.append(f"Seeds: {', '.join(map(str, sorted({run.seed for run in runs})))}.")
        parts.append(readings_note((configuration.tasks[run.task].title, run.spec["readings"]) for run in runs))
    return " ".join(parts)


def _row(configuration: Configuration, run: Run) -> dict[str, Any]:
    """What is known of a run before it is made, of that in which it may depart from the paper."""
    return {
        "task": run.task,
        "size": run.spec["hyperparameters"].get("hidden_size", run.paper_size),
        "paper_size": run.paper_size,
        "dataset_title": configuration.data_title(run.task),
        "stand_in_for": configuration.replaced(run.task),
    }


def readings_note(runs: Iterable[tuple[str, Mapping[str, str]]]) -> str:
    """The readings taken where the paper and its code differ: "Readings taken: published (adam_epsilon)."

    One that differs between tasks says which took which.

    Args:
        runs: for each, its task's title and {reading: its value}.
    """
    taken: dict[str, dict[str, set[str]]] = {}
    for task, choice in runs:
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


def runs_notes(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Seeds, devices, precisions and readings of runs: "Seeds: 0, 1. Trained on: cpu. Precision: fp32.", "Readings ..."

    Args:
        rows: of a summary or of measured features.
    """
    seeds, devices, precisions = ({row[column] for row in rows} for column in ("seed", "device", "precision"))
    return [
        f"Seeds: {', '.join(sorted(seeds, key=int))}. Trained on: {'; '.join(sorted(devices))}. "
        f"Precision: {', '.join(sorted(precisions))}.{commits_note(rows)}",
        readings_note((row["task_title"], json.loads(row["readings"])) for row in rows),
    ]


def reported_note(rows: Sequence[Mapping[str, str]]) -> str:
    """What our numbers are over seeds, and which evaluation a run reports.

    Args:
        rows: of a summary.
    """
    chosen = {(row["rule"], row["metric"]): None for row in rows if row["metric"]}
    texts = dict.fromkeys(
        "its last evaluation" if rule == LAST else f"its evaluation with the {RULES[rule]} {name}"
        for rule, name in chosen
    )
    which = f" ({' or '.join(texts)})" if texts else ""
    return f"Ours: mean ± sample standard deviation (n − 1) over n seeds of what a run reports{which}."


def commits_note(rows: Iterable[Mapping[str, str]]) -> str:
    """The commits that runs were made by: " Code: commit 0123456789+."; empty where none is known.

    A + stands for changes that were not committed.
    """
    known = sorted({row["commit"] for row in rows if row.get("commit")})
    texts = [f"{commit[:10]}{'+' * commit.endswith('+')}" for commit in known]
    return f" Code: commit {', '.join(texts)}." if texts else ""


def effects_taken(configuration: Configuration, rows: Iterable[Mapping[str, str]]) -> list[Effect]:
    """What the readings set that runs took, each once; those of runs that nothing configures any more are left out.

    Args:
        rows: of a summary.
    """
    readings = configuration.readings
    taken = {item for text in {row["readings"] for row in rows} for item in json.loads(text).items()}
    effects = [readings[name].values.get(value) for name, value in sorted(taken) if name in readings]
    return [effect for effect in effects if effect is not None]


def no_momentum_notes(rows: Iterable[Mapping[str, str]]) -> list[str]:
    """The momentum models of a summary that have mu = 0: what they do is not momentum's doing."""
    found: dict[str, None] = {}
    for row in rows:
        settings = json.loads(row["hyperparameters"])
        if settings.get("mu") == 0:
            found[f"{row['label']} on {row['task_title']} (its input is scaled by s = {settings['s']:g})"] = None
    return [f"Without momentum, because μ = 0: {'; '.join(found)}."] if found else []


def divergence_notes(runs: Sequence[Mapping[str, str]]) -> list[str]:
    """A line that says which runs diverged and why, "Diverged: ODE-Net, seed 1: solver failed ..."; none if none did.

    Args:
        runs: all rows of a summary; task and size are named where they differ between them.
    """
    several = {column: len({run[column] for run in runs}) > 1 for column in ("task", "size")}
    texts = []
    for run in runs:
        if run["status"] == "diverged":
            task = f"{run['task_title']}, " if several["task"] else ""
            size = f", N = {run['size']}" if several["size"] else ""
            texts.append(f"{task}{run['label']}{size}, seed {run['seed']}: {_failure(run)}")
    return [f"Diverged: {'; '.join(dict.fromkeys(texts))}."] if texts else []


def _failure(run: Mapping[str, str]) -> str:
    """The cause of a divergence: "solver failed at iteration 812 (step budget exceeded at t = 0.31, ...)"."""
    if not run["failure"]:
        return f"the loss was not finite at iteration {run['diverged_at']}"
    failure = json.loads(run["failure"])
    learning = failure["during"] in ("forward", "backward")
    return (
        f"solver failed {'at' if learning else 'after'} iteration {run['diverged_at']} ({failure['cause']} at t = "
        f"{failure['time']:.3g}, step {failure['step']}, {failure['during']})"
    )
