"""The rows and columns of a table of results, as text.

Tasks that stand for one task of the paper (`published_as`) stand side by side around its numbers.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hidden_dynamics.artifacts.comparison import (
    Record,
    gap_heading,
    gap_text,
    ours_text,
    size_text,
    value_text,
    without_idle,
)
from hidden_dynamics.artifacts.kinds.results_table import ResultsTable
from hidden_dynamics.artifacts.row_verdicts import verdict_texts
from hidden_dynamics.artifacts.tables import ABSENT, number, signed
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.errors import UserError
from hidden_dynamics.papers.published import published_task
from hidden_dynamics.results.departures import original_of

Texts = dict[tuple[str, str], str]
BEST_OF_ALL = "best of all epochs"


def layout(artifact: ResultsTable, records: Sequence[Record], others: Sequence[Record] = ()) -> list[Texts]:
    """A row for each model and size, columns grouped by the paper's task and metric.

    Args:
        others: of the last rows, those of no models, which have our numbers alone.
    """
    headings = _headings(artifact, records)
    groups: dict[tuple[str, int | str | None], list[Record]] = {}
    for record in records:
        cell = Cell(record["task"], record["model"], record["paper_size"])
        groups.setdefault(artifact.row_name(cell), []).append(record)
    against = {
        task: gap_heading(artifact, [record for record in records if record["task"] == task])
        for task in artifact.settings.tasks
    }
    rows = [_row(artifact, size, group, headings, against) for (_, size), group in groups.items()]
    for label in dict.fromkeys(record["label"] for record in others):
        rows.append(_other_row(artifact, [record for record in others if record["label"] == label], headings))
    return without_idle(rows, ("published parameters", "difference", "verdict", "rank"))


def ranked(records: Sequence[Record]) -> bool:
    """True where ranks are shown: beside several tasks or metrics in one place they would be too much to read."""
    tasks = {record["task"] for record in records}
    return len({r["metric"] for r in records}) == 1 and len({r["published_task"] for r in records}) == len(tasks)


def best_of_all(artifact: ResultsTable, record: Mapping[str, Any]) -> bool:
    """True of runs that chose their evaluation by the number that is shown, where the paper's chose by another."""
    return artifact.published.chosen_by is not None and record["metric"] in record["chosen_by"].split()


def _row(
    artifact: ResultsTable,
    paper_size: int | str | None,
    records: Sequence[Record],
    headings: Mapping,
    against: Mapping[str, str],
) -> Texts:
    run_as = " / ".join(dict.fromkeys(str(r["size"]) for r in records if r["size"] is not None)) or ABSENT
    parameters = _by_task(records, "published_parameters", str)
    if parameters != ABSENT and run_as not in (str(paper_size), ABSENT):
        parameters += f" (N = {paper_size})"
    cells = {
        ("", "Model"): records[0]["label"],
        ("", "N"): size_text(run_as, paper_size),
        ("", "Parameters"): _by_task(records, "parameters", lambda text: f"{int(text):,}"),
        ("", "Published parameters"): parameters,
    }
    groups: dict[str, dict[str, Record]] = {}
    for record in records:
        heading, name = headings[record["task"], record["metric"]]
        groups.setdefault(heading, {})[name] = record
    for heading, group in groups.items():
        cells |= {(heading, name): text for name, text in _cells(artifact, group, ranked(records), against).items()}
    return cells


def _other_row(artifact: ResultsTable, records: Sequence[Record], headings: Mapping) -> Texts:
    cells = {("", "Model"): records[0]["label"]}
    for record in records:
        heading, name = headings[record["task"], record["metric"]]
        decimals = artifact.configuration.metrics[record["metric"]].decimals
        same = not record["std"] > 0  # of all seeds
        text = number(record["mean"], decimals) if same else ours_text(record, {}, decimals)
        cells[heading, _name("ours", name)] = text
    return cells


def _cells(
    artifact: ResultsTable, records: Mapping[str, Record], with_ranks: bool, against: Mapping[str, str]
) -> dict[str, str]:
    """A row's cells in one group of columns.

    Args:
        records: by what names their task within the group; "" where the group has one task.
        against: the headings of the gaps to the baseline, by task.
    """
    first = next(iter(records.values()))
    decimals = artifact.configuration.metrics[first["metric"]].decimals

    def by_task(name: str, text: Callable[[Record], str]) -> dict[str, str]:
        return {_name(name, task): text(record) for task, record in records.items()}

    cells = by_task("ours", lambda record: _ours_text(artifact, record, decimals))
    cells["published"] = _published_text(first, decimals)
    cells |= by_task("difference", lambda record: signed(record["difference"], decimals))
    for task, record in records.items():
        cells[_name(against[record["task"]], task)] = gap_text(record, decimals)
    for task, record in records.items():
        cells |= {_name(name, task): text for name, text in verdict_texts(record).items()}
    return cells | ({"rank (published)": _rank_text(first)} if with_ranks else {})


def _name(name: str, task: str) -> str:
    return f"{name}, {task}" if task else name


def _headings(artifact: ResultsTable, records: Sequence[Record]) -> dict[tuple[str, str], tuple[str, str]]:
    """{(task, metric): (heading of its group of columns, what names the task within the group)}.

    Tasks with the same published numbers share a group, unless they were run on different data.
    """
    configuration = artifact.configuration
    titles = {task: configuration.tasks[task].title for task in artifact.settings.tasks}
    metrics = {task: artifact.metrics_on(task) for task in titles}
    groups: dict[tuple, list[str]] = {}
    for task in titles:
        ran = [record for record in records if record["task"] == task and record["dataset_title"]]
        used = [record for record in ran if original_of(configuration, record)]
        original = original_of(configuration, used[0]) if used else None
        stand_ins = tuple(dict.fromkeys(record["dataset_title"] for record in used))
        groups.setdefault((published_task(configuration, task), original, stand_ins), []).append(task)
    headings = {}
    for (_, original, stand_ins), tasks in groups.items():
        heading, names = _shared([titles[task] for task in tasks])
        if original is not None:  # the data really used come first
            heading = f"{' / '.join(stand_ins)} in place of {original} (task {heading})"
        for task, name in zip(tasks, names, strict=True):
            for metric in metrics[task]:
                title = f"{heading}: {artifact.heading(metric)}" if len(artifact.metrics()) > 1 else heading
                headings[task, metric] = (title, name)
    places = {heading for heading, _ in headings.values()}
    needed = sum(len(metrics[tasks[0]]) for tasks in groups.values())
    if len(places) < needed or len(set(headings.values())) < len(headings):
        text = f"config/tasks.yaml: {', '.join(titles)}: one table shows them; give them titles that differ."
        raise UserError(text, "config/tasks.yaml", f"{list(titles)[-1]}.title")
    return headings


def _shared(titles: Sequence[str]) -> tuple[str, list[str]]:
    """The common beginning of titles like "TIMIT, next frame", and the rest of each; a single title has no rest."""
    if len(titles) == 1:
        return titles[0], [""]
    parts = [text.split(", ") for text in titles]
    begin = os.path.commonprefix(parts)
    rests = [", ".join(part[len(begin) :]) for part in parts]
    return (", ".join(begin), rests) if begin and all(rests) else (" / ".join(titles), list(titles))


def _by_task(records: Sequence[Record], column: str, text: Callable[[Any], str]) -> str:
    """The value that all tasks share, or that of each in their order, "1.27M / 1.42M"; a dash where there is none."""
    values = {record["task"]: record[column] for record in records}.values()
    texts = [ABSENT if value is None else text(value) for value in values]
    given = set(texts) - {ABSENT}
    return " / ".join(texts) if len(given) > 1 else next(iter(given), ABSENT)


def _ours_text(artifact: ResultsTable, record: Record, decimals: int) -> str:
    failed = {"diverged": record["diverged"], "not finite": record["not_finite"]}
    return ours_text(record, failed, decimals, *([BEST_OF_ALL] if best_of_all(artifact, record) else []))


def _published_text(record: Record, decimals: int) -> str:
    literature, only_in = record["published_literature"], record["published_only_in"]
    quoted = "quoted" if record["published_quoted"] else ""
    if record["published_mean"] is None:
        return literature or ABSENT
    own = value_text(record["published_mean"], record["published_std"], decimals)
    about = "; ".join(filter(None, (quoted, literature, only_in)))
    return f"{own} ({about})" if about else own


def _rank_text(record: Record) -> str:
    return ABSENT if record["rank"] is None else f"{record['rank']} ({record['published_rank']}) of {record['ranked']}"
