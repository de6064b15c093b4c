"""A table of costs: time or memory per sample, measured here, beside the published ones.

Another machine's milliseconds say nothing about this one: what is compared is each model's ratio to the baseline, where
both were measured on the paper's data and at the paper's size.
"""

import json
import math
from collections.abc import Sequence

from hidden_dynamics.artifacts.comparison import (
    Record,
    baseline_label,
    extras_note,
    size_text,
    without_idle,
)
from hidden_dynamics.artifacts.departure_notes import departures_in_title, departures_note, departures_of
from hidden_dynamics.artifacts.kinds.cost_table import CostTable
from hidden_dynamics.artifacts.measured_costs import (
    as_number,
    cost_of,
    machine_notes,
    measured_costs,
    published_ratio,
    significant,
)
from hidden_dynamics.artifacts.notes import readings_note, scale_notes, title_of
from hidden_dynamics.artifacts.row_verdicts import COSTS_NOTE, verdict_notes, verdict_texts, with_verdicts
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import ABSENT, Table, number
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.measurements.costs import MEMORIES, TIMES

Rows = Sequence[dict[str, str]]
QUANTITIES = {"time": TIMES, "memory": MEMORIES}


def draw(artifact: CostTable, sources: Sources) -> Table:
    """One row per model, the paper's first, then the user's own."""
    costs, cells = measured_costs(sources), artifact.cells()
    quantities = QUANTITIES[artifact.settings.quantity]
    records = [_record(artifact, costs, cell, quantity) for cell in cells for quantity in quantities]
    records = with_verdicts(artifact, records, sources.verdicts)
    by_model = [[record for record in records if record["model"] == cell.model] for cell in cells]
    texts = [_row(artifact, group) for group in by_model]
    return Table.of(
        title_of(artifact) + departures_in_title(artifact, costs, records, trained=False),
        _notes(artifact, costs, records),
        without_idle(texts, ("published ÷", "ours against published", "verdict")),
        records,
    )


def _record(artifact: CostTable, costs: Rows, cell: Cell, quantity: str) -> Record:
    """Our number, the published one, and the comparison of their ratios; none of what departs from the paper."""
    baseline = artifact.published.baseline
    ours = cost_of(costs, cell.model, quantity)
    value, ratio = published_ratio(artifact, cell, quantity)
    departs = departures_of(artifact, [row for row in costs if row["model"] in (cell.model, baseline)], trained=False)
    return {
        "artifact": artifact.name,
        **ours,
        "extra": cell.model not in artifact.settings.models,
        "published": value,
        "published_unit": artifact.published.quantities[quantity].unit,
        "published_ratio": math.nan if departs else ratio,
        "comparison": None if departs or cell.model == baseline else _comparison(ours, ratio),
        "departures": departs,
    }


def _comparison(ours: dict[str, str], theirs: float) -> str | None:
    """Cheaper or dearer: our ratio below the published one or above, as the table prints them.

    Where the published ratio is within the range of ours, that is said too.
    """
    ratio, low, high = (as_number(ours[column]) for column in ("ratio", "ratio_low", "ratio_high"))
    if math.isnan(theirs) or math.isnan(ratio):
        return None
    difference = round(ratio, 2) - round(theirs, 2)
    word = "the same" if abs(difference) < 0.005 else "cheaper" if difference < 0 else "dearer"
    return f"{word} (within the range)" if word != "the same" and low <= theirs <= high else word


def _row(artifact: CostTable, records: Sequence[Record]) -> dict[str | tuple[str, str], str]:
    first, baseline = records[0], baseline_label(artifact)
    cells = {"Model": first["label"], "N": size_text(first["size"], first["paper_size"])}
    for record in records:
        quantity = artifact.published.quantities[record["quantity"]]
        decimals = artifact.configuration.metrics[record["quantity"]].decimals
        texts = {
            f"ours, {record['unit']}": significant(as_number(record["value"])),
            f"ours ÷ {baseline}’s": _ratio_text(record),
            f"published, printed as {quantity.unit}": number(record["published"], decimals),
            f"published ÷ {baseline}’s": number(record["published_ratio"], 2),
            "ours against published": record["comparison"] or ABSENT,
            **verdict_texts(record),
        }
        cells |= {(quantity.title, name): text for name, text in texts.items()}
    return cells


def _ratio_text(record: Record) -> str:
    """The ratio and, of several processes, its range."""
    ratio, low, high = (number(as_number(record[column]), 2) for column in ("ratio", "ratio_low", "ratio_high"))
    return ratio if low == ABSENT else f"{ratio} ({low} – {high})"


def _notes(artifact: CostTable, costs: Rows, records: Sequence[Record]) -> list[str]:
    baseline = baseline_label(artifact)
    held = (
        f"Compared are the ratios to {baseline} alone: time and memory are those of this machine and of this program."
    )
    return [
        *scale_notes(artifact.configuration),
        *machine_notes(artifact, costs),
        readings_note((row["task"], json.loads(row["readings"])) for row in costs),
        *([held] if any(not record["departures"] for record in records) else []),
        *departures_note(artifact.configuration, records),
        *verdict_notes(records, baseline, COSTS_NOTE),
        _about_time(records[0]) if artifact.settings.quantity == "time" else _about_memory(records[0]),
        *artifact.published.notes,
        *extras_note(records),
    ]


def _about_time(record: Record) -> str:
    return (
        "Training: forward, loss, backward, clipping and optimiser step. Evaluation: forward and loss. Ours: of each "
        f"process the median of {record['rounds']} rounds, each of which times every model once, in an order that "
        f"rotates; a ratio is the median of the ratios within a round. {_over_processes(record)}"
    )


def _over_processes(record: Record) -> str:
    if record["processes"] == "1":
        return "Of 1 process, which says nothing of another one."
    return f"Then the median of {record['processes']} processes, one after another, in brackets their range."


def _about_memory(record: Record) -> str:
    how = "resident memory of a fresh process for each model"
    if record["device"] != "cpu":
        how = "memory that torch allocated"
    return (
        "Ours: the peak of a training step, and of an evaluation, beyond what was held before, divided by the samples "
        f"in the batch; {how}. MB: 10^6 bytes. {_over_processes(record)}"
    )
