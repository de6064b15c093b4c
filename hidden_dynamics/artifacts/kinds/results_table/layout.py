"""What a reader sees of a table of results: its columns as text, its title and its notes.

Tasks that stand for one task of the paper (`published_as`) stand side by side around its numbers.
"""

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

import pandas

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.errors import UserError
from hidden_dynamics.artifacts.notes import divergence_notes, readings_note, scale_notes
from hidden_dynamics.artifacts.row_verdicts import mark_notes, mark_texts
from hidden_dynamics.papers.published import load_tasks
from hidden_dynamics.artifacts.tables import ABSENT, number, signed


def readable(configuration: Configuration, published: Mapping, data: pandas.DataFrame) -> pandas.DataFrame:
    """The cells as text, one row per model and size, columns grouped by the paper's task and metric."""
    headings, ranked = _headings(configuration, published, data), _ranked(data)
    rows = []
    for _, row in data.groupby(["model", "paper_size"], sort=False, dropna=False):
        cells = {
            ("", "Model"): row["label"].iloc[0],
            ("", "N"): _size(row),
            ("", "Parameters"): _by_task(row, "parameters", lambda text: f"{int(text):,}"),
            ("", "Published parameters"): _published_parameters(row),
        }
        groups: dict[str, dict[str, Any]] = {}
        for record in row.itertuples():
            heading, name = headings[record.task, record.metric]
            groups.setdefault(heading, {})[name] = record
        for heading, records in groups.items():
            texts = _cells(configuration, published, records, ranked)
            cells |= {(heading, name): text for name, text in texts.items()}
        rows.append(cells)
    frame = pandas.DataFrame(rows)
    # Verdicts are left out where there are none, and differences, too, where there are many columns.
    optional = ("verdict",) if ranked else ("verdict", "difference")
    frame = frame.drop(
        columns=[name for name in frame if name[1].startswith(optional) and set(frame[name]) == {ABSENT}]
    )
    return frame.set_axis(pandas.MultiIndex.from_tuples(frame.columns), axis="columns")


def _cells(
    configuration: Configuration, published: Mapping, records: Mapping[str, Any], ranked: bool
) -> dict[str, str]:
    """A row's cells in one group of columns; `records` by task, or under "" where the group has one task."""
    baseline = configuration.models[published["baseline"]]["label"]
    first = next(iter(records.values()))
    decimals = published["metrics"][first.metric]["decimals"]
    cells = {_name("ours", task): _ours_text(record, decimals, published) for task, record in records.items()}
    cells["published"] = _theirs_text(first, decimals)
    cells |= {_name("difference", task): signed(record.difference, decimals) for task, record in records.items()}
    cells |= {_name(f"against {baseline}", task): _gap_text(record, decimals) for task, record in records.items()}
    for task, record in records.items():
        cells |= {_name(name, task): text for name, text in mark_texts(record._asdict(), ABSENT).items()}
    return cells | ({"rank (published)": _rank_text(first)} if ranked else {})


def _name(name: str, task: str) -> str:
    return f"{name}, {task}" if task else name


def _ranked(data: pandas.DataFrame) -> bool:
    """Whether ranks are shown: beside several tasks or metrics in one place they would be too much to read."""
    return data["metric"].nunique() == 1 and data.groupby("published_task")["task"].nunique().max() == 1


def _headings(
    configuration: Configuration, published: Mapping, data: pandas.DataFrame
) -> dict[tuple[str, str], tuple[str, str]]:
    """{(task, metric): (heading of its group of columns, what names the task within the group)}.

    Tasks with the same published numbers share a group, unless they were run on different data.
    """
    titles = {task: configuration.tasks[task]["title"] for task in dict.fromkeys(data["task"])}
    groups: dict[tuple, list[str]] = {}
    for task, records in data.groupby("task", sort=False):
        used = records.dropna(subset=["stand_in_for"])
        original = used["stand_in_for"].iloc[0] if len(used) else None
        stand_ins = tuple(dict.fromkeys(used["dataset_title"]))
        groups.setdefault((records["published_task"].iloc[0], original, stand_ins), []).append(task)
    headings = {}
    for (_, original, stand_ins), tasks in groups.items():
        shared, names = _shared([titles[task] for task in tasks])
        heading = _heading(configuration, shared, original, stand_ins)
        for task, name in zip(tasks, names, strict=True):
            for metric, about in published["metrics"].items():
                single = len(published["metrics"]) == 1
                headings[task, metric] = (heading if single else f"{heading}: {about['title']}", name)
    places = {heading for heading, _ in headings.values()}
    if len(places) < len(groups) * len(published["metrics"]) or len(set(headings.values())) < len(headings):
        raise UserError(f"config/tasks.yaml: {', '.join(titles)}: one table shows them; give them titles that differ.")
    return headings


def _shared(titles: list[str]) -> tuple[str, list[str]]:
    """What titles like "TIMIT, next frame" begin with, and the rest of each; a single title has no rest."""
    if len(titles) == 1:
        return titles[0], [""]
    parts = [text.split(", ") for text in titles]
    begin = os.path.commonprefix(parts)
    rests = [", ".join(part[len(begin) :]) for part in parts]
    return (", ".join(begin), rests) if begin and all(rests) else (" / ".join(titles), titles)


def _heading(configuration: Configuration, task: str, original: str | None, stand_ins: tuple[str, ...]) -> str:
    """The task; where a stand-in was used, the data really used comes first."""
    if original is None:
        return task
    original = configuration.title_of(original)
    return f"{' / '.join(stand_ins)}, standing in for {original} (task {task})"


def _size(row: pandas.DataFrame) -> str:
    paper_size = row["paper_size"].iloc[0]
    text = _joined(row["size"], str)
    return text if pandas.isna(paper_size) or text == str(paper_size) else f"{text} (paper: {paper_size})"


def _published_parameters(row: pandas.DataFrame) -> str:
    text, paper_size = _by_task(row, "published_parameters", str), row["paper_size"].iloc[0]
    papers = text == ABSENT or _joined(row["size"], str) in (str(paper_size), ABSENT)
    return text if papers else f"{text} (N = {paper_size})"


def _by_task(row: pandas.DataFrame, column: str, text: Any) -> str:
    """What all tasks share, or the value of each in their order, "1.27M / 1.42M"; a dash where there is none."""
    values = row.drop_duplicates("task")[column]
    texts = [ABSENT if pandas.isna(value) else text(value) for value in values]
    given = set(texts) - {ABSENT}
    return " / ".join(texts) if len(given) > 1 else next(iter(given), ABSENT)


def _joined(values: Iterable, text: Any) -> str:
    return " / ".join(dict.fromkeys(text(value) for value in values if not pandas.isna(value))) or ABSENT


def _ours_text(record: Any, decimals: int, published: Mapping) -> str:
    failures = {"diverged": record.diverged, "not finite": record.not_finite}
    failed = [f"{what} {count} of {record.runs}" for what, count in failures.items() if count]
    if not record.n:
        return "; ".join(failed) or ABSENT
    about = "; ".join([f"n = {record.n}", *failed, *_best_of_all(record, published)])
    return f"{number(record.mean, decimals)} ± {number(record.std, decimals)} ({about})"


BEST_OF_ALL = "best of all epochs"


def _best_of_all(record: Any, published: Mapping) -> list[str]:
    """A mark for runs that chose their evaluation by what is shown, where the paper's chose by something else."""
    itself = "chosen_by" in published and record.metric in record.chosen_by.split()
    return [BEST_OF_ALL] if itself else []


def _theirs_text(record: Any, decimals: int) -> str:
    if pandas.isna(record.published_mean):
        return record.published_literature or ABSENT
    own = number(record.published_mean, decimals)
    if not pandas.isna(record.published_std):
        own += f" ± {number(record.published_std, decimals)}"
    about = "; ".join(filter(None, (record.published_literature, record.published_only_in)))
    return f"{own} ({about})" if about else own


def _gap_text(record: Any, decimals: int) -> str:
    if pandas.isna(record.gap):
        return ABSENT
    gap = signed(record.gap, decimals)
    if not isinstance(record.ordering, str):
        return gap
    return f"{record.ordering} {gap} ({signed(record.published_gap, decimals)})"


def _rank_text(record: Any) -> str:
    return ABSENT if pandas.isna(record.rank) else f"{record.rank} ({record.published_rank}) of {record.ranked}"


def title(configuration: Configuration, entry: Mapping, published: Mapping, data: pandas.DataFrame) -> str:
    """What the table shows, at which scale, whether chosen on the test set, and whether on stand-in data."""
    text = f"{entry['title']} ({entry['source']}): {configuration.scale_name} scale"
    if any(_best_of_all(record, published) for record in data.itertuples()):
        text += f", {BEST_OF_ALL} where marked"
    shown = data[data["runs"] > 0]
    if shown["stand_in_for"].notna().all():
        return f"{text}, stand-in data: not comparable with the published numbers"
    if shown["stand_in_for"].notna().any():
        return f"{text}, stand-in data in some columns: those are not comparable with the published numbers"
    return text


_RULES = {"max": "the highest of the run", "min": "the lowest of the run", "last": "the last of the run"}


def notes(
    configuration: Configuration, entry: Mapping, published: Mapping, summary: pandas.DataFrame, data: pandas.DataFrame
) -> list[str]:
    """How the numbers came about, how they compare, and what is known of the published ones."""
    baseline = configuration.models[published["baseline"]]["label"]
    lines = [
        *scale_notes(configuration),
        f"Data: {'; '.join(f'{task}: {dataset}' for task, dataset in _pairs(summary, 'task_title', 'dataset_title'))}.",
        f"Seeds: {', '.join(sorted(set(summary['seed']), key=int))}. "
        f"Device: {'; '.join(sorted(set(summary['device'])))}. "
        f"Precision: {', '.join(sorted(set(summary['precision'])))}.",
        readings_note(map(json.loads, summary["readings"]), summary["task_title"]),
        "Ours: mean ± sample standard deviation (n − 1) over n seeds of what a run reports"
        f"{_reported(published, summary)}.",
    ]
    if any(_best_of_all(record, published) for record in data.itertuples()):
        lines.append(
            f"“{BEST_OF_ALL}”: these runs chose their evaluation by the number that is shown, on the test set, as the "
            "released code does. Such numbers are higher than those of an epoch that was chosen without them."
        )
    if data["diverged"].any():
        lines.append("Runs that diverged are counted, and are not in the mean.")
        lines += divergence_notes(summary.to_dict("records"))
    if data["not_finite"].any():
        lines.append("Runs whose number is not finite are counted, and are not in the mean.")
    lines.append(
        f"Against {baseline}: our mean less our {baseline}'s{_among(published)}, in brackets the published gap; "
        f"“holds” says that both have the same sign. {_about_ranks(data, published)}"
    )
    lines += mark_notes(data, baseline)
    if not data["stand_in_for"].isna().all():
        lines.append("No difference is shown for stand-in data: a difference between two datasets means nothing.")
    sizes = data.dropna(subset=["size", "paper_size"])
    if any(size != paper_size for size, paper_size in zip(sizes["size"], sizes["paper_size"], strict=True)):
        lines.append(
            "No difference is shown where N is not the paper's. Published parameters are those at the paper's N."
        )
    rows = data.groupby(["model", "paper_size"], dropna=False)
    if rows[["parameters", "published_parameters"]].nunique().gt(1).any(axis=None):
        lines.append("Parameters with a stroke between them are those of the tasks, in the order of their columns.")
    paper_tasks = load_tasks(entry["published"])
    about_tasks = [
        note for task in dict.fromkeys(data["published_task"]) for note in paper_tasks.get(task, {}).get("notes", [])
    ]
    lines += [*_literature(data, published), *_only_in(data, published), *published["notes"], *about_tasks]
    return [*dict.fromkeys(lines), *_extras(data)]


def _reported(published: Mapping, summary: pandas.DataFrame) -> str:
    """Which metric chose a run's evaluation, and which are taken from there; nothing where no run reported any."""
    chosen = {metric: rule for metric, rule in _pairs(summary, "metric", "rule") if metric}
    if published.get("chosen_by") in chosen:  # the others are marked
        chosen = {published["chosen_by"]: chosen[published["chosen_by"]]}
    texts = [f"{metric}, {_RULES.get(rule, rule)}" for metric, rule in chosen.items()]
    others = [metric for metric in published["metrics"] if metric not in chosen]
    if texts and others:
        texts.append(f"{', '.join(others)} of the same evaluation")
    return f" ({'; '.join(texts)})" if texts else ""


def _among(published: Mapping) -> str:
    return "" if published.get("across_sizes") else " of the same size"


def _about_ranks(data: pandas.DataFrame, published: Mapping) -> str:
    caution = "with few seeds, a gap within the standard deviations says little."
    if not _ranked(data):
        return f"It compares means only: {caution}"
    return (
        f"Rank: among this table's rows{_among(published)} that have both numbers, in brackets the published rank. "
        f"Both compare means only: {caution}"
    )


def _literature(data: pandas.DataFrame, published: Mapping) -> list[str]:
    quoted = data[[bool(items) for items in data["literature"]]]
    if quoted.empty:
        return []
    keys = sorted({key for items in quoted["literature"] for item in items for key in item["keys"]})
    references = "; ".join(f"[{key}] {published['references'][key]}" for key in keys)
    text = (
        "Published numbers marked [..] are not the paper's own runs: it quotes them from the literature "
        f"({references})."
    )
    if quoted["published_mean"].notna().any():
        text += " Where the paper has a number of its own, that one is compared."
    if any(len(items) > 1 for items in quoted["literature"]):
        best = {published["metrics"][metric]["better"] for metric in quoted["metric"]}
        best = {"higher": "highest", "lower": "lowest"}[best.pop()] if len(best) == 1 else "best"
        text += f" Where there are several, the {best} is compared."
    return [text]


def _only_in(data: pandas.DataFrame, published: Mapping) -> list[str]:
    """Rows that the paper's table does not have: where its numbers of them are, and of which metrics."""
    lines = []
    for place, rows in data[data["published_only_in"] != ""].groupby("published_only_in", sort=False):
        given = dict.fromkeys(rows[rows["published_mean"].notna()]["metric"])
        titles = ", ".join(published["metrics"][metric]["title"].lower() for metric in given)
        lines.append(
            f"Not in the paper's {published['source']['table']}: {', '.join(dict.fromkeys(rows['label']))}. Their "
            f"published numbers are those of {place} ({titles}); – where there is none."
        )
    return lines


def _extras(data: pandas.DataFrame) -> list[str]:
    labels = list(dict.fromkeys(data[data["extra"]]["label"]))
    return [f"Not in the paper's table: {', '.join(labels)}."] if labels else []


def _pairs(summary: pandas.DataFrame, left: str, right: str) -> list[tuple[str, str]]:
    return list(dict.fromkeys(zip(summary[left], summary[right], strict=True)))
