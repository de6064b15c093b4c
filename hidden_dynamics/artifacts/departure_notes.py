"""What departs from the paper in a table: in its records, its title and a note.

Records are those of a table's data (hidden_dynamics.artifacts.comparison): task, label, paper_size, departures and,
where they are of runs, how many.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.schema import Training
from hidden_dynamics.papers.published import with_originals
from hidden_dynamics.results.departures import changed_words, departures, is_resized, listed, original_of

Rows = Sequence[Mapping[str, Any]]


def departures_of(artifact: Artifact, rows: Rows, trained: bool = True) -> str | None:
    """The departures of rows from the paper, as a record has them: joined by semicolons; None without any.

    Args:
        trained: as for `departures`.
    """
    return (
        "; ".join(
            departures(artifact.configuration, with_originals(artifact.configuration, artifact.paper, rows), trained)
        )
        or None
    )


def departures_in_title(artifact: Artifact, rows: Rows, records: Rows, trained: bool = True) -> str:
    """The end of a title: what ran in place of what, ", Digits in place of MNIST, 10 epochs, N = 32: not comparable …".

    Args:
        rows: of what ran.
        records: those of the table, with their departures.
        trained: as for `departures`.
    """
    configuration, rows = artifact.configuration, with_originals(artifact.configuration, artifact.paper, rows)
    parts = _replacements(configuration, rows) + (_schedules(artifact, rows) if trained else [])
    sizes = dict.fromkeys(str(row["size"]) for row in rows if is_resized(row))
    parts += [f"N = {listed(list(sizes))}"] if sizes else []
    ran = _ran(records)
    if not any(record["departures"] for record in ran):
        return ""
    if not all(record["departures"] for record in ran):
        return f", {', '.join(parts)} in some cells: those are not comparable with the published numbers"
    return f", {', '.join(parts)}: not comparable with the published numbers"


def _replacements(configuration: Configuration, rows: Rows) -> list[str]:
    """ "Digits in place of MNIST and SVHN", for each stand-in, and for data that were reduced."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if original := original_of(configuration, row):
            found.setdefault(row["dataset_title"], []).append(original)
    return [f"{title} in place of {listed(list(dict.fromkeys(originals)))}" for title, originals in found.items()]


def _schedules(artifact: Artifact, rows: Rows) -> list[str]:
    """ "10 and 12 epochs", where the paper's runs have others; else whether other settings differ."""
    configuration, tasks = artifact.configuration, list(dict.fromkeys(row["task"] for row in rows))
    epochs = {task: _epochs(configuration.tasks[task].training) for task in tasks}
    other = [epochs[task] for task in tasks if epochs[task] != _epochs(configuration.papers_tasks[task].training)]
    if other:
        numbers = [f"{number:g}" for number in dict.fromkeys(other)]
        return [f"{listed(numbers)} epoch{'' if numbers == ['1'] else 's'}{_of_single_models(artifact, tasks)}"]
    return ["other settings than the paper’s"] if changed_words(configuration, tasks) else []


def _of_single_models(artifact: Artifact, tasks: Sequence[str]) -> str:
    """ " (mTAND-Full: 10)", of the models that are not trained for their task's number of epochs."""
    found: dict[str, list[str]] = {}
    for run in artifact.runs:
        epochs, label = run.spec["training"]["epochs"], artifact.configuration.models[run.model].label
        if run.task in tasks and epochs != artifact.configuration.tasks[run.task].training.epochs:
            found.setdefault(label, []).append(f"{epochs:g}")
    parts = [f"{label}: {listed(list(dict.fromkeys(numbers)))}" for label, numbers in found.items()]
    return f" ({', '.join(parts)})" if parts else ""


def _epochs(training: Training) -> float:
    """The epochs of a training; not all of one where the rates end it before."""
    return min(training.epochs, training.rates.until or math.inf) if training.rates else training.epochs


def departures_note(configuration: Configuration, records: Rows) -> list[str]:
    """A sentence on what departs from the paper, and what that forbids; none where nothing does.

    A departure of some tasks or models alone names them.
    """
    found: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        for part in (record["departures"] or "").split("; "):
            found.setdefault(part, []).append(record)
    in_order = sorted(filter(None, found), key=lambda part: part.startswith("changed"))  # data and sizes first
    parts = [f"{_whose(configuration, found[part], records)}{part}" for part in in_order]
    if not parts:
        return []
    return [
        f"Departs from the paper: {'; '.join(parts)}. What departs is not held to the published numbers: it has no "
        "difference from them, no published gap and no rank, and a verdict beside it is none on the paper’s own claim."
    ]


def _whose(configuration: Configuration, own: Rows, records: Rows) -> str:
    """The tasks of records where others are there, too, and the models where others of their task and size are."""
    ran = _ran(records)
    tasks, sizes = ({record[column] for record in own} for column in ("task", "paper_size"))
    alike = [record for record in ran if record["task"] in tasks and record["paper_size"] in sizes]
    names = []
    if tasks != {record["task"] for record in ran}:
        names += [configuration.tasks[task].title for task in configuration.tasks if task in tasks]
    if {record["label"] for record in own} != {record["label"] for record in alike}:
        names += dict.fromkeys(record["label"] for record in own)
    return f"{', '.join(names)}: " if names else ""


def _ran(records: Rows) -> list[Mapping[str, Any]]:
    """The records of which there are runs, or measurements."""
    return [record for record in records if record.get("runs") != 0]
