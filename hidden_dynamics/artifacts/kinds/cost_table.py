"""A table of costs: time or memory per sample, measured on the machine at hand, beside the published ones.

Another machine's milliseconds say nothing about this one: what stands beside the paper's is each model's ratio to the
baseline, where both were measured on the paper's data and at the paper's size.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal, TypeVar

from hidden_dynamics.artifacts import beside_published
from hidden_dynamics.artifacts.base import REQUIRED, BesidePublished, SideBySide, SideBySideSettings, wrong_input
from hidden_dynamics.artifacts.beside_published import baseline_label, data_of, deviations_of, held_to, size_text
from hidden_dynamics.artifacts.notes import variants_note
from hidden_dynamics.artifacts.tables import ABSENT, Column, Table, number
from hidden_dynamics.configuration.runs import Case, Run
from hidden_dynamics.measurements.costs import MEMORIES, TIMES
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.measured import Cost

QUANTITIES = {"time": TIMES, "memory": MEMORIES}


class Settings(SideBySideSettings):
    published: str = REQUIRED
    quantity: Literal["time", "memory"]


OfCosts = TypeVar("OfCosts", bound=SideBySideSettings)


class MeasuredCosts(BesidePublished[OfCosts], SideBySide[OfCosts]):
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


class CostTable(MeasuredCosts[Settings]):
    Settings = Settings

    @property
    def runs(self) -> list[Run]:
        return []  # they are measured, not trained


@dataclass(frozen=True)
class OverProcesses:
    """A model's cost of one quantity, measured in several processes.

    Attributes:
        first: what one of them measured; all agree in what was measured.
        value, ratio: medians; the ratio is to the baseline in the same process, nan where there is none.
        low, high: the range of the ratio; nan where all processes have the same.
        published: the printed number; nan where there is none.
        published_ratio: to the baseline's printed number; nan of what deviates from the paper.
    """

    case: Case
    first: Cost
    processes: int
    value: float
    ratio: float
    low: float
    high: float
    published: float
    published_ratio: float
    deviations: str

    def data(self, artifact: CostTable) -> dict[str, Any]:
        """The row for programs."""
        numbers = ("processes", "value", "ratio", "published", "published_ratio")
        return {
            **data_of(artifact, self.case, self.first.quantity, [self.first], self.deviations),
            "unit": self.first.unit,
            **{name: getattr(self, name) for name in numbers},
            **{"ratio_low": self.low, "ratio_high": self.high},
            "published_unit": artifact.published.content["quantities"][self.first.quantity]["unit"],
        }


def draw(artifact: CostTable, evidence: Evidence) -> Table:
    """One row per model, the paper's first, then the user's own."""
    check(artifact, evidence)
    quantities = QUANTITIES[artifact.settings.quantity]
    costs = {
        case: [cost_of(artifact, evidence, case, quantity) for quantity in quantities] for case in artifact.cases()
    }
    rows = [_row(artifact, case, own) for case, own in costs.items()]
    data = [cost.data(artifact) for own in costs.values() for cost in own]
    return beside_published.table(artifact, evidence, rows, data, [machine_note(evidence)])


def _row(artifact: CostTable, case: Case, costs: Sequence[OverProcesses]) -> dict[Column, str]:
    first, baseline = costs[0].first, baseline_label(artifact)
    row: dict[Column, str] = {"Model": first.label, "N": size_text(first.size, case.size)}
    for cost in costs:
        quantity = artifact.published.content["quantities"][cost.first.quantity]
        decimals = artifact.configuration.metrics[cost.first.quantity].decimals
        ratio, low, high = (number(value, 2) for value in (cost.ratio, cost.low, cost.high))
        texts = {
            f"ours, {cost.first.unit}": significant(cost.value),
            f"÷ {baseline}’s (range)": ratio if low == ABSENT else f"{ratio} ({low} – {high})",
            f"published, {quantity['unit']}": number(cost.published, decimals),
            f"published ÷ {baseline}’s": number(cost.published_ratio, 2),
        }
        row |= {(quantity["title"], name): text for name, text in texts.items()}
    return row


# Shared with the table of times to an accuracy


def check(artifact: MeasuredCosts[Any], evidence: Evidence) -> None:
    """A `UserError` where a process has not one row for each model and quantity, as those of a publication with fewer
    models."""
    measured = Counter((row.process, row.model, row.quantity) for row in evidence.costs)
    for process in dict.fromkeys(row.process for row in evidence.costs):
        for case in artifact.cases():
            for quantity in (*TIMES, *MEMORIES):
                if measured[process, case.model, quantity] != 1:
                    why = f"process {process} has not one row for {quantity} of {case.model}"
                    raise wrong_input(artifact, "costs", why)


def cost_of(artifact: MeasuredCosts[Any], evidence: Evidence, case: Case, quantity: str) -> OverProcesses:
    """A case's cost of a quantity over processes, beside the published one."""
    baseline = artifact.published.baseline
    costs = [row for row in evidence.costs if (row.model, row.quantity) == (case.model, quantity)]
    both = [row for row in evidence.costs if row.model in (case.model, baseline)]
    ratios, deviating = [row.ratio for row in costs if row.ratio is not None], deviations_of(artifact, both)
    low, high = (min(ratios), max(ratios)) if len(set(ratios)) > 1 else (math.nan, math.nan)
    ratio, value = median(ratios) if ratios else math.nan, median(row.value for row in costs)
    published = held_to(artifact, case, quantity) if quantity in artifact.metrics() else math.nan
    printed = published_ratio(artifact, case, quantity) if not deviating else math.nan
    return OverProcesses(case, costs[0], len(costs), value, ratio, low, high, published, printed, "; ".join(deviating))


def published_ratio(artifact: MeasuredCosts[Any], case: Case, quantity: str) -> float:
    """The printed number of a case divided by that of its baseline; nan where one is not printed."""
    if quantity not in artifact.metrics():
        return math.nan
    baseline = case._replace(model=artifact.published.baseline)
    return held_to(artifact, case, quantity) / held_to(artifact, baseline, quantity)


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
