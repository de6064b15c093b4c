"""A table of costs: time or memory per sample, measured here, beside the published ones.

Another machine's milliseconds say nothing about this one: what is compared is each model's ratio to the baseline, where
both were measured on the paper's data and at the paper's size.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.measurements.costs import COLUMNS, MEMORIES, TIMES, measured_runs
from hidden_dynamics.errors import UserError
from hidden_dynamics.artifacts.notes import readings_note, scale_notes
from hidden_dynamics.artifacts.row_verdicts import COSTS_NOTE, Marks, mark_notes, mark_texts
from hidden_dynamics.papers.published import load_published, load_tasks, published_task, row_of
from hidden_dynamics.artifacts.tables import ABSENT, Table, number
from hidden_dynamics.results.text_columns import read_text_columns

_NUMBERS = ("value", "ratio", "ratio_low", "ratio_high", "rounds", "batch", "steps", "samples_per_epoch")
QUANTITIES = {"time": TIMES, "memory": MEMORIES}


def read_costs(path: Path) -> pandas.DataFrame:
    """What scripts/measure_cost.py wrote, one row per model and quantity; numbers as numbers, empty text as "".

    Raises:
        UserError: the file is missing, is not CSV, lacks columns or has text for a number.
    """
    remedy = f"there are no costs {path}: measure them first, with scripts/measure_cost.py."
    costs = read_text_columns(path, COLUMNS, "a measurement of costs", remedy)
    try:
        return costs.assign(**{column: pandas.to_numeric(costs[column]) for column in _NUMBERS})
    except ValueError as error:
        raise UserError(f"{path} is not a measurement of costs: {error}") from None


def cost_table(
    configuration: Configuration, artifact: str, costs: pandas.DataFrame, marks: Marks | None = None
) -> Table:
    """The table of `artifact`: one row per model, the paper's first, then the user's own.

    Args:
        costs: as `read_costs` gives it.
        marks: the verdicts on the artifact's claims.

    Raises:
        UserError: the costs are of another scale, task or size, or lack a model.
    """
    entry = configuration.artifacts[artifact]
    published = load_published(entry["published"])
    check_costs(configuration, artifact, costs)
    data = _collect(configuration, artifact, published, costs)
    data = data if marks is None else marks.add(data, published["baseline"])
    return Table(
        title=f"{entry['title']} ({entry['source']}): {configuration.scale_name} scale{what_differs(costs)}",
        notes=_notes(configuration, entry, published, costs, data),
        frame=_readable(configuration, published, data),
        data=data,
    )


def check_costs(configuration: Configuration, artifact: str, costs: pandas.DataFrame) -> None:
    """Hold the costs to what the artifact shows.

    Raises:
        UserError: they are of another scale, task or size, or lack a model.
    """
    entry = configuration.artifacts[artifact]
    paper_size = str(entry.get("size", ""))
    for column, value in {"scale": configuration.scale_name, "task": entry["task"], "paper_size": paper_size}.items():
        other = sorted(set(costs[column]) - {value})
        if other:
            raise UserError(f"the costs' {column} is {', '.join(other)}, and {value or 'none'} was expected.")
    for run in measured_runs(configuration, artifact):
        for quantity in (*TIMES, *MEMORIES):
            if len(_cell(costs, run.model, quantity)) != 1:
                raise UserError(f"the costs have not one row for {quantity} of {run.model}: measure them again.")


def cost_of(costs: pandas.DataFrame, model: str, quantity: str) -> pandas.Series:
    """The row of a model and a quantity."""
    return _cell(costs, model, quantity).iloc[0]


def _cell(costs: pandas.DataFrame, model: str, quantity: str) -> pandas.DataFrame:
    return costs[(costs["model"] == model) & (costs["quantity"] == quantity)]


def published_ratio(published: Mapping, model: str, size: Any, quantity: str) -> tuple[float, float]:
    """The printed value of a model and its ratio to the baseline's; NaN where the paper has none."""
    value, baseline = (
        (row_of(published, name, size) or {}).get("values", {}).get(quantity, math.nan)
        for name in (model, published["baseline"])
    )
    return value, value / baseline


def paper_dataset(entry: Mapping, published: Mapping) -> str | None:
    """The dataset of the published numbers of an artifact, where published/ names it."""
    return load_tasks(entry["published"]).get(published["task"], {}).get("dataset")


def other_than_published(frame: pandas.DataFrame, models: Sequence[str], dataset: str | None) -> list[str]:
    """Why the costs or the runs of `models` cannot be held to published ones; [] where they can.

    Args:
        frame: its rows have model, dataset, stand_in_for, size and paper_size.
        dataset: the paper's.
    """
    rows = frame[frame["model"].isin(models)]
    data = (rows["stand_in_for"] != "") | (dataset is not None and rows["dataset"] != dataset)
    size = rows["size"].astype(str) != rows["paper_size"].astype(str)
    reasons = {"the data are not the paper's": data, "the networks' sizes are not the paper's": size}
    return [reason for reason, differs in reasons.items() if differs.any()]


def not_compared_notes(data: pandas.DataFrame) -> list[str]:
    """Which rows are not held to the published numbers, and why: `data` has label, published_ratio and not_compared."""
    beside = data[data["published_ratio"].notna()]
    without = beside[beside["not_compared"].notna()]
    notes = []
    for reasons, rows in without.groupby("not_compared", sort=False):
        models = "Ours" if len(rows) == len(beside) else ", ".join(dict.fromkeys(rows["label"]))
        notes.append(f"Not held to the published numbers beside: {models}, because {reasons}.")
    return notes


def _collect(
    configuration: Configuration, artifact: str, published: Mapping, costs: pandas.DataFrame
) -> pandas.DataFrame:
    """One record per model and quantity: ours, what is published, and how the ratios compare."""
    entry = configuration.artifacts[artifact]
    comparable = published_task(configuration, entry["task"]) == published["task"]
    dataset, baseline = paper_dataset(entry, published), published["baseline"]
    records = []
    for run in measured_runs(configuration, artifact):
        reasons = other_than_published(costs, [run.model, baseline], dataset)
        for quantity in QUANTITIES[entry["quantity"]]:
            ours = cost_of(costs, run.model, quantity)
            value, ratio = published_ratio(published, run.model, entry.get("size"), quantity)
            hold = comparable and not reasons and run.model != baseline
            records.append(
                {
                    "artifact": artifact,
                    **ours.to_dict(),
                    "label": configuration.models[run.model]["label"],
                    "extra": run.model not in entry["models"],
                    "published": value if comparable else math.nan,
                    "published_unit": published["quantities"][quantity]["unit"],
                    "published_ratio": ratio if comparable else math.nan,
                    "comparison": compared(ours, ratio) if hold else None,
                    "not_compared": " and ".join(reasons) or None,
                }
            )
    return pandas.DataFrame(records)


def compared(ours: Mapping[str, float], theirs: float) -> str | None:
    """Whether our ratio is below the published one (cheaper) or above (dearer), as the table prints them.

    Where the published ratio is within the range of ours, that is said too.
    """
    if math.isnan(theirs) or math.isnan(ours["ratio"]):
        return None
    difference = round(ours["ratio"], 2) - round(theirs, 2)
    word = "the same" if abs(difference) < 0.005 else "cheaper" if difference < 0 else "dearer"
    within = word != "the same" and ours["ratio_low"] <= theirs <= ours["ratio_high"]
    return f"{word} (within the range)" if within else word


def _readable(configuration: Configuration, published: Mapping, data: pandas.DataFrame) -> pandas.DataFrame:
    baseline = configuration.models[published["baseline"]]["label"]
    rows = []
    for _, records in data.groupby("model", sort=False):
        first = records.iloc[0]
        cells = {("", "Model"): first["label"], ("", "N"): size_text(first)}
        for record in records.to_dict("records"):
            about = published["quantities"][record["quantity"]]
            cells |= {
                (about["title"], f"ours, {record['unit']}"): significant(record["value"]),
                (about["title"], f"ours ÷ {baseline}’s"): ratio_text(record),
                (about["title"], f"published, printed as {about['unit']}"): number(
                    record["published"], about["decimals"]
                ),
                (about["title"], f"published ÷ {baseline}’s"): number(record["published_ratio"], 2),
                (about["title"], "ours against published"): text_or_dash(record["comparison"]),
                **{(about["title"], name): text for name, text in mark_texts(record, ABSENT).items()},
            }
        rows.append(cells)
    frame = pandas.DataFrame(rows)
    return frame.set_axis(pandas.MultiIndex.from_tuples(frame.columns), axis="columns")


def ratio_text(record: Mapping[str, Any]) -> str:
    """The ratio and, where it was measured in rounds, the lowest and highest."""
    text = number(record["ratio"], 2)
    if pandas.isna(record["ratio_low"]):
        return text
    return f"{text} ({number(record['ratio_low'], 2)} – {number(record['ratio_high'], 2)})"


def significant(value: float, digits: int = 3) -> str:
    """A number of 0 or more with so many significant digits and no exponent, or a dash where there is none."""
    if pandas.isna(value):
        return ABSENT
    magnitude = math.floor(math.log10(value)) if value > 0 else 0
    return f"{value:.{max(digits - 1 - magnitude, 0)}f}"


def text_or_dash(value: Any) -> str:
    return ABSENT if pandas.isna(value) else value


def size_text(record: Mapping[str, Any]) -> str:
    """N as run; where it is not the paper's, the paper's too."""
    size, paper_size = str(record["size"]), str(record["paper_size"])
    return size or ABSENT if size == paper_size or not paper_size else f"{size} (paper: {paper_size})"


def what_differs(costs: pandas.DataFrame) -> str:
    """For a title: what makes the ratios others than the paper's."""
    parts = ["stand-in data"] if (costs["stand_in_for"] != "").any() else []
    parts += ["other network sizes than the paper's"] if (costs["size"] != costs["paper_size"]).any() else []
    return "".join(f", {part}" for part in parts)


def _notes(
    configuration: Configuration, entry: Mapping, published: Mapping, costs: pandas.DataFrame, data: pandas.DataFrame
) -> list[str]:
    baseline = configuration.models[published["baseline"]]["label"]
    extras = list(dict.fromkeys(data[data["extra"]]["label"]))
    return [
        *scale_notes(configuration),
        *machine_notes(configuration, costs),
        readings_note(map(json.loads, costs["readings"])),
        f"Compared are the ratios to {baseline} alone: time and memory are those of this machine and of this program.",
        *mark_notes(data, baseline, COSTS_NOTE),
        *not_compared_notes(data),
        *([_about_time(data)] if entry["quantity"] == "time" else [_about_memory(data)]),
        *published["notes"],
        *([f"Not in the paper's table: {', '.join(extras)}."] if extras else []),
    ]


def machine_notes(configuration: Configuration, costs: pandas.DataFrame) -> list[str]:
    """On what machine and on what data the costs were measured."""
    first = costs.iloc[0]
    threads = f"{first['threads']} CPU thread{'s' if first['threads'] != '1' else ''}"
    machine = first["processor"] if first["device"] == "cpu" else f"{first['device']} ({first['processor']})"
    data = first["dataset_title"]
    if first["stand_in_for"]:
        original = configuration.title_of(first["stand_in_for"])
        data = f"{data}, standing in for {original}: costs and their ratios depend on the sequences' length"
    return [
        f"Measured on {machine}, {threads}, torch {first['torch']}, {first['precision']}, {first['date']}.",
        f"A batch: {first['batch']} sequences of {first['steps']} steps. Data: {data}.",
    ]


def _about_time(data: pandas.DataFrame) -> str:
    return (
        "Training: forward, loss, backward, clipping and optimiser step. Evaluation: forward and loss. Ours: the "
        f"median of {data['rounds'].iloc[0]} rounds, each of which times every model once, in an order that rotates; a "
        "ratio is the median of the ratios within a round, in brackets the lowest and the highest."
    )


def _about_memory(data: pandas.DataFrame) -> str:
    how = "resident memory of a fresh process for each model"
    if data["device"].iloc[0] != "cpu":
        how = "memory that torch allocated"
    return (
        "Ours: the peak of a training step, and of an evaluation, beyond what was held before, divided by the samples "
        f"in the batch; {how}. MB: 10^6 bytes."
    )
