"""Shared by tables of costs and of times: the measurement, published ratios, and sentences on the machine."""

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING

from hidden_dynamics.artifacts.base import SideBySide
from hidden_dynamics.artifacts.tables import ABSENT
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.measurements.costs import MEMORIES, TIMES
from hidden_dynamics.results.departures import data_text, listed, original_of

if TYPE_CHECKING:
    from hidden_dynamics.artifacts.sources import Sources

Rows = Sequence[Mapping[str, str]]


def measured_costs(sources: "Sources") -> list[dict[str, str]]:
    """The costs of an artifact's models, a row for each model and quantity: `summarised` over the processes.

    Raises:
        UserError: they are of another scale, task or size, or a process has not one row for each model and quantity.
    """
    artifact, costs = sources.artifact, sources.costs
    settings = artifact.settings
    size = "" if settings.size is None else str(settings.size)
    sources.check("costs", scale=[artifact.configuration.scale_name], task=[settings.task], paper_size=[size])
    found = [(row["process"], row["model"], row["quantity"]) for row in costs]
    needed = [(cell.model, quantity) for cell in artifact.cells() for quantity in (*TIMES, *MEMORIES)]
    for process in dict.fromkeys(row["process"] for row in costs):
        for model, quantity in needed:
            if found.count((process, model, quantity)) != 1:
                raise sources.wrong("costs", f"process {process} has not one row for {quantity} of {model}")
    return [summarised([row for row in costs if (row["model"], row["quantity"]) == pair]) for pair in needed]


def summarised(rows: Rows) -> dict[str, str]:
    """A model's rows of one quantity, a process each, in one: the medians of `value` and `ratio`, and their range.

    `ratio_low` and `ratio_high` are empty where all ratios are one; `processes` says how many there were.
    """
    values, ratios = ([float(row[column]) for row in rows if row[column]] for column in ("value", "ratio"))
    low, high = (str(end(ratios)) if len(set(ratios)) > 1 else "" for end in (min, max))
    ratio = str(median(ratios)) if ratios else ""
    numbers = {"value": str(median(values)), "ratio": ratio, "ratio_low": low, "ratio_high": high}
    return {
        **{name: text for name, text in rows[0].items() if name != "process"},
        **numbers,
        "processes": str(len(rows)),
    }


def cost_of(costs: Rows, model: str, quantity: str) -> dict[str, str]:
    """The row of a model and a quantity."""
    return next(dict(row) for row in costs if (row["model"], row["quantity"]) == (model, quantity))


def as_number(text: str) -> float:
    """NaN where there is none."""
    return float(text) if text else math.nan


def published_ratio(artifact: SideBySide, cell: Cell, quantity: str) -> tuple[float, float]:
    """The printed number of a model and its ratio to the baseline's; NaN where the paper has none."""
    printed = [
        artifact.number(cell._replace(model=model), quantity) for model in (cell.model, artifact.published.baseline)
    ]
    value, baseline = (math.nan if number is None else number.value for number in printed)
    return value, value / baseline


def significant(value: float, digits: int = 3) -> str:
    """A number of 0 or more with so many significant digits and no exponent, or a dash where there is none."""
    if math.isnan(value):
        return ABSENT
    magnitude = math.floor(math.log10(value)) if value > 0 else 0
    return f"{value:.{max(digits - 1 - magnitude, 0)}f}"


def machine_notes(artifact: SideBySide, costs: Rows) -> list[str]:
    """The machine and the data that the costs were measured on."""
    first = costs[0]
    threads = f"{first['threads']} CPU thread{'s' if first['threads'] != '1' else ''}"
    machine = first["processor"] if first["device"] == "cpu" else f"{first['device']} ({first['processor']})"
    data = data_text(artifact.configuration, first)
    if original_of(artifact.configuration, first):
        data += ": costs and their ratios depend on the sequences' length"
    timed: dict[str, dict[str, None]] = {}
    for row in costs:
        module, _, name = row["implementation"].rpartition(".")
        timed.setdefault(module, {})[name] = None
    names = "; ".join(f"{listed(list(classes))} of {module}" for module, classes in timed.items())
    return [
        f"Measured on {machine}, {threads}, torch {first['torch']}, {first['precision']}, {first['date']}.",
        f"A batch: {first['batch']} sequences of {first['steps']} steps. Data: {data}.",
        f"Timed: {names}. A ratio is of these implementations, not of what the equations need.",
    ]
