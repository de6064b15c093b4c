"""A table of costs: time or memory per sample, measured on the machine at hand, beside the published ones.

Another machine's milliseconds say nothing about this one: what is compared is each model's ratio to the baseline, where
both were measured on the paper's data and at the paper's size.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from hidden_dynamics.artifacts import comparison
from hidden_dynamics.artifacts.base import SideBySide, SideBySideSettings
from hidden_dynamics.artifacts.comparison import Record
from hidden_dynamics.artifacts.measured_costs import (
    as_number,
    cost_of,
    machine_notes,
    measured_costs,
    published_ratio,
    significant,
)
from hidden_dynamics.artifacts.notes import readings_note, scale_notes
from hidden_dynamics.artifacts.row_verdicts import with_verdicts
from hidden_dynamics.artifacts.tables import ABSENT, Table, number
from hidden_dynamics.configuration.reading import expecting
from hidden_dynamics.configuration.runs import Cell, Run
from hidden_dynamics.measurements.costs import MEMORIES, TIMES

if TYPE_CHECKING:
    from hidden_dynamics.artifacts.sources import Sources

QUANTITIES = {"time": TIMES, "memory": MEMORIES}
NOTES = {
    "time": "Training: forward, loss, backward, clipping and optimiser step. Evaluation: forward and loss. Ours: of "
    "each process the median of {rounds} rounds, each of which times every model once, in an order that rotates; a "
    "ratio is the median of the ratios within a round.",
    "memory": "Ours: the peak of a training step, and of an evaluation, beyond what was held before, divided by the "
    "samples in the batch: on a CPU the resident memory of a fresh process for each model, on a GPU what torch "
    "allocated. MB: 10^6 bytes.",
}


class Settings(SideBySideSettings):
    published: str
    quantity: Annotated[Literal["time", "memory"], expecting("time or memory")]


class MeasuredCosts(SideBySide):
    """Costs of models of one size on one task."""

    form = "table"
    measured = "costs"
    measured_by = ("task", "size", "models")

    def measured_runs(self) -> list[Run]:
        """The runs that are measured, as the first seed trains them."""
        seed = self.configuration.seeds[0]
        return [run for run in self.cell_runs if run.seed == seed]

    def metrics(self) -> list[str]:
        return list(self.published.content["quantities"])

    def ratios(self) -> Iterator[tuple[Cell, Cell, str]]:
        for cell in self.shown():
            for quantity in self.metrics():
                if cell.model != self.published.baseline:
                    yield cell, cell._replace(model=self.published.baseline), quantity


class CostTable(MeasuredCosts):
    Settings = Settings

    @property
    def runs(self) -> list[Run]:
        return []  # they are measured, not trained


KIND = CostTable


def draw(artifact: CostTable, sources: "Sources") -> Table:
    """One row per model, the paper's first, then the user's own."""
    costs, quantities = measured_costs(sources), QUANTITIES[artifact.settings.quantity]
    records = [_record(artifact, costs, cell, quantity) for cell in artifact.cells() for quantity in quantities]
    records = with_verdicts(artifact, records, sources.verdicts)
    rows = [
        _row(artifact, [record for record in records if record["model"] == cell.model]) for cell in artifact.cells()
    ]
    lines = [
        *scale_notes(artifact.configuration),
        *machine_notes(artifact, costs),
        readings_note((row["task"], json.loads(row["readings"])) for row in costs),
        NOTES[artifact.settings.quantity].format(rounds=records[0]["rounds"]),
        f"Number of processes: {records[0]['processes']}, one after another. Ours is their median, in brackets their "
        "range; of one process it says nothing of another one. Compared with the paper’s are the ratios to "
        f"{comparison.baseline_label(artifact)} alone: time and memory are those of this machine and of this program.",
        *comparison.notes(artifact, records),
        *artifact.published.notes,
    ]
    return Table.of(comparison.title(artifact, records), lines, rows, records, ("published ÷", "verdict"))


def _record(artifact: CostTable, costs: Sequence[Mapping[str, str]], cell: Cell, quantity: str) -> Record:
    """Our number and the published one, with their ratios to the baseline's; none of what departs from the paper."""
    baseline = artifact.published.baseline
    value, ratio = published_ratio(artifact, cell, quantity)
    departs = comparison.departures_of(
        artifact, [row for row in costs if row["model"] in (cell.model, baseline)], trained=False
    )
    return {
        "artifact": artifact.name,
        **cost_of(costs, cell.model, quantity),
        "extra": cell.model not in artifact.settings.models,
        "published": value,
        "published_unit": artifact.published.content["quantities"][quantity]["unit"],
        "published_ratio": math.nan if departs else ratio,
        "departures": departs,
    }


def _row(artifact: CostTable, records: Sequence[Record]) -> dict[str | tuple[str, str], str]:
    first, baseline = records[0], comparison.baseline_label(artifact)
    cells = {"Model": first["label"], "N": comparison.size_text(first["size"], first["paper_size"])}
    for record in records:
        quantity = artifact.published.content["quantities"][record["quantity"]]
        decimals = artifact.configuration.metrics[record["quantity"]].decimals
        ratio, low, high = (number(as_number(record[end]), 2) for end in ("ratio", "ratio_low", "ratio_high"))
        texts = {
            f"ours, {record['unit']}": significant(as_number(record["value"])),
            f"ours ÷ {baseline}’s": ratio if low == ABSENT else f"{ratio} ({low} – {high})",
            f"published, printed as {quantity['unit']}": number(record["published"], decimals),
            f"published ÷ {baseline}’s": number(record["published_ratio"], 2),
            **comparison.verdict_texts(record),
        }
        cells |= {(quantity["title"], name): text for name, text in texts.items()}
    return cells
