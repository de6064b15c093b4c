"""What a figure says of the runs that made it: their task, data, sizes, readings and device.

A stand-in is named as one, and so is every setting of the data and every size that is not the paper's.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from hidden_dynamics.configuration import Configuration, read_yaml
from hidden_dynamics.system.files import ROOT
from hidden_dynamics.artifacts.notes import readings_note

NOT_IN_PAPERS = ("test_size", "seed")  # data settings that no paper states


def subtitle_of(configuration: Configuration, runs: Sequence[Mapping]) -> str:
    """The scale, and what is not as in the paper."""
    tasks = {task: [run for run in runs if run["task"] == task] for task in dict.fromkeys(run["task"] for run in runs)}
    replaced = [any(run["stand_in_for"] for run in shown) for shown in tasks.values()]
    changed = []
    if any(replaced):
        changed.append("stand-in data" if all(replaced) else "stand-in data in some panels")
    elif not all(is_papers(configuration, task, shown) for task, shown in tasks.items()):
        changed.append("other data settings than the paper's")
    if any(run["size"] != papers_size(run) for run in runs):
        changed.append("other network sizes than the paper's")
    return ", ".join([f"scale: {configuration.scale_name}", *changed])


def sizes_of(runs: Sequence[Mapping]) -> str:
    """The numbers of hidden units, such as "N = 48 (paper: 256)"; empty where there are none."""
    sizes = list(dict.fromkeys(run["size"] for run in runs if run["size"]))
    papers = list(dict.fromkeys(papers_size(run) for run in runs))
    if not sizes:
        return ""
    text = f"N = {' and '.join(sizes)}"
    return text if sizes == papers or papers == [""] else f"{text} (paper: {' and '.join(papers)})"


def papers_size(run: Mapping[str, str]) -> str:
    """The paper's number of hidden units, as text; in a grid of hyperparameters a row's size is its place there."""
    entry = papers_task(run["task"]).get("models", {}).get(run["model"], {})
    in_grid = "grid" in entry and not run["paper_size"].isdecimal()
    return str(entry.get("hyperparameters", {}).get("hidden_size", "")) if in_grid else run["paper_size"]


def made_note(runs: Sequence[Mapping]) -> str:
    """For a caption: the readings of the paper that the runs took, and the devices and precisions that they ran on."""
    made_on = sorted({f"{run['device']}, {run['precision']}" for run in runs})
    readings = readings_note((json.loads(run["readings"]) for run in runs), [run["task_title"] for run in runs])
    return f"{readings} Device: {'; '.join(made_on)}."


def task_title(configuration: Configuration, task: str, runs: Sequence[Mapping]) -> str:
    """The task's title, which a scale may have changed with its data; where it did not, it names the paper's task."""
    title = configuration.tasks[task]["title"]
    if is_papers(configuration, task, runs) or title != papers_task(task).get("title"):
        return title
    name, comma, rest = title.partition(", ")
    return f"{name} in the paper{comma}{rest}"


def data_of(configuration: Configuration, task: str, runs: Sequence[Mapping]) -> str:
    """The data of a panel in words: a stand-in is named as one, settings other than the paper's are listed."""
    text = "data: " + " and ".join(dict.fromkeys(run["dataset_title"] for run in runs))
    replaced = dict.fromkeys(run["stand_in_for"] for run in runs if run["stand_in_for"])
    if replaced:
        names = [configuration.title_of(name) for name in replaced]
        return f"stand-in for {' and '.join(names)}: {text.removeprefix('data: ')}"
    here, paper = configuration.tasks[task].get("data", {}), papers_task(task).get("data", {})
    keys = [key for key in here if key not in NOT_IN_PAPERS and here[key] != paper.get(key)]
    changed = [f"{key.replace('_', ' ')} {here[key]} instead of {paper.get(key)}" for key in keys]
    return f"{text}, but {', '.join(changed)}" if changed else text


def is_papers(configuration: Configuration, task: str, runs: Sequence[Mapping]) -> bool:
    """Whether a task's data are the paper's: no stand-in, and prepared as config/tasks.yaml says."""
    entries = (configuration.tasks[task], papers_task(task))
    here, paper = (
        (entry.get("dataset"), {**entry.get("data", {}), **dict.fromkeys(NOT_IN_PAPERS)}) for entry in entries
    )
    return here == paper and not any(run["stand_in_for"] for run in runs)


@functools.cache
def papers_task(task: str) -> Mapping[str, Any]:
    """The task as config/tasks.yaml has it, before scale and overrides; empty where it is not there."""
    return read_yaml(ROOT / "config" / "tasks.yaml").get(task, {})
