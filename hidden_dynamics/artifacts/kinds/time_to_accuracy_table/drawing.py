"""A table of the time that each model trains until it reaches an accuracy, beside the published times.

By the runs' own clocks, which are what is held to the published times; and because those are noisy where runs were made
side by side, also by the epochs that it took times the time per sample that was measured with all models interleaved.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.errors import UserError
from hidden_dynamics.artifacts.kinds.cost_table.drawing import (
    check_costs,
    cost_of,
    machine_notes,
    not_compared_notes,
    other_than_published,
    paper_dataset,
    published_ratio,
    significant,
    size_text,
    text_or_dash,
    what_differs,
)
from hidden_dynamics.artifacts.notes import readings_note, scale_notes
from hidden_dynamics.artifacts.row_verdicts import Marks, mark_notes, mark_texts
from hidden_dynamics.results.milestones import Progress, progress_of
from hidden_dynamics.papers.published import load_published, published_task
from hidden_dynamics.artifacts.tables import ABSENT, Table, number


def time_to_accuracy_table(
    configuration: Configuration,
    artifact: str,
    summary: pandas.DataFrame,
    costs: pandas.DataFrame,
    root: Path = Path(),
    marks: Marks | None = None,
) -> Table:
    """The table of `artifact`, one row per model.

    Args:
        summary: one row per run, as `results_table.read_summary` gives it.
        costs: as `cost_table.read_costs` gives it.
        root: where the runs' directories are.
        marks: the verdicts on the artifact's claims.

    Raises:
        UserError: the summary or the costs belong to something else, or a run's metrics.csv or clock.csv is missing or
            cannot be read.
    """
    entry = configuration.artifacts[artifact]
    published = load_published(entry["published"])
    check_costs(configuration, artifact, costs)
    _check_summary(configuration, artifact, summary)
    data = _collect(configuration, artifact, published, summary, costs, root)
    if marks is not None:
        data = marks.add(data.assign(quantity="time_to_accuracy"), published["baseline"]).drop(columns="quantity")
    return Table(
        title=f"{entry['title']}: {percent(entry['target'])} {_metric(entry)} ({entry['source']}): "
        f"{configuration.scale_name} scale{what_differs(costs)}",
        notes=_notes(configuration, entry, published, summary, costs, data),
        frame=_readable(configuration, published, data),
        data=data,
    )


def _check_summary(configuration: Configuration, artifact: str, summary: pandas.DataFrame) -> None:
    entry = configuration.artifacts[artifact]
    if "directory" not in summary:
        raise UserError("the summary lacks the column directory: make it again, with scripts/summarise.py.")
    expected = {"artifact": artifact, "scale": configuration.scale_name, "task": entry["task"]}
    for column, value in expected.items():
        other = sorted(set(summary[column]) - {value})
        if other:
            raise UserError(f"the summary's {column} is {', '.join(other)}, and {value} was expected.")
    missing = [model for model in entry["models"] if model not in set(summary["model"])]
    if missing:
        raise UserError(f"the summary of {artifact} has no runs of {', '.join(missing)}.")


def _collect(
    configuration: Configuration,
    artifact: str,
    published: Mapping,
    summary: pandas.DataFrame,
    costs: pandas.DataFrame,
    root: Path,
) -> pandas.DataFrame:
    """One record per model: ours by both ways of counting, and what is published."""
    entry = configuration.artifacts[artifact]
    comparable = published_task(configuration, entry["task"]) == published["task"]
    dataset, target = paper_dataset(entry, published), _other_target(entry, published)
    records = []
    for model, runs in summary.groupby("model", sort=False):
        cost = cost_of(costs, model, "training_time")
        theirs, ratio = published_ratio(published, model, entry.get("size"), "time_to_accuracy")
        ways = [progress_of(root / directory, entry["metric"], entry["target"]) for directory in runs["directory"]]
        reasons = [
            reason
            for frame in (costs, summary)
            for reason in other_than_published(frame, [model, published["baseline"]], dataset)
        ]
        records.append(
            {
                "artifact": artifact,
                "scale": configuration.scale_name,
                "task": entry["task"],
                "model": model,
                "label": configuration.models[model]["label"],
                "extra": model not in entry["models"],
                "size": cost["size"],
                "paper_size": cost["paper_size"],
                "metric": entry["metric"],
                "target": entry["target"],
                **_ours(ways, _minutes_per_epoch(cost, runs)),
                "diverged": int((runs["status"] == "diverged").sum()),
                "published_minutes": theirs if comparable else math.nan,
                "published_ratio": ratio if comparable else math.nan,
                "not_compared": " and ".join(dict.fromkeys(reasons + target)) or None,
            }
        )
    return _with_ratios(pandas.DataFrame(records), published["baseline"])


def _other_target(entry: Mapping, published: Mapping) -> list[str]:
    """Why times to the artifact's target cannot be held to the published ones; [] where they can."""
    theirs = published.get("target")
    if (entry["metric"], entry["target"]) == (published.get("metric"), theirs):
        return []
    return ["the target is not the published one" + ("" if theirs is None else f" ({percent(theirs)})")]


def _minutes_per_epoch(cost: Mapping[str, Any], runs: pandas.DataFrame) -> float:
    """From the time per sample; NaN where that was measured on another device than the runs'."""
    if set(runs["device"]) != {cost["device"]}:
        return math.nan
    return cost["value"] * cost["samples_per_epoch"] / 1e3 / 60


def _ours(ways: Sequence[Progress], minutes_per_epoch: float) -> dict[str, Any]:
    """Over a model's seeds: means over those that reached the target."""
    reached = [way for way in ways if way.epochs is not None]
    epochs = fmean(way.epochs for way in reached) if reached else math.nan
    return {
        "runs": len(ways),
        "reached": len(reached),
        "best": max((way.best for way in ways if way.best is not None), default=math.nan),
        "epochs": epochs,
        "clock_minutes": fmean(way.minutes for way in reached) if reached else math.nan,
        "computed_minutes": epochs * minutes_per_epoch,
    }


def _with_ratios(data: pandas.DataFrame, baseline: str) -> pandas.DataFrame:
    """Add the ratios to the baseline, and whether that of the clocks is on the published side of 1."""
    first = data[data["model"] == baseline].iloc[0]
    for way in ("epochs", "clock_minutes", "computed_minutes"):
        data[f"{way}_ratio"] = data[way] / first[way]
    data["ordering"] = [
        None if record["model"] == baseline else _ordering(record, first) for record in data.to_dict("records")
    ]
    return data


def _ordering(record: Mapping[str, Any], baseline: Mapping[str, Any]) -> str | None:
    """None where the published ratio is of something else, or where a seed of the two did not reach the target."""
    ours, theirs = record["clock_minutes_ratio"], record["published_ratio"]
    reached = all(row["reached"] == row["runs"] for row in (record, baseline))
    if pandas.notna(record["not_compared"]) or not reached or math.isnan(ours) or math.isnan(theirs):
        return None
    return "holds" if (ours < 1) == (theirs < 1) else "fails"


def _readable(configuration: Configuration, published: Mapping, data: pandas.DataFrame) -> pandas.DataFrame:
    baseline = configuration.models[published["baseline"]]["label"]
    rows = [
        {
            "Model": record["label"],
            "N": size_text(record),
            "Reached by": _reached_text(record),
            "Epochs": significant(record["epochs"]),
            f"÷ {baseline}’s epochs": number(record["epochs_ratio"], 2),
            "Own clocks, min": significant(record["clock_minutes"]),
            f"÷ {baseline}’s clocks": number(record["clock_minutes_ratio"], 2),
            "Epochs × time per sample, min": significant(record["computed_minutes"]),
            f"÷ {baseline}’s epochs × time": number(record["computed_minutes_ratio"], 2),
            "Published, min": number(
                record["published_minutes"], published["quantities"]["time_to_accuracy"]["decimals"]
            ),
            f"Published ÷ {baseline}’s": number(record["published_ratio"], 2),
            f"Own clocks: faster or slower than {baseline}, as published": text_or_dash(record["ordering"]),
            **{name.capitalize(): text for name, text in mark_texts(record, ABSENT).items()},
        }
        for record in data.to_dict("records")
    ]
    return pandas.DataFrame(rows)


def _reached_text(record: Mapping[str, Any]) -> str:
    diverged = f"; {record['diverged']} diverged" if record["diverged"] else ""
    if record["reached"]:
        return f"{record['reached']} of {record['runs']}{diverged}"
    best = "no evaluation" if pandas.isna(record["best"]) else f"best {percent(record['best'])}"
    return f"not reached by any of {record['runs']} ({best}{diverged})"


def percent(fraction: float) -> str:
    """As exactly as the paper prints accuracies, without zeros at the end."""
    return f"{fraction * 100:.2f}".rstrip("0").rstrip(".") + " %"


def _metric(entry: Mapping) -> str:
    return entry["metric"].replace("_", " ")


def _notes(
    configuration: Configuration,
    entry: Mapping,
    published: Mapping,
    summary: pandas.DataFrame,
    costs: pandas.DataFrame,
    data: pandas.DataFrame,
) -> list[str]:
    baseline = configuration.models[published["baseline"]]["label"]
    seeds = ", ".join(sorted(set(summary["seed"]), key=int))
    extras = list(data[data["extra"]]["label"])
    return [
        *scale_notes(configuration),
        *(f"Time per sample: {note[0].lower()}{note[1:]}" for note in machine_notes(configuration, costs)[:1]),
        *machine_notes(configuration, costs)[1:],
        f"Runs: seeds {seeds}, on {'; '.join(sorted(set(summary['device'])))}.",
        readings_note(map(json.loads, summary["readings"])),
        f"Ours: from the start of the training to the first evaluation with a {_metric(entry)} of "
        f"{percent(entry['target'])} or more, without the evaluations; the mean over the seeds that reached it, which "
        "is too low where others did not.",
        "Two ways of counting: own clocks are those of the runs, which other runs on the machine slow down; so beside "
        "them stands the number of epochs times the samples of an epoch times the training time per sample, measured "
        "with all models interleaved.",
        f"Held to the published times are the ratios of the own clocks to {baseline}’s alone, because the minutes are "
        f"those of this machine, and only where every seed of the model and of {baseline} reached the target.",
        *mark_notes(data, baseline),
        *not_compared_notes(data),
        *_device_notes(summary, costs),
        *([f"There is no ratio, because {baseline} did not reach the target."] if _unreached(data, published) else []),
        *published["notes"],
        *([f"Not in the paper's table: {', '.join(extras)}."] if extras else []),
    ]


def _device_notes(summary: pandas.DataFrame, costs: pandas.DataFrame) -> list[str]:
    devices = set(costs["device"])
    others = summary[~summary["device"].isin(devices)]
    if others.empty:
        return []
    models, theirs = (", ".join(dict.fromkeys(others[column])) for column in ("label", "device"))
    return [
        f"No epochs × time per sample for {models}: trained on {theirs}, and the time per sample was measured on "
        f"{', '.join(sorted(devices))}."
    ]


def _unreached(data: pandas.DataFrame, published: Mapping) -> bool:
    return not data[data["model"] == published["baseline"]]["reached"].iloc[0]
