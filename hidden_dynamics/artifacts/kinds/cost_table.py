"""A table of costs: time or memory per sample, measured on the machine at hand, beside the published ones.

Another machine's milliseconds say nothing about this one: what is compared is each model's ratio to the baseline, where
both were measured on the paper's data and at the paper's size.
"""

import json
import math
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any, Literal

from hidden_dynamics.artifacts import comparison
from hidden_dynamics.artifacts.base import REQUIRED, BesidePublished, SideBySide, SideBySideSettings
from hidden_dynamics.artifacts.comparison import Record, Rows
from hidden_dynamics.artifacts.notes import variants_note
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import ABSENT, Table, TextRow, number
from hidden_dynamics.configuration.runs import Case, Run
from hidden_dynamics.measurements.costs import MEMORIES, TIMES
from hidden_dynamics.papers.deviations import data_text

QUANTITIES = {"time": TIMES, "memory": MEMORIES}


class Settings(SideBySideSettings):
    published: str = REQUIRED
    quantity: Literal["time", "memory"]


class MeasuredCosts(BesidePublished, SideBySide):
    """Costs of models of one size on one task."""

    form = "table"
    measured = "costs"
    alike = ("cost_table", "time_to_accuracy_table"), ("task", "size", "models")

    def measured_runs(self) -> list[Run]:
        """The runs that are measured, as the first seed trains them."""
        seed = self.configuration.seeds[0]
        return [run for run in self.case_runs if run.seed == seed]

    def metrics(self) -> list[str]:
        return list(self.published.content["quantities"])

    def ratios(self) -> Iterator[tuple[Case, Case, str]]:
        for cell in self.shown():
            for quantity in self.metrics():
                if cell.model != self.published.baseline:
                    yield cell, cell._replace(model=self.published.baseline), quantity


class CostTable(MeasuredCosts):
    Settings = Settings

    @property
    def runs(self) -> list[Run]:
        return []  # they are measured, not trained


def draw(artifact: CostTable, sources: Sources) -> Table:
    """One row per model, the paper's first, then the user's own."""
    costs, quantities = measured_costs(sources), QUANTITIES[artifact.settings.quantity]
    records = [_record(artifact, costs, cell, quantity) for cell in artifact.cases() for quantity in quantities]
    records = comparison.with_verdicts(artifact, records, sources.verdicts)
    rows = [
        _row(artifact, [record for record in records if record["model"] == cell.model]) for cell in artifact.cases()
    ]
    lines = [
        *machine_notes(artifact, costs),
        variants_note(json.loads(row["variants"]) for row in costs),
        f"Number of processes: {records[0]['processes']}, rounds in each: {records[0]['rounds']}.",
    ]
    return comparison.table(artifact, records, rows, lines)


def _record(artifact: CostTable, costs: Rows, cell: Case, quantity: str) -> Record:
    """Our number and the published one, with their ratios to the baseline's; none of what deviates from the paper."""
    both = [row for row in costs if row["model"] in (cell.model, artifact.published.baseline)]
    own = cost_of(costs, cell.model, quantity)
    record = own | comparison.begun(artifact, cell, quantity, [own], compared=both)
    unit = artifact.published.content["quantities"][quantity]["unit"]
    return record | published_costs(artifact, record) | {"published_unit": unit}


def _row(artifact: CostTable, records: Sequence[Record]) -> TextRow:
    first, baseline = records[0], comparison.baseline_label(artifact)
    cells: dict[Any, str] = {"Model": first["label"], "N": comparison.size_text(first["size"], first["paper_size"])}
    for record in records:
        quantity = artifact.published.content["quantities"][record["metric"]]
        decimals = artifact.configuration.metrics[record["metric"]].decimals
        ratio, low, high = (number(record[end], 2) for end in ("ratio", "ratio_low", "ratio_high"))
        texts = {
            f"ours, {record['unit']}": significant(record["value"]),
            f"ours ÷ {baseline}’s": ratio if low == ABSENT else f"{ratio} ({low} – {high})",
            f"published, printed as {quantity['unit']}": number(record["published"], decimals),
            f"published ÷ {baseline}’s": number(record["published_ratio"], 2),
            **comparison.verdict_texts(record),
        }
        cells |= {(quantity["title"], name): text for name, text in texts.items()}
    return cells


# Shared with the table of times to an accuracy


def measured_costs(sources: Sources) -> list[dict[str, Any]]:
    """The costs of an artifact's models, a row for each model and quantity: `over_processes`. A `UserError` where a
    process has not one row for each model and quantity, as those of a publication with fewer models."""
    artifact, costs = sources.artifact, sources.costs
    found = [(row["process"], row["model"], row["quantity"]) for row in costs]
    needed = [(cell.model, quantity) for cell in artifact.cases() for quantity in (*TIMES, *MEMORIES)]
    for process in dict.fromkeys(row["process"] for row in costs):
        for model, quantity in needed:
            if found.count((process, model, quantity)) != 1:
                raise sources.wrong("costs", f"process {process} has not one row for {quantity} of {model}")
    return [over_processes([row for row in costs if (row["model"], row["quantity"]) == pair]) for pair in needed]


def over_processes(rows: Rows) -> dict[str, Any]:
    """A model's rows of one quantity, a process each, in one: the medians of `value` and `ratio`, and their range.

    `ratio_low` and `ratio_high` are NaN where all ratios are one; `processes` says how many there were.
    """
    values, ratios = ([float(row[column]) for row in rows if row[column]] for column in ("value", "ratio"))
    low, high = (min(ratios), max(ratios)) if len(set(ratios)) > 1 else (math.nan, math.nan)
    numbers = {"value": median(values), "ratio": median(ratios) if ratios else math.nan}
    about = {name: text for name, text in rows[0].items() if name != "process"}
    return about | numbers | {"ratio_low": low, "ratio_high": high, "processes": len(rows)}


def cost_of(costs: Rows, model: str, quantity: str) -> dict[str, Any]:
    """The row of a model and a quantity."""
    return next(dict(row) for row in costs if (row["model"], row["quantity"]) == (model, quantity))


def published_costs(artifact: MeasuredCosts, record: Record) -> Record:
    """The printed number beside a record and, where it does not deviate from the paper, its ratio to the baseline's."""
    value, baseline = (
        comparison.standing(artifact, record | {"model": model})
        for model in (record["model"], artifact.published.baseline)
    )
    return {"published": value, "published_ratio": math.nan if record["deviations"] else value / baseline}


def significant(value: float) -> str:
    """A number of 0 or more with three significant digits and no exponent, or a dash where there is none."""
    if math.isnan(value):
        return ABSENT
    magnitude = math.floor(math.log10(value)) if value > 0 else 0
    return f"{value:.{max(2 - magnitude, 0)}f}"


def machine_notes(artifact: MeasuredCosts, costs: Rows) -> list[str]:
    """The machine and the data that the costs were measured on."""
    first = costs[0]
    threads = f"{first['threads']} CPU thread{'s' if first['threads'] != '1' else ''}"
    machine = first["processor"] if first["device"] == "cpu" else f"{first['device']} ({first['processor']})"
    data = data_text(artifact.configuration, first)
    return [
        f"Costs measured on {machine}, {threads}, torch {first['torch']}, {first['precision']}, {first['date']}.",
        f"A batch: {first['batch']} sequences of {first['steps']} steps. Data: {data}.",
    ]
