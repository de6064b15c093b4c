"""A table of results: ours over seeds beside the published numbers, and whether the published ordering holds."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.errors import UserError
from hidden_dynamics.artifacts.row_verdicts import Marks
from hidden_dynamics.papers.published import (
    NOTHING,
    UNITS,
    load_published,
    load_tasks,
    ordering,
    published_task,
    row_of,
)
from hidden_dynamics.artifacts.kinds.results_table.layout import notes, readable, title
from hidden_dynamics.artifacts.tables import Table
from hidden_dynamics.results.text_columns import read_text_columns


def read_summary(path: Any) -> pandas.DataFrame:
    """The summary of an artifact's runs, one row per run; sizes as numbers where they are numbers, empty text as "".

    `measured` becomes a mapping from metrics to numbers, empty for a run that reports nothing: it diverged before its
    first evaluation, or no evaluation of its gave a finite number.

    Raises:
        UserError: the file is missing, is not CSV or lacks columns.
    """
    remedy = f"there is no summary {path}: make it first, with scripts/summarise.py or Snakemake."
    summary = read_text_columns(path, _COLUMNS, "a summary of runs", remedy)
    sizes = [
        tuple(int(text) if text.isdigit() else text or None for text in pair)
        for pair in zip(summary["size"], summary["paper_size"], strict=True)
    ]
    summary = _with_sizes(summary, sizes)
    try:
        summary["reported"] = pandas.to_numeric(summary["reported"])
        summary["measured"] = [json.loads(text or "{}") for text in summary["measured"]]
        if not all(isinstance(measured, dict) for measured in summary["measured"]):
            raise ValueError("measured is not a mapping")
    except ValueError as error:
        raise UserError(f"{path} is not a summary of runs: {error}") from None
    return summary


def results_table(
    configuration: Configuration, artifact: str, summary: pandas.DataFrame, marks: Marks | None = None
) -> Table:
    """The table of `artifact`: the paper's rows in its order, then the models of the user's own.

    Args:
        summary: one row per run, as `read_summary` gives it.
        marks: the verdicts on the artifact's claims.

    Raises:
        UserError: the summary is empty, or belongs to another artifact, scale or metric, or a finished run that reports
            lacks one of the table's metrics; or tasks that the table shows have the same title.
    """
    entry = configuration.artifacts[artifact]
    published = load_published(entry["published"])
    _check(configuration, artifact, published, summary)
    data = _compare(_collect(configuration, artifact, published, summary), published)
    data = data if marks is None else marks.add(data, published["baseline"])
    return Table(
        title=title(configuration, entry, published, data),
        notes=notes(configuration, entry, published, summary, data),
        frame=readable(configuration, published, data),
        data=data.drop(columns=["literature", "standing"]),
    )


_COLUMNS = (
    *("artifact", "scale", "task", "task_title", "model", "label", "size", "paper_size", "seed"),
    *("dataset", "dataset_title", "stand_in_for", "parameters", "status", "diverged_at", "failure"),
    *("metric", "rule", "reported", "measured", "readings", "device", "precision"),
)


def _with_sizes(frame: pandas.DataFrame, sizes: list[tuple]) -> pandas.DataFrame:
    """`frame` with (size, paper_size) as they are: pandas would turn 128 into 128.0 beside a row that has no size."""
    columns = zip(("size", "paper_size"), zip(*sizes, strict=True), strict=True) if sizes else ()
    return frame.assign(**{name: pandas.Series(values, index=frame.index, dtype=object) for name, values in columns})


def _check(configuration: Configuration, artifact: str, published: Mapping, summary: pandas.DataFrame) -> None:
    if summary.empty:
        raise UserError(f"the summary of {artifact} has no runs.")
    metrics = published["metrics"]
    expected = {
        "artifact": [artifact],
        "scale": [configuration.scale_name],
        "metric": _choosing(configuration, published, summary),
    }
    for column, values in expected.items():
        other = sorted(set(summary[column]) - {*values, ""})  # a run that reports nothing has no metric
        if other:
            raise UserError(f"the summary's {column} is {', '.join(other)}, and {' or '.join(values)} was expected.")
    finished = summary[(summary["status"] == "finished") & (summary["metric"] != "")]
    unreported = finished[[not all(_is_number(measured.get(m)) for m in metrics) for measured in finished["measured"]]]
    if len(unreported):
        raise UserError(
            f"the summary has finished runs without a result ({', '.join(metrics)}): "
            f"{', '.join(unreported['task'] + '/' + unreported['model'] + '/seed' + unreported['seed'])}."
        )


def _choosing(configuration: Configuration, published: Mapping, summary: pandas.DataFrame) -> list[str]:
    """The metrics that may have chosen a run's evaluation: the table's own, and those that a reading of runs sets."""
    own = [published["chosen_by"]] if "chosen_by" in published else list(published["metrics"])
    taken = {reading for text in set(summary["readings"]) for reading in json.loads(text).items()}
    effects = [configuration.readings.get(name, {}).get(value, {}) for name, value in sorted(taken)]
    metrics = [effect.get("training", {}).get("report", {}).get("metric") for effect in effects]
    return [*own, *(metric for metric in metrics if metric not in (None, *own))]


def _is_number(value: Any) -> bool:
    """Whether it was measured; infinity was: a perplexity is the exponential of a loss."""
    return isinstance(value, int | float) and not math.isnan(value)


def _collect(
    configuration: Configuration, artifact: str, published: Mapping, summary: pandas.DataFrame
) -> pandas.DataFrame:
    """One record per shown row, task and metric: ours over seeds, and what is published."""
    entry = configuration.artifacts[artifact]
    listed = [(row["model"], row.get("size")) for row in entry["rows"]]
    cells = list(zip(summary["model"], summary["paper_size"], summary["task"], strict=True))
    found = [(model, paper_size) for model, paper_size, _ in cells]
    paper_tasks = load_tasks(entry["published"])
    records = []
    for model, paper_size in dict.fromkeys([*listed, *found]):
        row = row_of(published, model, paper_size)
        for task in entry["tasks"]:
            runs = summary[[cell == (model, paper_size, task) for cell in cells]]
            theirs = published_task(configuration, task)
            records += [
                {
                    "artifact": artifact,
                    "scale": configuration.scale_name,
                    "task": task,
                    "published_task": theirs,
                    "model": model,
                    "label": _only(runs, "label") or configuration.models.get(model, {}).get("label", model),
                    "extra": (model, paper_size) not in listed,
                    "paper_size": paper_size,
                    "metric": metric,
                    **_ours(runs, metric, UNITS[about["unit"]]),
                    **_theirs(row, theirs, metric, about),
                    **_data(runs, paper_tasks.get(theirs, {})),
                }
                for metric, about in published["metrics"].items()
            ]
    return _with_sizes(pandas.DataFrame(records), [(r["size"], r["paper_size"]) for r in records])


def _ours(runs: pandas.DataFrame, metric: str, unit: float) -> dict[str, Any]:
    finished = runs[runs["status"] == "finished"]
    measured = [numbers.get(metric, math.inf) * unit for numbers in finished["measured"]]
    values = pandas.Series([value for value in measured if math.isfinite(value)], dtype=float)
    return {
        "size": _only(runs, "size"),
        "parameters": _only(runs, "parameters"),
        "runs": len(runs),
        "n": len(values),
        "diverged": len(runs) - len(finished),
        "not_finite": len(measured) - len(values),
        "mean": values.mean(),
        "std": values.std(ddof=1),
        "chosen_by": " ".join(sorted(set(finished["metric"]) - {""})),
        "seeds": " ".join(sorted(set(runs["seed"]), key=int)),
        "readings": " | ".join(sorted(set(runs["readings"]))),
        "device": " | ".join(sorted(set(runs["device"]))),
        "precision": " | ".join(sorted(set(runs["precision"]))),
    }


def _theirs(row: Mapping | None, task: str, metric: str, about: Mapping) -> dict[str, Any]:
    value = (row or {}).get("values", {}).get(task, {}).get(metric, {})
    parameters = (row or {}).get("parameters")
    literature = (row or {}).get("literature", {}).get(task, {}).get(metric, [])
    best = (max if about["better"] == "higher" else min)((item["value"] for item in literature), default=math.nan)
    return {
        "published_parameters": parameters.get(task) if isinstance(parameters, Mapping) else parameters,
        "published_mean": value.get("mean", math.nan),
        "published_std": value.get("std", math.nan),
        "published_literature": "; ".join(_quoted(item, about["decimals"]) for item in literature),
        "published_only_in": (row or {}).get("only_in", ""),
        "literature": literature,
        "standing": value.get("mean", best),  # the number that is compared
    }


def _quoted(item: Mapping, decimals: int) -> str:
    return f"{item['value']:.{decimals}f} [{', '.join(map(str, item['keys']))}]"


def _data(runs: pandas.DataFrame, paper_task: Mapping) -> dict[str, Any]:
    dataset = _only(runs, "dataset")
    paper_dataset = paper_task.get("dataset", dataset)
    stand_in_for = _only(runs, "stand_in_for") or (paper_dataset if dataset not in (None, paper_dataset) else None)
    return {"dataset": dataset, "dataset_title": _only(runs, "dataset_title"), "stand_in_for": stand_in_for}


def _only(runs: pandas.DataFrame, column: str) -> Any:
    """The value that all of a cell's runs share; None without runs."""
    values = list(dict.fromkeys(runs[column]))
    if len(values) > 1:
        cell = f"{runs['task'].iloc[0]}, {runs['label'].iloc[0]}"
        raise UserError(
            f"the summary mixes runs that differ in {column} ({', '.join(map(str, values))}) in one cell: {cell}."
        )
    return values[0] if values else None


def _compare(data: pandas.DataFrame, published: Mapping) -> pandas.DataFrame:
    """Add the difference, the gap to the baseline and the rank, both among the rows of the same size, or of all."""
    comparable = data["stand_in_for"].isna() & _equal(data["size"], data["paper_size"])
    data["difference"] = (data["mean"] - data["standing"]).where(comparable)
    columns: dict[str, list] = {name: [] for name in _ORDERING}
    for record in data.itertuples():
        sign = 1 if published["metrics"][record.metric]["better"] == "higher" else -1
        same = (data["task"] == record.task) & (data["metric"] == record.metric)
        if not published.get("across_sizes"):
            same &= _equal(data["paper_size"], [record.paper_size] * len(data))
        peers = data[same]
        baseline = peers[peers["model"] == published["baseline"]]
        is_baseline = baseline.empty or record.model == published["baseline"]
        gap = math.nan if is_baseline else record.mean - baseline["mean"].iloc[0]
        published_gap = math.nan if is_baseline else record.standing - baseline["standing"].iloc[0]
        ranked = peers[~peers["extra"] & peers["mean"].notna() & peers["standing"].notna()]
        in_ranking = record.Index in ranked.index
        columns["gap"].append(gap)
        columns["published_gap"].append(published_gap)
        columns["ordering"].append(ordering(gap, published_gap))
        columns["rank"].append(_rank(record.mean, ranked["mean"], sign) if in_ranking else None)
        columns["published_rank"].append(_rank(record.standing, ranked["standing"], sign) if in_ranking else None)
        columns["ranked"].append(len(ranked) if in_ranking else None)
    for name in ("rank", "published_rank", "ranked"):
        columns[name] = pandas.array(columns[name], dtype="Int64")
    return data.assign(**columns)


_ORDERING = ("gap", "published_gap", "ordering", "rank", "published_rank", "ranked")


def _rank(value: float, values: Iterable[float], sign: int) -> int:
    return 1 + sum(sign * (other - value) > NOTHING for other in values)


def _equal(left: pandas.Series, right: Iterable) -> pandas.Series:
    """Row by row, with nothing equal to nothing."""
    pairs = zip(left, right, strict=True)
    return pandas.Series([a == b or (pandas.isna(a) and pandas.isna(b)) for a, b in pairs], index=left.index)
