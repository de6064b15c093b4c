"""Deviations of runs from the paper, in words: other data, other sizes, other settings.

What deviates is not held to what the paper prints or claims.
"""

from collections.abc import Iterable, Sequence
from typing import cast

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.schema import Training as TaskTraining
from hidden_dynamics.configuration.spec import Training, length_matters
from hidden_dynamics.papers.published import datasets_of, published_task
from hidden_dynamics.results.measured import Cost
from hidden_dynamics.results.record import RunRecord

Ran = RunRecord | Cost  # a run, or a measurement of a model

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
    configuration: Configuration, runs: Sequence[Ran], trained: bool = True, course: bool = False
) -> list[str]:
    """The deviations of runs, each once: "Digits in place of MNIST", "N = 32, not 128", "after 2 of 150 epochs".

    Args:
        trained: whether the numbers are those of trainings; a measured cost does not depend on their schedule.
        course: whether they are of a training's course, of which the paper's own first part says as much as all of it.
    """
    texts = [data_text(configuration, run) for run in runs if original_of(configuration, run)]
    texts += [f"N = {run.size}, not {run.paper_size}" for run in runs if is_resized(run)]
    tasks = dict.fromkeys(run.task for run in runs)
    texts += [text for task in tasks if trained and not course and (text := first_part(configuration, task))]
    changes = changed_words(configuration, tasks, trained)
    texts += [f"changed from the paper’s: {', '.join(changes)}"] if changes else []
    return list(dict.fromkeys(texts))


def original_of(configuration: Configuration, run: Ran) -> str | None:
    """The title of the paper's data where a run's stand in for them, or are a reduced form of them; else None. A user's
    own task stands in where papers have it on other datasets alone."""
    papers = datasets_of(published_task(configuration, run.task))
    original = run.stand_in_for or next(iter(papers if run.dataset not in papers else ()), None)
    return configuration.title_of(original) if original else configuration.reduced(run.task)


def data_text(configuration: Configuration, run: Ran) -> str:
    """The title of a run's data, with that of what they stand in for: "Digits in place of MNIST"."""
    original = original_of(configuration, run)
    return f"{run.dataset_title} in place of {original}" if original else run.dataset_title


def is_resized(run: Ran) -> bool:
    """True of another number of hidden units than the paper's; a size that is a name is a place in a grid."""
    return isinstance(run.paper_size, int) and run.size != run.paper_size


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
    """ "after 2 of 150 epochs" of a training that is the first part of the paper's own, of generated data "after
    2,000 of 7,000 iterations"; "" of another."""
    ours, papers = (
        cast(Training, tasks[task].training.given()) for tasks in (configuration.tasks, configuration.papers_tasks)
    )
    if {**ours, "epochs": 0} != {**papers, "epochs": 0} or length_matters(ours) or length_matters(papers):
        return ""
    done, whole = (_length(tasks[task].training) for tasks in (configuration.tasks, configuration.papers_tasks))
    return f"after {done.split()[0]} of {whole}" if ours["epochs"] < papers["epochs"] else ""


def _title_says_it(configuration: Configuration, task: str) -> bool:
    """Whether the data differ from the paper's in nothing that their title does not name."""
    ours, papers = configuration.tasks[task], configuration.papers_tasks[task]
    differing = {name for name in {*ours.data, *papers.data} if ours.data.get(name) != papers.data.get(name)}
    return ours.dataset == papers.dataset and differing <= set(configuration.datasets[ours.dataset].in_title)


def ran_of(configuration: Configuration, task: str, sizes: Iterable[object], trained: bool = True) -> str:
    """What ran, and in brackets what is the paper's in place of it: "MNIST averaged to 14 × 14, N = 32, 2 epochs
    [N = 128, 150 epochs]".

    Args:
        sizes: the paper's.
        trained: as for `deviations`.
    """
    ours, papers = configuration.tasks[task], configuration.papers_tasks[task]
    units = [size for size in sizes if isinstance(size, int)]
    title, whole = configuration.title_as_run(task), papers.title
    pairs = [(title, "" if title.startswith(whole) else whole)]  # a title says how its data are reduced
    if units:
        run_units = [ours.sizes.get(size, size) for size in units]
        pairs.append((f"N = {in_sentence(list(map(str, run_units)))}", f"N = {in_sentence(list(map(str, units)))}"))
    if trained:
        pairs.append((_length(ours.training), _length(papers.training)))
    replaced = ", ".join(printed for ran, printed in pairs if printed not in (ran, ""))
    return ", ".join(ran for ran, _ in pairs) + (f" [{replaced}]" if replaced else "")


def _length(training: TaskTraining) -> str:
    """The length of a training in epochs, or, of generated data, whose epochs have no length of their own, in steps."""
    if training.iterations_per_epoch:
        return f"{training.epochs * training.iterations_per_epoch:,} iterations"
    return f"{training.epochs} epoch{'s' * (training.epochs != 1)}"


def in_sentence(texts: Sequence[str]) -> str:
    """One or more texts in a sentence: "A", "A and B", "A, B and C"."""
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))
