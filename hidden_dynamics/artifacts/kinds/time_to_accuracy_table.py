"""A table of the time that each model trains until it reaches an accuracy, beside the published times.

By the runs' own clocks, which are what stands beside the published times; and because those are noisy where runs were
made side by side, also by the epochs that it took times the time per sample, measured with all models interleaved.
"""

import math
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from hidden_dynamics.artifacts import beside_published
from hidden_dynamics.artifacts.base import REQUIRED, SideBySideSettings
from hidden_dynamics.artifacts.beside_published import baseline_label, data_of, deviations_of, held_to, size_text
from hidden_dynamics.artifacts.kinds import cost_table
from hidden_dynamics.artifacts.kinds.cost_table import MeasuredCosts, significant
from hidden_dynamics.artifacts.notes import runs_note
from hidden_dynamics.artifacts.tables import Table, number
from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.configuration.schema import Number
from hidden_dynamics.results.evidence import Evidence

QUANTITY = "time_to_accuracy"


class Settings(SideBySideSettings):
    published: str = REQUIRED
    target: Number


class TimeToAccuracyTable(MeasuredCosts[Settings]):
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


@dataclass(frozen=True)
class Times:
    """How long a case's runs trained until they had the accuracy.

    Attributes:
        reached: how many of the runs had it.
        best: the best that any had; None without an evaluation.
        epochs, clock_minutes: means over the runs that had it; nan without one.
        computed_minutes: the epochs times the time per sample; nan where this was measured on another device.
        diverged, failed: of the runs.
    """

    runs: int
    reached: int
    best: float | None
    epochs: float
    clock_minutes: float
    computed_minutes: float
    diverged: int
    failed: int

    def ratios(self, baseline: "Times") -> dict[str, float]:
        """To the baseline's, in each of the three ways of counting."""
        ways = ("epochs", "clock_minutes", "computed_minutes")
        return {f"{way}_ratio": getattr(self, way) / getattr(baseline, way) for way in ways}


def draw(artifact: TimeToAccuracyTable, evidence: Evidence) -> Table:
    """One row per model, the paper's first, then the user's own."""
    cost_table.check(artifact, evidence)
    times = {case: _times(artifact, evidence, case) for case in artifact.cases()}
    baseline = next(own for case, own in times.items() if case.model == artifact.published.baseline)
    data = [_data(artifact, evidence, case, own) | own.ratios(baseline) for case, own in times.items()]
    notes = [cost_table.machine_note(evidence), runs_note(evidence.runs)]
    about = f": {percent(artifact.settings.target)} {artifact.reached.replace('_', ' ')}"
    rows = [_row(artifact, row) for row in data]
    return beside_published.table(artifact, evidence, rows, data, notes, about=about)


def percent(fraction: float) -> str:
    """As exactly as the paper prints accuracies, without zeros at the end."""
    return f"{fraction * 100:.2f}".rstrip("0").rstrip(".") + " %"


def _times(artifact: TimeToAccuracyTable, evidence: Evidence, case: Case) -> Times:
    runs, cost = evidence.of(case), cost_table.cost_of(artifact, evidence, case, "training_time")
    ways = [run.files.progress(artifact.reached, artifact.settings.target) for run in runs]
    reached = [(epochs, minutes) for epochs, minutes, _ in ways if epochs is not None and minutes is not None]
    epochs, minutes = map(fmean, zip(*reached, strict=True)) if reached else (math.nan, math.nan)
    same_device = {run.device for run in runs} == {cost.first.device}
    epoch = cost.value * cost.first.samples_per_epoch / 1e3 / 60 if same_device else math.nan
    best = max((best for *_, best in ways if best is not None), default=None)
    lost = (sum(run.status == how for run in runs) for how in ("diverged", "failed"))
    return Times(len(ways), len(reached), best, epochs, minutes, epochs * epoch, *lost)


def _data(artifact: TimeToAccuracyTable, evidence: Evidence, case: Case, times: Times) -> dict[str, Any]:
    """The row for programs, beside the published time and its ratio to the baseline's."""
    models, runs = (case.model, artifact.published.baseline), evidence.of(case)
    both = [row for row in (*evidence.costs, *evidence.runs) if row.model in models]
    deviating = deviations_of(artifact, both)
    ratio = math.nan if deviating else cost_table.published_ratio(artifact, case, QUANTITY)
    return {
        **data_of(artifact, case, QUANTITY, runs, "; ".join(deviating)),
        **{"reached_metric": artifact.reached, "target": artifact.settings.target},
        **asdict(times),
        **{"published": held_to(artifact, case, QUANTITY), "published_ratio": ratio},
    }


def _row(artifact: TimeToAccuracyTable, row: dict[str, Any]) -> dict[str, str]:
    baseline, decimals = baseline_label(artifact), artifact.configuration.metrics[QUANTITY].decimals
    lost = "".join(f"; {row[how]} {how}" for how in ("diverged", "failed") if row[how])
    best = "no evaluation" if row["best"] is None else f"best {percent(row['best'])}"
    reached = f"{row['reached']} of {row['runs']}{lost}"
    return {
        "Model": row["label"],
        "N": size_text(row["size"], row["paper_size"]),
        "Reached by": reached if row["reached"] else f"not reached by any of {row['runs']} ({best}{lost})",
        "Epochs": significant(row["epochs"]),
        f"Epochs ÷ {baseline}’s": number(row["epochs_ratio"], 2),
        "Own clocks, min": significant(row["clock_minutes"]),
        f"Clocks ÷ {baseline}’s": number(row["clock_minutes_ratio"], 2),
        "Epochs × time per sample, min": significant(row["computed_minutes"]),
        f"Epochs × time ÷ {baseline}’s": number(row["computed_minutes_ratio"], 2),
        "Published, min": number(row["published"], decimals),
        f"Published ÷ {baseline}’s": number(row["published_ratio"], 2),
    }
