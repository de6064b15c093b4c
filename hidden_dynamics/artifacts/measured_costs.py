"""Shared by tables of costs and of times: the measurement, published ratios, and sentences on the machine."""

import math
from collections.abc import Mapping, Sequence

from hidden_dynamics.artifacts.kinds.cost_table import MeasuredCosts
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import ABSENT
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.measurements.costs import MEMORIES, TIMES
from hidden_dynamics.results.departures import data_text, original_of

Rows = Sequence[Mapping[str, str]]


def measured_costs(sources: Sources) -> list[dict[str, str]]:
    """The costs of an artifact's models, a row for each model and quantity.

    Raises:
        UserError: they are of another scale, task or size, or have not one row for each model and quantity.
    """
    artifact, costs = sources.artifact, sources.costs
    settings = artifact.settings
    size = "" if settings.size is None else str(settings.size)
    sources.check("costs", scale=[artifact.configuration.scale_name], task=[settings.task], paper_size=[size])
    found = [(row["model"], row["quantity"]) for row in costs]
    for cell in artifact.cells():
        for quantity in (*TIMES, *MEMORIES):
            if found.count((cell.model, quantity)) != 1:
                raise sources.wrong("costs", f"it has not one row for {quantity} of {cell.model}")
    return costs


def cost_of(costs: Rows, model: str, quantity: str) -> dict[str, str]:
    """The row of a model and a quantity."""
    return next(dict(row) for row in costs if (row["model"], row["quantity"]) == (model, quantity))


def as_number(text: str) -> float:
    """NaN where there is none."""
    return float(text) if text else math.nan


def published_ratio(artifact: MeasuredCosts, cell: Cell, quantity: str) -> tuple[float, float]:
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


def machine_notes(artifact: MeasuredCosts, costs: Rows) -> list[str]:
    """The machine and the data that the costs were measured on."""
    first = costs[0]
    threads = f"{first['threads']} CPU thread{'s' if first['threads'] != '1' else ''}"
    machine = first["processor"] if first["device"] == "cpu" else f"{first['device']} ({first['processor']})"
    data = data_text(artifact.configuration, first)
    if original_of(artifact.configuration, first):
        data += ": costs and their ratios depend on the sequences' length"
    return [
        f"Measured on {machine}, {threads}, torch {first['torch']}, {first['precision']}, {first['date']}.",
        f"A batch: {first['batch']} sequences of {first['steps']} steps. Data: {data}.",
    ]
