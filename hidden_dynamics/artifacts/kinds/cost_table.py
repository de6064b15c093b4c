"""A table of costs: time or memory per sample, measured on the machine at hand, beside the published ones.

Another machine's milliseconds say nothing about this one: what stands beside the paper's is each model's ratio to the
baseline, where both were measured on the paper's data and at the paper's size.
"""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Any, Literal

from hidden_dynamics.artifacts import beside_published
from hidden_dynamics.artifacts.base import REQUIRED, SideBySide, SideBySideSettings
from hidden_dynamics.artifacts.beside_published import beside, data_of, deviations_of, held_to
from hidden_dynamics.artifacts.notes import variants_note
from hidden_dynamics.artifacts.tables import ABSENT, Column, Record, Table, number
from hidden_dynamics.configuration.runs import Case, Run
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.measured import MEMORIES, TIMES, Cost


class Settings(SideBySideSettings):
    published: str = REQUIRED
    quantity: Literal["time", "memory"]


class MeasuredCosts(SideBySide):
    """Costs of models of one size on one task."""

    form = "table"
    measured = "costs"
    alike = ("cost_table", "time_to_accuracy_table"), ("task", "size", "models")

    def measured_runs(self) -> list[Run]:
        """The runs that are measured, as the first seed trains them."""
        seed = self.configuration.seeds[0]
        return [run for run in self.case_runs if run.seed == seed]


class CostTable(MeasuredCosts):
    settings: Settings


def draw(artifact: CostTable, evidence: Evidence) -> Table:
    """One row per model, the paper's first, then the user's own."""
    check(artifact, evidence)
    quantities = TIMES if artifact.settings.quantity == "time" else MEMORIES
    costs = [[cost_of(artifact, evidence, case, quantity) for quantity in quantities] for case in artifact.cases()]
    data, rows = [line for lines in costs for line in lines], [_row(artifact, lines) for lines in costs]
    return beside_published.table(artifact, evidence, rows, data, [machine_note(evidence)])


def _row(artifact: CostTable, lines: Sequence[Record]) -> dict[Column, str]:
    first, baseline = lines[0], artifact.configuration.models[artifact.published.baseline].label
    row: dict[Column, str] = {"Model": first["label"], "N": beside(first["size"], first["paper_size"])}
    for line in lines:
        title = artifact.published.content["quantities"][line["metric"]]["title"]
        decimals = artifact.configuration.metrics[line["metric"]].decimals
        ratio, low, high = (number(line[name], 2) for name in ("ratio", "ratio_low", "ratio_high"))
        texts = {
            f"ours, {line['unit']}": significant(line["value"]),
            f"÷ {baseline}’s (range)": ratio if low == ABSENT else f"{ratio} ({low} – {high})",
            f"published, {line['published_unit']}": number(line["published"], decimals),
            f"published ÷ {baseline}’s": number(line["published_ratio"], 2),
        }
        row |= {(title, name): text for name, text in texts.items()}
    return row


# Shared with the table of times to an accuracy


def check(artifact: MeasuredCosts, evidence: Evidence) -> None:
    """A `UserError` where a process has not one row for each model and quantity, as those of a publication with fewer
    models."""
    measured = Counter((row.process, row.model, row.quantity) for row in evidence.costs)
    if not measured:
        raise artifact.wrong_input("costs", "it has no process")
    processes, models = dict.fromkeys(row.process for row in evidence.costs), [case.model for case in artifact.cases()]
    for process, model, quantity in itertools.product(processes, models, (*TIMES, *MEMORIES)):
        if measured[process, model, quantity] != 1:
            raise artifact.wrong_input("costs", f"process {process} has not one row for {quantity} of {model}")


def cost_of(artifact: CostTable, evidence: Evidence, case: Case, quantity: str) -> dict[str, Any]:
    """The row for programs of a case's cost: medians over processes of the value and of the ratio to the baseline's in
    the same process, with the ratio's range, nan where all are one; beside the published numbers."""
    costs = of_quantity(evidence, case, quantity)
    both = [row for row in evidence.costs if row.model in (case.model, artifact.published.baseline)]
    deviating, ratios = deviations_of(artifact, both), [row.ratio for row in costs if row.ratio is not None]
    low, high = (min(ratios), max(ratios)) if len(set(ratios)) > 1 else (math.nan, math.nan)
    return {
        **data_of(artifact, case, quantity, costs, deviating),
        **{"unit": costs[0].unit, "processes": len(costs), "value": median(row.value for row in costs)},
        **{"ratio": median(ratios) if ratios else math.nan, "ratio_low": low, "ratio_high": high},
        **published_costs(artifact, case, quantity, deviating),
        "published_unit": artifact.published.content["quantities"][quantity]["unit"],
    }


def of_quantity(evidence: Evidence, case: Case, quantity: str) -> list[Cost]:
    """A model's costs of a quantity, a row for each process."""
    return [row for row in evidence.costs if (row.model, row.quantity) == (case.model, quantity)]


def published_costs(artifact: MeasuredCosts, case: Case, quantity: str, deviating: list[str]) -> dict[str, float]:
    """The printed number and, where nothing deviates from the paper, its ratio to the baseline's."""
    value = held_to(artifact, case, quantity)
    ratio = value / held_to(artifact, case._replace(model=artifact.published.baseline), quantity)
    return {"published": value, "published_ratio": math.nan if deviating else ratio}


def significant(value: float) -> str:
    """A number of 0 or more with three significant digits and no exponent, or a dash where there is none."""
    if math.isnan(value):
        return ABSENT
    magnitude = math.floor(math.log10(value)) if value > 0 else 0
    return f"{value:.{max(2 - magnitude, 0)}f}"


def machine_note(evidence: Evidence) -> str:
    """The machine that the costs were measured on, how often, and the length of what was measured."""
    first, costs = evidence.costs[0], evidence.costs
    threads = f"{first.threads} CPU thread{'s' if first.threads != 1 else ''}"
    machine = first.processor if first.device == "cpu" else f"{first.device} ({first.processor})"
    return (
        f"Costs measured on {machine}, {threads}, torch {first.torch}, {first.precision}, {first.date}: "
        f"{len({row.process for row in costs})} processes of {first.rounds} rounds, batches of {first.batch} sequences "
        f"of {first.steps} steps. {variants_note(row.variants for row in costs)}"
    )
