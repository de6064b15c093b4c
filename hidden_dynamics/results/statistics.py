"""Statistics of a metric over the seeds of a case: what tables show, and results/<scale>/statistics.csv lists."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Case, resampled
from hidden_dynamics.results.record import RunRecord
from hidden_dynamics.results.seeds import BY_CHANCE, in_two_clusters, margin, mean_and_std, mean_band

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Statistics:
    """A metric over seeds, in the unit that is shown.

    Attributes:
        runs: how many there are; diverged, failed, not_finite: how many of them have no number for these reasons.
        n: how many have one.
        mean, std: of these; nan where those that learned and the others are two clusters.
        median: of those that learned, in that case; else None.
        low, high: the 95 % confidence interval of the mean; nan of fewer than three, and of two clusters.
        learned: how many beat the best naive baseline; None where there is none.
    """

    runs: int
    diverged: int
    failed: int
    not_finite: int
    n: int
    mean: float
    std: float
    median: float | None
    low: float
    high: float
    learned: int | None


def over_seeds(configuration: Configuration, runs: Sequence[RunRecord], metric: str) -> Statistics:
    """The statistics of a metric over the runs of one case."""
    metrics = configuration.metrics[metric]
    finished = [run for run in runs if run.status == "finished"]
    values = [run.value(metric) * metrics.factor for run in finished]
    margins = [margin(run.naive, run.metrics, metric, metrics.sign) for run in finished]
    learned = [value for value, ahead in zip(values, margins, strict=True) if ahead is not None and ahead > BY_CHANCE]
    finite, mixed = [value for value in values if math.isfinite(value)], in_two_clusters(margins)
    overlap = resampled(configuration, runs[0].task, runs[0].model) if runs else 0.0
    _, low, high = mean_band(np.reshape(finite, (-1, 1)), overlap)
    mean, std = mean_and_std(finite)
    return Statistics(
        runs=len(runs),
        diverged=sum(run.status == "diverged" for run in runs),
        failed=sum(run.status == "failed" for run in runs),
        not_finite=len(values) - len(finite),
        n=len(finite),
        mean=math.nan if mixed else mean,
        std=math.nan if mixed else std,
        median=median(learned) if mixed else None,
        low=math.nan if mixed else float(low[0]),
        high=math.nan if mixed else float(high[0]),
        learned=None if None in margins else len(learned),
    )


def table_of(configuration: Configuration, runs: Iterable[RunRecord]) -> "pandas.DataFrame":
    """A row for each case and metric that its runs measured: task, model, size, metric and `Statistics`."""
    import pandas

    cases: dict[Case, list[RunRecord]] = {}
    for run in runs:
        cases.setdefault(run.case, []).append(run)
    rows = [
        {**case._asdict(), "size_as_run": records[0].size, "metric": metric}
        | asdict(over_seeds(configuration, records, metric))
        for case, records in cases.items()
        for metric in dict.fromkeys(name for record in records for name in record.metrics)
        if metric in configuration.metrics
    ]
    return pandas.DataFrame(rows)
