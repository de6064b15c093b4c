"""Deviations of runs from the paper, in words: other data, other sizes, other settings.

Rows are those of a summary, of measured features or costs: they have task, size, paper_size, dataset_title and
stand_in_for. What deviates is not held to what the paper prints or claims.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.lengths import length_matters
from hidden_dynamics.configuration.spec import Training
from hidden_dynamics.papers.published import load_tasks, published_task

# How the keys of a task are called that scale or user changed; "" where a change is no deviation, or is said otherwise.
# A variant is none: the released one is the authors' own.
WORDS = {
    "dataset": "",
    "title": "",
    "sizes": "",
    "variants": "",
    "data": "preparation of the data",
    "settings": "the task",
    "models": "the models’ own settings",
}


def deviations(
    configuration: Configuration, rows: Sequence[Mapping[str, str]], trained: bool = True, course: bool = False
) -> list[str]:
    """The deviations of rows, each once: "Digits in place of MNIST", "N = 32, not 128", "after 2 of 150 epochs".

    Args:
        trained: whether the rows' numbers are those of trainings; a measured cost does not depend on their schedule.
        course: whether they are of a training's course, of which the paper's own first part says as much as all of it.
    """
    texts = [data_text(configuration, row) for row in rows if original_of(configuration, row)]
    texts += [f"N = {row['size']}, not {row['paper_size']}" for row in rows if is_resized(row)]
    tasks = dict.fromkeys(row["task"] for row in rows)
    texts += [text for task in tasks if trained and not course and (text := first_part(configuration, task))]
    changes = changed_words(configuration, tasks, trained)
    texts += [f"changed from the paper’s: {', '.join(changes)}"] if changes else []
    return list(dict.fromkeys(texts))


def with_originals(configuration: Configuration, paper: str, rows: Iterable[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Rows of runs or measurements whose `stand_in_for` is as they say, or else the paper's dataset where theirs is
    another: a task of the user's own may be of any."""
    known_tasks = load_tasks(paper)

    def original(row: Mapping[str, str]) -> str:
        task = known_tasks.get(published_task(configuration, row["task"]))
        return task["dataset"] if task and row["dataset"] not in (None, "", task["dataset"]) else ""

    return [{**row, "stand_in_for": row["stand_in_for"] or original(row)} for row in rows]


def original_of(configuration: Configuration, row: Mapping[str, str]) -> str | None:
    """The title of the data that a row's stand in for, or that they are a reduced form of; None of the paper's."""
    return configuration.title_of(row["stand_in_for"]) if row["stand_in_for"] else configuration.reduced(row["task"])


def data_text(configuration: Configuration, row: Mapping[str, str]) -> str:
    """The title of a row's data, with that of what they stand in for: "Digits in place of MNIST"."""
    original = original_of(configuration, row)
    return f"{row['dataset_title']} in place of {original}" if original else row["dataset_title"]


def is_resized(row: Mapping[str, str]) -> bool:
    """True of another number of hidden units than the paper's; a size that is a name is a place in a grid."""
    return str(row["paper_size"]).isdecimal() and str(row["size"]) != str(row["paper_size"])


def changed_words(configuration: Configuration, tasks: Iterable[str], trained: bool = True) -> list[str]:
    """The settings of tasks that differ from config/tasks.yaml, in words; without those of the training, if asked."""
    keys = [
        key
        for task in dict.fromkeys(tasks)
        for key in configuration.changed(task)
        if not (key == "training" and (not trained or first_part(configuration, task)))
        and not (key == "data" and _title_says_it(configuration, task))
    ]
    return list(filter(None, dict.fromkeys(WORDS.get(key, key) for key in keys)))


def first_part(configuration: Configuration, task: str) -> str:
    """ "after 2 of 150 epochs" of a training that is the first part of the paper's own; "" of another."""
    own, papers = (
        cast(Training, tasks[task].training.given()) for tasks in (configuration.tasks, configuration.papers_tasks)
    )
    if {**own, "epochs": 0} != {**papers, "epochs": 0} or length_matters(own) or length_matters(papers):
        return ""
    return f"after {own['epochs']} of {papers['epochs']} epochs" if own["epochs"] < papers["epochs"] else ""


def _title_says_it(configuration: Configuration, task: str) -> bool:
    """Whether the data differ from the paper's in nothing that their title does not name."""
    own, papers = configuration.tasks[task], configuration.papers_tasks[task]
    differing = {name for name in {*own.data, *papers.data} if own.data.get(name) != papers.data.get(name)}
    return own.dataset == papers.dataset and differing <= set(configuration.datasets[own.dataset].in_title)


def listed(texts: Sequence[str]) -> str:
    """One or more texts in a sentence: "A", "A and B", "A, B and C"."""
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))
