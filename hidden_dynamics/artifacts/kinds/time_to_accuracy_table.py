"""A table of the time that each model trains until it reaches an accuracy, beside the published times.

By the runs' own clocks, which are what stands beside the published times; and because those are noisy where runs were
made side by side, also by the epochs that it took times the time per sample, measured with all models interleaved.
"""

import math
from statistics import fmean, median
from typing import Any

from hidden_dynamics.artifacts import beside_published
from hidden_dynamics.artifacts.base import REQUIRED, SideBySideSettings
from hidden_dynamics.artifacts.beside_published import beside, data_of, deviations_of
from hidden_dynamics.artifacts.kinds import cost_table
from hidden_dynamics.artifacts.kinds.cost_table import MeasuredCosts, significant
from hidden_dynamics.artifacts.notes import runs_note
from hidden_dynamics.artifacts.tables import Record, Table, number
from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.configuration.schema import Number
from hidden_dynamics.results.evidence import Evidence

QUANTITY = "time_to_accuracy"
COUNTED = ("epochs", "clock_minutes", "computed_minutes")  # ours in three ways


class Settings(SideBySideSettings):
    published: str = REQUIRED
    target: Number


class TimeToAccuracyTable(MeasuredCosts):
    settings: Settings
    summarised = True
    run_files = ("metrics.csv", "clock.csv")

    @property
    def reached(self) -> str:
        """The metric that is to reach the target."""
        return self.published.content["metric"]

    def deviations(self) -> list[str]:
        own, theirs = self.settings.target, self.published.content["target"]
        return [] if own == theirs else [f"a target of {percent(own)}, not {percent(theirs)}"]


def draw(artifact: TimeToAccuracyTable, evidence: Evidence) -> Table:
    """One row per model, the paper's first, then the user's own."""
    cost_table.check(artifact, evidence)
    lines = [_line(artifact, evidence, case) for case in artifact.cases()]
    baseline = next(line for line in lines if line["model"] == artifact.published.baseline)
    lines = [line | {f"{way}_ratio": line[way] / baseline[way] for way in COUNTED} for line in lines]
    notes = [cost_table.machine_note(evidence), runs_note(evidence.runs)]
    about = f": {percent(artifact.settings.target)} {artifact.reached.replace('_', ' ')}"
    rows = [_row(artifact, line) for line in lines]
    return beside_published.table(artifact, evidence, rows, lines, notes, about=about)


def percent(fraction: float) -> str:
    """As exactly as the paper prints accuracies, without zeros at the end."""
    return f"{fraction * 100:.2f}".rstrip("0").rstrip(".") + " %"


def _line(artifact: TimeToAccuracyTable, evidence: Evidence, case: Case) -> dict[str, Any]:
    """The row for programs: how many of the runs reached the target, their mean times by all ways of counting, and the
    published time."""
    runs, costs = evidence.of(case), cost_table.of_quantity(evidence, case, "training_time")
    both = [row for row in (*costs, *evidence.runs) if row.model in (case.model, artifact.published.baseline)]
    ways = [run.files.progress(artifact.reached, artifact.settings.target) for run in runs]
    reached = [(epochs, minutes) for epochs, minutes, _ in ways if epochs is not None and minutes is not None]
    epochs, minutes = map(fmean, zip(*reached, strict=True)) if reached else (math.nan, math.nan)
    epoch = median(cost.value for cost in costs) * costs[0].samples_per_epoch / 1e3 / 60  # minutes
    same_device = {run.device for run in runs} == {costs[0].device}
    deviating = deviations_of(artifact, both)
    return {
        **data_of(artifact, case, QUANTITY, runs, deviating),
        **{"reached_metric": artifact.reached, "target": artifact.settings.target},
        **{"runs": len(ways), "reached": len(reached)},
        "best": max((best for *_, best in ways if best is not None), default=None),
        **{"epochs": epochs, "clock_minutes": minutes, "computed_minutes": epochs * epoch if same_device else math.nan},
        **{how: sum(run.status == how for run in runs) for how in ("diverged", "failed")},
        **cost_table.published_costs(artifact, case, QUANTITY, deviating),
    }


def _row(artifact: TimeToAccuracyTable, line: Record) -> dict[str, str]:
    baseline = artifact.configuration.models[artifact.published.baseline].label
    decimals = artifact.configuration.metrics[QUANTITY].decimals
    lost = "".join(f"; {line[how]} {how}" for how in ("diverged", "failed") if line[how])
    best = "no evaluation" if line["best"] is None else f"best {percent(line['best'])}"
    reached = f"{line['reached']} of {line['runs']}{lost}"
    return {
        "Model": line["label"],
        "N": beside(line["size"], line["paper_size"]),
        "Reached by": reached if line["reached"] else f"not reached by any of {line['runs']} ({best}{lost})",
        "Epochs": significant(line["epochs"]),
        f"Epochs ÷ {baseline}’s": number(line["epochs_ratio"], 2),
        "Own clocks, min": significant(line["clock_minutes"]),
        f"Clocks ÷ {baseline}’s": number(line["clock_minutes_ratio"], 2),
        "Epochs × time per sample, min": significant(line["computed_minutes"]),
        f"Epochs × time ÷ {baseline}’s": number(line["computed_minutes_ratio"], 2),
        "Published, min": number(line["published"], decimals),
        f"Published ÷ {baseline}’s": number(line["published_ratio"], 2),
    }
