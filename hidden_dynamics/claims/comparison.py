"""The difference between the means of two cases: its interval, its p, and whether the better one has learned.

Rows of tables and claims are compared by this alone. docs/statistics.md gives the rules.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hidden_dynamics.claims.statistics import Estimate, Sample, paired, welch
from hidden_dynamics.configuration.runs import Case, resampled, seeds_are_blocks
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.record import RunRecord
from hidden_dynamics.results.seeds import FEWEST, LEVEL, best

LEARNING = 0.05  # the level at which a model is called better than the best naive baseline
WELCH, PAIRED, RESAMPLED = "Welch's t", "paired t", "corrected resampled t"


@dataclass(frozen=True)
class Values:
    """A number of each run of a case.

    Attributes:
        runs: all of them.
        by_seed: of those that have a finite number, that number, in the unit that is shown.
        naive: of the same runs, the score of the best naive baseline; {} where none is known.
        baseline: the name of that baseline.
        gains: by how much the same runs are ahead of it.
        sign: 1 where more is better, else -1.
        overlap: n_test / n_train, where the data of seeds are random parts of the same data; else 0.
    """

    label: str
    runs: Sequence[RunRecord]
    by_seed: Mapping[int, float]
    naive: Mapping[int, float]
    baseline: str
    gains: Sequence[float]
    sign: int
    overlap: float

    @property
    def sample(self) -> Sample:
        return Sample.of(list(self.by_seed.values()), self.overlap)

    @property
    def failed(self) -> int:
        """The number of runs that have no number of the metric."""
        return sum(run.seed not in self.by_seed for run in self.runs)

    @property
    def learned(self) -> bool | None:
        """Whether the runs beat the best naive baseline, by a one-sided t test over seeds; None where none is known."""
        if not self.gains:
            return None
        if len(self.gains) < FEWEST:
            return all(gain > 0 for gain in self.gains)
        estimate = paired(self.gains, 0.0, self.overlap)
        return estimate.p_above() < LEARNING if estimate else self.gains[0] > 0


@dataclass(frozen=True)
class Comparison:
    """The lead of one case over another; above 0 where the first is better.

    Attributes:
        n: values of both sides.
        difference: of the means, in the unit that is shown; nan where one has no value.
        low, high: its 95 % interval; nan, as p is, where a side has fewer than three values, or there is no spread.
        p: two-sided, not adjusted.
        test: that of p; "" where there is none.
        unlearned: whether the side that is ahead is not shown to beat the best naive baseline.
        failed: how many runs of the side that is ahead have no number.
    """

    one: Case
    other: Case
    metric: str
    n: tuple[int, int]
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    test: str = ""
    unlearned: bool = False
    failed: int = 0


def compare(evidence: Evidence, one: Case, other: Case, metric: str) -> Comparison:
    """The lead of one case over another in a metric at the reported evaluations."""
    sides = values_of(evidence, one, metric), values_of(evidence, other, metric)
    blocks = seeds_are_blocks(evidence.configuration, one.task, one.model)
    shown, sign = of_shared_seeds(sides) if blocks else sides, sides[0].sign
    comparison = Comparison(one, other, metric, (len(shown[0].by_seed), len(shown[1].by_seed)))
    if not all(comparison.n):
        return comparison
    lead = sign * float(np.mean([*shown[0].by_seed.values()]) - np.mean([*shown[1].by_seed.values()]))
    ahead = sides[0] if lead > 0 else sides[1]
    comparison = replace(comparison, difference=lead, unlearned=ahead.learned is False, failed=ahead.failed)
    tests = estimates(sides, blocks)
    if not tests:
        return comparison
    test, estimate = next(iter(tests.items()))
    low, high = sorted(sign * end for end in estimate.interval(LEVEL))
    return replace(comparison, low=low, high=high, p=estimate.p(), test=test)


def values_of(evidence: Evidence, case: Case, metric: str, at: Mapping[int, float] | None = None) -> Values:
    """A metric of a case's runs; `at`, where that is not the reported evaluation's, is its value by seed, in the
    metric's own unit."""
    configuration, runs = evidence.configuration, evidence.of(case)
    metrics = configuration.metrics[metric]
    values = {run.seed: run.value(metric) for run in runs} if at is None else at
    by_seed = {seed: value * metrics.factor for seed, value in values.items() if math.isfinite(value)}
    scores = {run.seed: score for run in runs if (score := best(run.naive, metric, metrics.sign))}
    naive = {seed: score * metrics.factor for seed, (_, score) in scores.items()}
    return Values(
        label=runs[0].label if runs else configuration.models[case.model].label,
        runs=runs,
        by_seed=by_seed,
        naive=naive,
        baseline=next((name for name, _ in scores.values()), ""),
        gains=[metrics.sign * (value - naive[seed]) for seed, value in by_seed.items() if seed in naive],
        sign=metrics.sign,
        overlap=resampled(configuration, case.task, case.model),
    )


def of_shared_seeds(sides: Sequence[Values]) -> list[Values]:
    """The sides with the seeds of which both have a number, in one order."""
    seeds = [seed for seed in sides[0].by_seed if all(seed in side.by_seed for side in sides)]
    return [replace(side, by_seed={seed: side.by_seed[seed] for seed in seeds}) for side in sides]


def estimates(sides: Sequence[Values], blocks: bool) -> dict[str, Estimate]:
    """The first side's mean less the second's by the test that decides, then by the other one; neither where it cannot
    be taken.

    Runs of one seed share initial weights, batches and noise, which correlate hardly (0.20 over the evening's pairs):
    Welch's t decides. Where a seed is a block, which has data of its own, the differences seed by seed do.
    """
    tests: dict[str, Estimate | None] = {}
    enough = min(len(side.by_seed) for side in sides) >= FEWEST
    tests[WELCH] = welch(sides[0].sample, sides[1].sample) if enough else None
    overlap, (one, other) = sides[0].overlap, [list(side.by_seed.values()) for side in of_shared_seeds(sides)]
    by_seed = RESAMPLED if overlap else PAIRED
    tests[by_seed] = paired(one, other, overlap) if len(one) >= FEWEST else None
    names = (by_seed, WELCH) if blocks else (WELCH, by_seed)
    if tests[names[0]] is None:  # too few seeds, or no spread to test with
        return {}
    return {name: estimate for name in names if (estimate := tests[name])}
