"""Notes of a figure on its runs, from their records: task, data, sizes, readings, device.

A stand-in is named as one, and so is every setting of the data and every size that is not the paper's. A run is its row
of a summary, as text by column.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hidden_dynamics.artifacts.notes import LAST, RULES, commits_note, effects_taken, readings_note, scale_notes
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.papers.published import within_sentence
from hidden_dynamics.results.departures import WORDS, changed_words, departures, listed
from hidden_dynamics.results.rows import Row

NOT_IN_PAPERS = ("test_size", "seed")  # data settings that no paper states


def subtitle_of(configuration: Configuration, runs: Sequence[Row]) -> str:
    """The scale, and what is not as in the paper."""
    tasks = [[run for run in runs if run["task"] == task] for task in dict.fromkeys(run["task"] for run in runs)]
    replaced = [any(run["stand_in_for"] for run in shown) for shown in tasks]
    changed, other = [], []
    if any(replaced):
        changed.append("stand-in data" if all(replaced) else "stand-in data in some panels")
    elif not is_papers(configuration, runs):
        other.append("data settings")
    if any(run["size"] != papers_size(configuration, run) for run in runs):
        other.append("network sizes")
    if set(changed_words(configuration, [run["task"] for run in runs])) - {WORDS["data"]}:
        other.append("settings")
    if other:
        changed.append(f"other {listed(other)} than the paper's")
    return ", ".join([f"scale: {configuration.scale_name}", *changed])


def scale_note(configuration: Configuration, runs: Sequence[Row]) -> str:
    """For a caption: the scale, and all in which the runs depart from the paper."""
    texts = departures(configuration, runs)
    return " ".join([*scale_notes(configuration), *([f"Departs from the paper: {'; '.join(texts)}."] if texts else [])])


def sizes_of(configuration: Configuration, runs: Sequence[Row]) -> str:
    """The numbers of hidden units, such as "N = 48 (paper: 256)"; empty where there are none."""
    sizes = list(dict.fromkeys(run["size"] for run in runs if run["size"]))
    papers = list(dict.fromkeys(papers_size(configuration, run) for run in runs))
    if not sizes:
        return ""
    text = f"N = {' and '.join(sizes)}"
    return text if sizes == papers or papers == [""] else f"{text} (paper: {' and '.join(papers)})"


def papers_size(configuration: Configuration, run: Row) -> str:
    """The paper's number of hidden units, as text; in a grid of hyperparameters a row's size is its place there."""
    model = configuration.papers_tasks[run["task"]].models.get(run["model"])
    in_grid = model is not None and model.grid is not None and not run["paper_size"].isdecimal()
    return str(model.hyperparameters.get("hidden_size", "")) if in_grid else run["paper_size"]


def made_note(runs: Sequence[Row]) -> str:
    """For a caption: the readings of the paper that the runs took, and the devices, precisions and commits of these."""
    made_on = sorted({f"{run['device']}, {run['precision']}" for run in runs})
    readings = readings_note((run["task_title"], json.loads(run["readings"])) for run in runs)
    return f"{readings} Device: {'; '.join(made_on)}.{commits_note(runs)}"


def splits_note(configuration: Configuration, runs: Sequence[Row]) -> str:
    """For a caption: that seeds are random splits of the same data; empty where they are not."""
    if not any(effect.resampled for effect in effects_taken(configuration, runs)):
        return ""
    return "Seed k has the k-th random split of the series; test sets overlap, so the seeds are not independent."


def band_text(configuration: Configuration, runs: Sequence[Row]) -> str:
    """For a caption: what a band is, and how it is corrected where seeds are random splits of the same data."""
    shares = sorted({effect.resampled for effect in effects_taken(configuration, runs) if effect.resampled})
    if not shares:
        return "95 % t band over seeds"
    added = " or ".join(f"{share:g}" for share in shares)
    return (
        f"95 % t band over seeds (where they are splits of the same data, n_test/n_train = {added} is added to 1/n: "
        "Nadeau and Bengio 2003)"
    )


def weights_note(configuration: Configuration, runs: Sequence[Row]) -> str:
    """For a caption: the evaluation whose weights were recorded; empty where no run reports any."""
    rule = chosen_note(configuration, runs)
    return f"Weights: of the {rule}." if rule else ""


def chosen_note(configuration: Configuration, runs: Sequence[Row]) -> str:
    """Which evaluation the runs report: "evaluation with the highest validation accuracy", "last evaluation"; empty
    where none reports any."""
    rules = dict.fromkeys((run["rule"], run["metric"]) for run in runs if run["metric"])
    titles = {metric: configuration.metrics[metric].title for _, metric in rules}
    best = [f"{RULES[rule]} {within_sentence(titles[metric])}" for rule, metric in rules if rule != LAST]
    texts = [f"evaluation with the {' or '.join(best)}"] if best else []
    texts += ["last evaluation"] if any(rule == LAST for rule, _ in rules) else []
    return " or ".join(texts)


def legend_label(runs: Sequence[Row]) -> str:
    """A model's name with its diverged runs, "LSTM (1 of 2 seeds diverged)", by task where it is shown on several."""
    notes = []
    tasks = list(dict.fromkeys((run["task"], run["paper_size"]) for run in runs))
    for task in tasks:
        status = [run["status"] for run in runs if (run["task"], run["paper_size"]) == task]
        if "diverged" in status:
            where = f" on {task[0]}" if len(tasks) > 1 else ""
            notes.append(f"{status.count('diverged')} of {len(status)} seeds diverged{where}")
    return runs[0]["label"] + (f" ({'; '.join(notes)})" if notes else "")


def task_title(configuration: Configuration, runs: Sequence[Row]) -> str:
    """The title of the runs' task, as `titled`."""
    return titled(configuration, runs[0]["task"], runs[0]["task_title"], is_papers(configuration, runs))


def titled(configuration: Configuration, task: str, title: str, papers_data: bool) -> str:
    """A task's title, which a scale may have changed with its data; where it did not, it names the paper's task."""
    if papers_data or title != configuration.papers_tasks[task].title:
        return title
    name, comma, rest = title.partition(", ")
    return f"{name} in the paper{comma}{rest}"


def data_of(configuration: Configuration, runs: Sequence[Row]) -> str:
    """The data of one task's runs in words: a stand-in is named as one, settings other than the paper's are listed."""
    text = " and ".join(dict.fromkeys(run["dataset_title"] for run in runs))
    replaced = dict.fromkeys(run["stand_in_for"] for run in runs if run["stand_in_for"])
    if replaced:
        return f"stand-in for {' and '.join(map(configuration.title_of, replaced))}: {text}"
    here, paper = json.loads(runs[0]["data"]), configuration.papers_tasks[runs[0]["task"]].data
    said = configuration.datasets[runs[0]["dataset"]].variants  # in the title
    keys = [key for key in here if key not in (*NOT_IN_PAPERS, *said) and here[key] != paper.get(key)]
    changed = [f"{key.replace('_', ' ')} {here[key]} instead of {paper.get(key)}" for key in keys]
    return f"data: {text}, but {', '.join(changed)}" if changed else f"data: {text}"


def is_papers(configuration: Configuration, runs: Sequence[Row]) -> bool:
    """True where the runs' data are the paper's: no stand-in, and prepared as config/tasks.yaml says."""
    return not any(run["stand_in_for"] for run in runs) and all(
        are_papers_data(configuration, run["task"], run["dataset"], json.loads(run["data"])) for run in runs
    )


def are_papers_data(configuration: Configuration, task: str, dataset: str, data: Mapping[str, Any]) -> bool:
    """True where a dataset and its settings are those of the task in config/tasks.yaml."""
    paper = configuration.papers_tasks[task]
    unstated = dict.fromkeys(NOT_IN_PAPERS)
    return (dataset, {**data, **unstated}) == (paper.dataset, {**paper.data, **unstated})
