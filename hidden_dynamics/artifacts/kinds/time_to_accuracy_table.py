"""A table of the time that each model trains until it reaches an accuracy, beside the published times.

By the runs' own clocks, which are what is held to the published times; and because those are noisy where runs were made
side by side, also by the epochs that it took times the time per sample that was measured with all models interleaved.
"""

import math
from statistics import fmean

from hidden_dynamics.artifacts import comparison
from hidden_dynamics.artifacts.base import REQUIRED, SideBySideSettings
from hidden_dynamics.artifacts.comparison import Record, Rows
from hidden_dynamics.artifacts.kinds import cost_table
from hidden_dynamics.artifacts.kinds.cost_table import MeasuredCosts, significant
from hidden_dynamics.artifacts.notes import runs_note
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import Table, number
from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.configuration.schema import Number
from hidden_dynamics.results.run_files import RunFiles

QUANTITY = "time_to_accuracy"
COUNTED = ("epochs", "clock_minutes", "computed_minutes")  # ours in three ways


class Settings(SideBySideSettings):
    published: str = REQUIRED
    target: Number


class TimeToAccuracyTable(MeasuredCosts):
    Settings = Settings
    summarised = True
    run_files = ("metrics.csv", "clock.csv")

    @property
    def reached(self) -> str:
        """The metric that is to reach the target."""
        return self.published.content["metric"]

    def deviations(self) -> list[str]:
        own, theirs = self.settings.target, self.published.content["target"]
        return [] if own == theirs else [f"a target of {percent(own)}, not {percent(theirs)}"]


def draw(artifact: TimeToAccuracyTable, sources: Sources) -> Table:
    """One row per model, the paper's first, then the user's own."""
    costs = cost_table.measured_costs(sources)
    records = [_record(artifact, sources, costs, cell) for cell in artifact.cases()]
    baseline = next(record for record in records if record["model"] == artifact.published.baseline)
    records = [record | {f"{way}_ratio": record[way] / baseline[way] for way in COUNTED} for record in records]
    records = comparison.with_verdicts(artifact, records, sources.verdicts)
    metric, target = artifact.reached.replace("_", " "), percent(artifact.settings.target)
    lines = [*cost_table.machine_notes(artifact, costs), runs_note(sources.summary)]
    rows = [_row(artifact, record) for record in records]
    return comparison.table(artifact, records, rows, lines, about=f": {target} {metric}")


def percent(fraction: float) -> str:
    """As exactly as the paper prints accuracies, without zeros at the end."""
    return f"{fraction * 100:.2f}".rstrip("0").rstrip(".") + " %"


def _record(artifact: TimeToAccuracyTable, sources: Sources, costs: Rows, cell: Case) -> Record:
    """Our times by both ways of counting, and the published ones."""
    target, models = artifact.settings.target, (cell.model, artifact.published.baseline)
    runs = [row for row in sources.summary if row["model"] == cell.model]
    cost = cost_table.cost_of(costs, cell.model, "training_time")
    both = [row for row in (*costs, *sources.summary) if row["model"] in models]
    ways = [RunFiles.of_row(run, sources.root).progress(artifact.reached, target) for run in runs]
    reached = [(epochs, minutes) for epochs, minutes, _ in ways if epochs is not None]
    epochs, minutes = map(fmean, zip(*reached, strict=True)) if reached else (math.nan, math.nan)
    same_device = {run["device"] for run in runs} == {cost["device"]}
    epoch = cost["value"] * float(cost["samples_per_epoch"]) / 1e3 / 60 if same_device else math.nan
    record = comparison.begun(artifact, cell, QUANTITY, runs, compared=both)
    return {
        **record,
        "reached_metric": artifact.reached,
        "target": target,
        "runs": len(ways),
        "reached": len(reached),
        "best": max((best for *_, best in ways if best is not None), default=None),
        "epochs": epochs,
        "clock_minutes": minutes,
        "computed_minutes": epochs * epoch,
        **{how: sum(run["status"] == how for run in runs) for how in ("diverged", "failed")},
        **cost_table.published_costs(artifact, record),
    }


def _row(artifact: TimeToAccuracyTable, record: Record) -> dict[str, str]:
    baseline, decimals = comparison.baseline_label(artifact), artifact.configuration.metrics[QUANTITY].decimals
    lost = "".join(f"; {record[how]} {how}" for how in ("diverged", "failed") if record[how])
    best = "no evaluation" if record["best"] is None else f"best {percent(record['best'])}"
    reached = f"{record['reached']} of {record['runs']}{lost}"
    return {
        "Model": record["label"],
        "N": comparison.size_text(record["size"], record["paper_size"]),
        "Reached by": reached if record["reached"] else f"not reached by any of {record['runs']} ({best}{lost})",
        "Epochs": significant(record["epochs"]),
        f"÷ {baseline}’s epochs": number(record["epochs_ratio"], 2),
        "Own clocks, min": significant(record["clock_minutes"]),
        f"÷ {baseline}’s clocks": number(record["clock_minutes_ratio"], 2),
        "Epochs × time per sample, min": significant(record["computed_minutes"]),
        f"÷ {baseline}’s epochs × time": number(record["computed_minutes_ratio"], 2),
        "Published, min": number(record["published"], decimals),
        f"Published ÷ {baseline}’s": number(record["published_ratio"], 2),
        **{name.capitalize(): text for name, text in comparison.verdict_texts(record).items()},
    }
