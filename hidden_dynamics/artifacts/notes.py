"""Sentences that artifacts say of themselves: scale, the user's changes, data, seeds, variants, failed runs."""

import json
from collections.abc import Iterable, Mapping, Sequence

from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.configuration import Configuration


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


def variants_note(runs: Iterable[Mapping[str, str]]) -> str:
    """The variants taken where the paper and its code differ: "Variants taken: published (adam_epsilon)."

    Args:
        runs: for each, {variant: its value}.
    """
    taken: dict[str, set[str]] = {}
    for choice in runs:
        for name, value in choice.items():
            taken.setdefault(name, set()).add(value)
    names: dict[str, list[str]] = {}
    for name, values in sorted(taken.items()):
        names.setdefault(" and ".join(sorted(values)), []).append(name)
    texts = [f"{value} ({', '.join(of)})" for value, of in sorted(names.items())]
    return f"Variants taken: {'; '.join(texts) or 'none apply'}."


def runs_notes(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Seeds, devices, precisions and variants of runs: "Seeds: 0, 1. Trained on: cpu. Precision: fp32.", "Variants ..."

    Args:
        rows: of a summary or of measured features.
    """
    seeds, devices, precisions = ({row[column] for row in rows} for column in ("seed", "device", "precision"))
    return [
        f"Seeds: {', '.join(sorted(seeds, key=int))}. Trained on: {'; '.join(sorted(devices))}. "
        f"Precision: {', '.join(sorted(precisions))}.{commits_note(rows)}",
        variants_note(json.loads(row["variants"]) for row in rows),
    ]


def commits_note(rows: Iterable[Mapping[str, str]]) -> str:
    """The commits that runs were made by: " Code: commit 0123456789+."; empty where none is known.

    A + stands for changes that were not committed.
    """
    known = sorted({row["commit"] for row in rows if row.get("commit")})
    texts = [f"{commit[:10]}{'+' * commit.endswith('+')}" for commit in known]
    return f" Code: commit {', '.join(texts)}." if texts else ""


def is_resampled(configuration: Configuration, rows: Iterable[Mapping[str, str]]) -> bool:
    """Whether seeds are random splits of the same data, by a variant that the runs of a summary took."""
    variants = configuration.variants
    taken = {item for text in {row["variants"] for row in rows} for item in json.loads(text).items()}
    effects = [variants[name].values.get(value) for name, value in taken if name in variants]
    return any(effect is not None and effect.resampled for effect in effects)


def no_momentum_notes(rows: Iterable[Mapping[str, str]]) -> list[str]:
    """The momentum models of a summary that have mu = 0: what they do is not momentum's doing."""
    found: dict[str, None] = {}
    for row in rows:
        settings = json.loads(row["hyperparameters"])
        if settings.get("mu") == 0:
            found[f"{row['label']} on {row['task_title']} (its input is scaled by s = {settings['s']:g})"] = None
    return [f"Without momentum, because μ = 0: {'; '.join(found)}."] if found else []


def divergence_notes(runs: Sequence[Mapping[str, str]]) -> list[str]:
    """Which runs diverged and why, "Diverged: SVHN, ODE-Net, seed 1: solver failed ..."; no line if none did.

    Args:
        runs: all rows of a summary.
    """
    texts = [
        f"{run['task_title']}, {run['label']}{f', N = {size}' if (size := run['size']) else ''}, seed {run['seed']}: "
        + _failure(run)
        for run in runs
        if run["status"] == "diverged"
    ]
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
