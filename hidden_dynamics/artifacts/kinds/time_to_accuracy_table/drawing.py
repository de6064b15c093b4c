"""A table of the time that each model trains until it reaches an accuracy, beside the published times.

By the runs' own clocks, which are what is held to the published times; and because those are noisy where runs were made
side by side, also by the epochs that it took times the time per sample that was measured with all models interleaved.
"""

import math
from collections.abc import Sequence
from statistics import fmean

from hidden_dynamics.artifacts.comparison import (
    Record,
    baseline_label,
    extras_note,
    size_text,
    without_idle,
)
from hidden_dynamics.artifacts.departure_notes import departures_in_title, departures_note, departures_of
from hidden_dynamics.artifacts.kinds.time_to_accuracy_table import TimeToAccuracyTable, percent, words
from hidden_dynamics.artifacts.measured_costs import (
    cost_of,
    machine_notes,
    measured_costs,
    published_ratio,
    significant,
)
from hidden_dynamics.artifacts.notes import runs_notes, scale_notes, title_of
from hidden_dynamics.artifacts.row_verdicts import verdict_notes, verdict_texts, with_verdicts
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import ABSENT, Table, number
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.papers.published import ordering
from hidden_dynamics.results.run_files import Progress, RunFiles

QUANTITY = "time_to_accuracy"
COUNTED = ("epochs", "clock_minutes", "computed_minutes")  # ours in three ways
Rows = Sequence[dict[str, str]]


def draw(artifact: TimeToAccuracyTable, sources: Sources) -> Table:
    """One row per model, the paper's first, then the user's own."""
    costs, cells, settings = measured_costs(sources), artifact.cells(), artifact.settings
    sources.check("summary", artifact=[artifact.name], scale=[artifact.configuration.scale_name], task=[settings.task])
    records = _with_ratios(artifact, [_record(artifact, sources, costs, cell) for cell in cells])
    records = with_verdicts(artifact, records, sources.verdicts)
    texts = [_row(artifact, record) for record in records]
    title = title_of(artifact, f": {percent(settings.target)} {_metric(artifact)}")
    return Table.of(
        title + departures_in_title(artifact, sources.summary, records),
        _notes(artifact, sources, records),
        without_idle(texts, ("published ÷", "own clocks: faster", "verdict")),
        records,
    )


def _record(artifact: TimeToAccuracyTable, sources: Sources, costs: Rows, cell: Cell) -> Record:
    """Our times by both ways of counting, and the published ones."""
    settings, published = artifact.settings, artifact.published
    runs = [row for row in sources.summary if row["model"] == cell.model]
    if not runs:
        raise sources.wrong("summary", f"it has no runs of {cell.model}")
    cost = cost_of(costs, cell.model, "training_time")
    minutes, ratio = published_ratio(artifact, cell, QUANTITY)
    departs = _departures(artifact, sources, (cell.model, published.baseline))
    ways = [RunFiles(sources.root / run["directory"]).progress(settings.metric, settings.target) for run in runs]
    return {
        "artifact": artifact.name,
        "scale": artifact.configuration.scale_name,
        "task": settings.task,
        "model": cell.model,
        "label": runs[0]["label"],
        "extra": cell.model not in settings.models,
        "size": cost["size"],
        "paper_size": cost["paper_size"],
        "quantity": QUANTITY,
        "metric": settings.metric,
        "target": settings.target,
        **_ours(ways, _minutes_per_epoch(cost, runs)),
        "diverged": sum(run["status"] == "diverged" for run in runs),
        "published_minutes": minutes,
        "published_ratio": math.nan if departs else ratio,
        "departures": departs,
    }


def _departures(artifact: TimeToAccuracyTable, sources: Sources, models: Sequence[str]) -> str | None:
    """The departures of models from the paper, the target's among them; None without any."""
    of_runs = departures_of(artifact, [row for row in (*sources.costs, *sources.summary) if row["model"] in models])
    return "; ".join(filter(None, (of_runs, *artifact.departures()))) or None


def _minutes_per_epoch(cost: dict[str, str], runs: Rows) -> float:
    """From the time per sample; NaN where that was measured on another device than the runs'."""
    if {run["device"] for run in runs} != {cost["device"]}:
        return math.nan
    return float(cost["value"]) * float(cost["samples_per_epoch"]) / 1e3 / 60


def _ours(ways: Sequence[Progress], minutes_per_epoch: float) -> Record:
    """Over a model's seeds: means over those that reached the target."""
    reached = [way for way in ways if way.epochs is not None]
    epochs = fmean(way.epochs for way in reached) if reached else math.nan
    return {
        "runs": len(ways),
        "reached": len(reached),
        "best": max((way.best for way in ways if way.best is not None), default=None),
        "epochs": epochs,
        "clock_minutes": fmean(way.minutes for way in reached) if reached else math.nan,
        "computed_minutes": epochs * minutes_per_epoch,
    }


def _with_ratios(artifact: TimeToAccuracyTable, records: Sequence[Record]) -> list[Record]:
    """Add the ratios to the baseline, and whether that of the clocks is on the published side of 1."""
    baseline = next(record for record in records if record["model"] == artifact.published.baseline)
    with_ratios = []
    for record in records:
        ratios = {f"{way}_ratio": record[way] / baseline[way] for way in COUNTED}
        clocks, theirs = ratios["clock_minutes_ratio"], record["published_ratio"]
        all_reached = all(side["reached"] == side["runs"] for side in (record, baseline))
        held = record is not baseline and not record["departures"] and all_reached
        with_ratios.append(record | ratios | {"ordering": ordering(clocks - 1, theirs - 1) if held else None})
    return with_ratios


def _row(artifact: TimeToAccuracyTable, record: Record) -> dict[str, str]:
    baseline, decimals = baseline_label(artifact), artifact.configuration.metrics[QUANTITY].decimals
    return {
        "Model": record["label"],
        "N": size_text(record["size"], record["paper_size"]),
        "Reached by": _reached_text(record),
        "Epochs": significant(record["epochs"]),
        f"÷ {baseline}’s epochs": number(record["epochs_ratio"], 2),
        "Own clocks, min": significant(record["clock_minutes"]),
        f"÷ {baseline}’s clocks": number(record["clock_minutes_ratio"], 2),
        "Epochs × time per sample, min": significant(record["computed_minutes"]),
        f"÷ {baseline}’s epochs × time": number(record["computed_minutes_ratio"], 2),
        "Published, min": number(record["published_minutes"], decimals),
        f"Published ÷ {baseline}’s": number(record["published_ratio"], 2),
        f"Own clocks: faster or slower than {baseline}, as published": record["ordering"] or ABSENT,
        **{name.capitalize(): text for name, text in verdict_texts(record).items()},
    }


def _reached_text(record: Record) -> str:
    diverged = f"; {record['diverged']} diverged" if record["diverged"] else ""
    if record["reached"]:
        return f"{record['reached']} of {record['runs']}{diverged}"
    best = "no evaluation" if record["best"] is None else f"best {percent(record['best'])}"
    return f"not reached by any of {record['runs']} ({best}{diverged})"


def _metric(artifact: TimeToAccuracyTable) -> str:
    return words(artifact.settings.metric)


def _notes(artifact: TimeToAccuracyTable, sources: Sources, records: Sequence[Record]) -> list[str]:
    baseline, summary = baseline_label(artifact), sources.summary
    held = (
        f"Held to the published times are the ratios of the own clocks to {baseline}’s alone, because the minutes are "
        f"those of this machine, and only where every seed of the model and of {baseline} reached the target."
    )
    machine, *others = machine_notes(artifact, sources.costs)
    return [
        *scale_notes(artifact.configuration),
        f"Time per sample: {machine[0].lower()}{machine[1:]}",
        *others,
        *runs_notes(summary),
        f"Ours: from the start of the training to the first evaluation with a {_metric(artifact)} of "
        f"{percent(artifact.settings.target)} or more, without the evaluations; the mean over the seeds that reached "
        "it, which is too low where others did not.",
        "Two ways of counting: own clocks are those of the runs, which other runs on the machine slow down; so beside "
        "them stands the number of epochs times the samples of an epoch times the training time per sample, measured "
        "with all models interleaved.",
        *([held] if any(not record["departures"] for record in records) else []),
        *departures_note(artifact.configuration, records),
        *verdict_notes(records, baseline),
        *_device_notes(sources),
        *_no_ratio_notes(artifact, records),
        *artifact.published.notes,
        *extras_note(records),
    ]


def _device_notes(sources: Sources) -> list[str]:
    devices = {row["device"] for row in sources.costs}
    others = [row for row in sources.summary if row["device"] not in devices]
    if not others:
        return []
    models, theirs = (", ".join(dict.fromkeys(row[column] for row in others)) for column in ("label", "device"))
    return [
        f"No epochs × time per sample for {models}: trained on {theirs}, and the time per sample was measured on "
        f"{', '.join(sorted(devices))}."
    ]


def _no_ratio_notes(artifact: TimeToAccuracyTable, records: Sequence[Record]) -> list[str]:
    reached = any(record["reached"] for record in records if record["model"] == artifact.published.baseline)
    return [] if reached else [f"There is no ratio, because {baseline_label(artifact)} did not reach the target."]
