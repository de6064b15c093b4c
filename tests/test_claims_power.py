"""What tests can find: against SciPy and statsmodels, and against simulated runs that the tests judge."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product
from itertools import permutations as orders

import numpy as np
import pytest
import scipy.stats
from hidden_dynamics.claims.evidence import Evidence
from hidden_dynamics.claims.means import Difference, Sample, equivalence, paired, welch
from hidden_dynamics.claims.power import (
    POWER,
    detectable,
    detectable_ratio,
    detectable_within,
    power_of_equivalence,
    power_of_paired,
    power_of_welch,
    seeds_needed,
    seeds_needed_paired,
    seeds_needed_within,
)
from hidden_dynamics.claims.spread import brown_forsythe
from judged import BLOCKS, CELLS, around, claim_of, cost, g_of, judged, judged_of, seeds, times_table
from scipy.stats import chi2, norm
from statsmodels.stats.power import TTestIndPower, TTestPower

from hidden_dynamics.artifacts import Artifact, artifact_named
from hidden_dynamics.claims.claim import BY_CLOCKS
from hidden_dynamics.claims.judge import judge
from hidden_dynamics.papers.published import Number

ALPHA = 0.05
TRIALS = 2000
ERROR = 4 * math.sqrt(POWER * (1 - POWER) / TRIALS)  # of a simulated share; once in 15,000 it is more


def simulated(subject: Sample, reference: Sample, verdict) -> float:
    """The share of simulated pairs of samples of which `verdict` is true."""
    generator = np.random.default_rng(3)
    ones = generator.normal(subject.mean, subject.std, (TRIALS, subject.n))
    others = generator.normal(reference.mean, reference.std, (TRIALS, reference.n))
    found = (welch(Sample.of(one), Sample.of(other)) for one, other in zip(ones, others, strict=True))
    return sum(map(verdict, found)) / TRIALS


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 6, 8, 30])
@pytest.mark.parametrize("family", [1, 22, 300])
def test_detectable_is_the_noncentral_t_s(degrees, family):
    """Down to one degree of freedom, where what is found is some thousand errors."""
    gap = detectable(Difference(1.0, 0.5, degrees), ALPHA / family)
    t = scipy.stats.t.isf(ALPHA / family / 2, degrees)
    assert scipy.stats.nct.sf(t, degrees, gap / 0.5) == pytest.approx(POWER, abs=5e-4)


@pytest.mark.parametrize(
    ("subject", "reference", "family"),
    [
        (Sample(2.12, 1.0, 5), Sample(0.0, 1.0, 5), 1),
        (Sample(-3.36, 1.0, 5), Sample(0.0, 1.0, 5), 9),
        (Sample(16.0, 1.0, 2), Sample(0.0, 1.0, 2), 1),
        (Sample(1.5, 0.2, 3), Sample(0.0, 1.0, 5), 1),
        (Sample(2.0, 1.0, 10), Sample(0.0, 1.0, 5), 3),
    ],
)
def test_power_of_welch_is_that_of_simulated_runs(subject, reference, family):
    alpha, sign = ALPHA / family, math.copysign(1, subject.mean)

    def found(difference: Difference) -> bool:
        return difference.cautious().p < alpha and difference.estimate * sign > 0

    assert power_of_welch(subject, reference, alpha) == pytest.approx(simulated(subject, reference, found), abs=ERROR)
    assert power_of_welch(reference, subject, alpha) == pytest.approx(
        power_of_welch(subject, reference, alpha), abs=0.01
    )


def test_power_against_a_constant_is_the_noncentral_t_s():
    own = Sample(1.7, 1.0, 5)
    t = scipy.stats.t.isf(ALPHA / 2, 4)
    exact = scipy.stats.nct.sf(t, 4, 1.7 * math.sqrt(5))
    assert power_of_welch(own, Sample(0.0, 0.0, math.inf), ALPHA) == pytest.approx(exact, abs=1e-4)
    assert power_of_paired(1.7, 1.0, 5, ALPHA) == pytest.approx(exact, abs=1e-9)
    assert power_of_paired(1.7, 1.0, 5, ALPHA) == pytest.approx(
        TTestPower().power(1.7, 5, ALPHA, alternative="two-sided"), abs=1e-6
    )


@pytest.mark.parametrize("truth", [0.0, 0.5])
def test_power_of_an_equivalence_is_that_of_simulated_runs(truth):
    subject, reference, margin = Sample(truth, 1.0, 5), Sample(0.0, 0.6, 5), 2.2

    def shown(difference: Difference) -> bool:
        found = equivalence(difference.cautious(), margin)
        return found.within and found.p < ALPHA

    expected = simulated(subject, reference, shown)
    assert power_of_equivalence(subject, reference, margin, ALPHA) == pytest.approx(expected, abs=ERROR)


def test_detectable_within_is_where_zero_is_shown_to_lie():
    """Of as many runs as leave this error and these degrees of freedom: nine of one model against a constant."""
    own = Sample(0.0, 3.0, 9)
    margin = detectable_within(Difference(7.0, 1.0, 8), ALPHA)
    assert power_of_equivalence(own, Sample(0.0, 0.0, math.inf), margin, ALPHA) == pytest.approx(POWER, abs=1e-6)


@pytest.mark.parametrize(("gap", "family"), [(2.2, 1), (1.0, 1), (-1.0, 22), (0.3, 1)])
def test_seeds_needed_are_the_fewest(gap, family):
    n, alpha = seeds_needed(gap, 1.0, 1.0, ALPHA / family), ALPHA / family

    def chance(seeds: int) -> float:
        return power_of_welch(Sample(gap, 1.0, seeds), Sample(0.0, 1.0, seeds), alpha)

    assert chance(n) >= POWER > chance(n - 1)
    pairs = seeds_needed_paired(gap, 1.0, alpha)
    assert power_of_paired(gap, 1.0, pairs, alpha) >= POWER > power_of_paired(gap, 1.0, pairs - 1, alpha)


def test_no_number_of_seeds_finds_what_a_printed_mean_is_too_unsure_of():
    printed = Sample(95.0, 1.0, 5)
    assert seeds_needed(1.0, 1.0, printed, ALPHA) is None
    n = seeds_needed(2.5, 1.0, printed, ALPHA)
    assert 2 < n <= 6
    assert power_of_welch(Sample(2.5, 1.0, n), Sample(0.0, 1.0, 5), ALPHA) >= POWER


def test_seeds_needed_to_show_that_means_are_alike():
    n = seeds_needed_within(1.0, 1.0, 1.0, ALPHA)
    chances = [power_of_equivalence(Sample(0.0, 1.0, k), Sample(0.0, 1.0, k), 1.0, ALPHA) for k in (n - 1, n)]
    assert chances[0] < POWER <= chances[1]
    assert seeds_needed_within(1.0, 1.0, 1.0, ALPHA, truth=0.5) > n
    assert seeds_needed_within(1.0, 1.0, 1.0, ALPHA, truth=1.0) is None
    assert seeds_needed_within(0.5, 1.0, Sample(0.0, 1.0, 5), ALPHA) is None


def test_what_parts_share_bounds_what_any_number_of_them_finds():
    """By the noncentral t with s sqrt(1/n + r) in the place of s sqrt(1/n); with n without end, s sqrt(r) remains."""
    share, t = 112 / 801, scipy.stats.t.isf(ALPHA / 2, 4)
    chance = scipy.stats.nct.sf(t, 4, 1.7 / math.sqrt(0.2 + share))
    assert power_of_paired(1.7, 1.0, 5, ALPHA, share) == pytest.approx(chance, abs=1e-9)
    one, other = around(2.0, 1.0)[:5], around(0.0, 0.5)[:5][::-1]
    found = paired(one, other, share)
    smallest = detectable(found, ALPHA)
    std = np.std(np.subtract(one, other), ddof=1)
    assert power_of_paired(smallest, std, 5, ALPHA, share) == pytest.approx(POWER, abs=1e-6)
    least = (scipy.stats.norm.isf(ALPHA / 2) + scipy.stats.norm.isf(1 - POWER)) * math.sqrt(share)
    assert seeds_needed_paired(0.99 * least, 1.0, ALPHA, resampled=share) is None
    assert seeds_needed_paired(1.1 * least, 1.0, ALPHA, resampled=share) > seeds_needed_paired(1.1 * least, 1.0, ALPHA)
    alone, parts = (seeds_needed_within(2.0, 1.0, 1.0, ALPHA, resampled=r) for r in (0.0, share))
    assert alone < parts and seeds_needed_within(1.0, 1.0, 1.0, ALPHA, resampled=share) is None


def test_nothing_to_find_takes_no_number_of_seeds():
    assert seeds_needed(0.0, 1.0, 1.0, ALPHA) is None and seeds_needed(1.0, 0.0, 0.0, ALPHA) is None
    assert seeds_needed(0.01, 1.0, 1.0, ALPHA, most=50) is None and seeds_needed_paired(1.0, 0.0, ALPHA) is None


def test_detectable_ratio_is_that_of_simulated_runs():
    ratio = detectable_ratio(10, 10, ALPHA)
    generator = np.random.default_rng(5)
    pairs = zip(generator.normal(0, ratio, (TRIALS, 10)), generator.normal(0, 1, (TRIALS, 10)), strict=True)
    found = [brown_forsythe(one, other) for one, other in pairs]
    share = np.mean([spreads.ratio > 1 and spreads.difference.p < ALPHA for spreads in found])
    assert share == pytest.approx(POWER, abs=ERROR)
    assert detectable_ratio(10, 10, ALPHA / 3) > ratio
    assert detectable_ratio(5, 5, ALPHA) is None and detectable_ratio(4, 10, ALPHA) is None


# Beside a verdict: of each kind of claim, in its unit and on its side


@pytest.fixture(scope="module")
def table(configured) -> Artifact:
    return times_table(configured)


@pytest.fixture(scope="module")
def blocks(configured) -> Artifact:
    return times_table(configured, readings=BLOCKS)


def same(number: float) -> float:
    return number


def below_1(ratio: float) -> float:
    return -math.log(ratio)


def above_vanished(share: float) -> float:
    return math.log(share / 0.1)


@pytest.mark.parametrize(
    "kind, printed, sides, of_number, gap",
    [
        ("better", (), [(98.2, 0.1), (98, 0.3)], same, same),
        ("not_better", (), [(98.2, 0.1), (98, 0.3)], same, same),
        ("overfitting", (), [(0.1, 0.05), (0.12, 0.02)], same, same),
        ("gain", (), [(98, 0.1), (97, 0.3), (96, 0.2), (95, 0.2)], same, same),
        ("faster", (), [(90, 5), (85, 3)], math.log, below_1),
        ("gradients", (), [(0.2, 0.1), (0.1, 0.02)], math.log, math.log),
        ("reaches", (), [(0.2, 0.1)], math.log, above_vanished),
        (BY_CLOCKS, (5, 9), [(8, 2), (9, 1)], math.log, below_1),
        (BY_CLOCKS, (9, 5), [(8, 2), (9, 1)], math.log, math.log),
    ],
)
def test_what_a_t_test_of_a_claim_detects(table, kind, printed, sides, of_number, gap):
    """By the noncentral t; standard error and degrees of freedom are Welch's, by hand."""
    samples = [around(*side) for side in sides]
    detectable = judged_of(table, claim_of(kind, printed), *samples).detectable
    shares = [np.var(list(map(of_number, sample)), ddof=1) / len(sample) for sample in samples]
    degrees = math.floor(sum(shares) ** 2 / sum(share**2 / 6 for share in shares) + 1e-9)
    chance = scipy.stats.nct.sf(
        scipy.stats.t.isf(ALPHA / 2, degrees), degrees, gap(detectable) / math.sqrt(sum(shares))
    )
    # the iterations of made-up curves are whole numbers
    assert chance == pytest.approx(POWER, abs=0.02 if kind == "faster" else 5e-4)


def test_seeds_that_would_decide_a_printed_difference(table, blocks):
    """By Student's t, which differs little from Welch's where many seeds of equal spread are needed."""
    claim, sides = claim_of("better", (99.0, 98.5)), [around(98.0, 1.0), around(98.0, 1.0)[::-1]]
    std = np.std(sides[0], ddof=1)
    found = judged_of(table, claim, *sides)
    assert int(found.seeds_needed) == pytest.approx(
        TTestIndPower().solve_power(0.5 / std, alpha=ALPHA, power=0.8), abs=1
    )
    paired = judged_of(blocks, claim, *sides)
    gaps = np.std(np.subtract(*sides), ddof=1)
    assert int(paired.seeds_needed) == math.ceil(TTestPower().solve_power(0.5 / gaps, alpha=ALPHA, power=POWER))
    t = scipy.stats.t.isf(ALPHA / 2, 6)
    chance = scipy.stats.nct.sf(t, 6, paired.detectable / gaps * math.sqrt(7))
    assert paired.outcome.test == "paired t" and chance == pytest.approx(POWER, abs=5e-4)


def test_seeds_that_would_find_a_difference_as_large_as_the_one_found(table):
    """By Student's t, as above; nothing is told where more than the number of seeds stands against a verdict."""
    sides = [around(98.5, 1.0), around(98.0, 1.0)]
    found = judged_of(table, claim_of("better"), *sides)
    needed = TTestIndPower().solve_power(0.5 / np.std(sides[0], ddof=1), alpha=ALPHA, power=POWER)
    assert int(found.seeds_for_found) == pytest.approx(needed, abs=1) and found.seeds_needed == ""
    ratio = judged_of(table, claim_of("faster"), around(90, 5), around(92, 5))
    apart = abs(math.log(ratio.outcome.estimate))
    std = math.sqrt(np.mean([np.var(np.log(around(mean, 5)), ddof=1) for mean in (90, 92)]))
    needed = TTestIndPower().solve_power(apart / std, alpha=ALPHA, power=POWER)
    assert int(ratio.seeds_for_found) == pytest.approx(needed, rel=0.1)  # whole iterations
    beyond = around(98.2, 1.0)  # the margin is 0.2
    margin = judged_of(table, claim_of("not_better"), beyond, around(98.0, 1.0))
    assert margin.seeds_for_found == "more than 1000" and margin.outcome.test == "Welch's t, ahead by 0.2 at most"
    for kind, of in (("gradients", ((0.5, 0.1), (0.5, 0.1))), ("overfitting", ((0.1, 0.05), (0.12, 0.02)))):
        assert judged_of(table, claim_of(kind), *(around(*side) for side in of)).seeds_for_found == ""
    decided = judged_of(table, claim_of("better"), around(99, 0.1), around(98, 0.1))
    assert decided.seeds_for_found == ""
    diverged = judged_of(table, claim_of("better"), [*sides[0], math.nan], sides[1])
    assert diverged.seeds_for_found == "" and "diverged" in diverged.reason


def chance_within(margin: float, std: float, n: int, degrees: int) -> float:
    """That the mean of n normal values about 0 is shown to be within a margin, by t with these degrees of freedom."""
    t = scipy.stats.t.isf(ALPHA, degrees)

    def of_variance(chi: np.ndarray) -> np.ndarray:
        half = margin / std * math.sqrt(n) - t * np.sqrt(chi / (n - 1))
        return np.maximum(2 * norm.cdf(half) - 1, 0)

    return chi2.expect(of_variance, args=(n - 1,))


def test_the_smallest_margin_of_a_value_and_the_seeds_that_its_own_takes(table):
    """Of a printed mean without spread, which is of five runs, the t has four degrees of freedom at most."""
    claim = replace(claim_of("value"), printed=(Number(98.0, 0.0), None))
    numbers = around(98.1, 0.3)
    found, std = judged_of(table, claim, numbers), np.std(numbers, ddof=1)
    of_five = judged_of(table, claim, numbers[:5])
    assert chance_within(of_five.detectable, np.std(numbers[:5], ddof=1), 5, 4) == pytest.approx(POWER, abs=1e-3)
    n = found.outcome.seeds_needed(ALPHA)  # the margin is a tenth of the errors, 0.2
    assert chance_within(0.2, std, n, min(n - 1, 4)) >= POWER > chance_within(0.2, std, n - 1, min(n - 2, 4))


@pytest.mark.parametrize("mean", [90.2, 89.8])
def test_what_stands_beside_a_similarity(table, mean):
    """g has the sign of the difference; the seeds are those of two normal means, but for a seed of Student's t."""
    sides = around(mean, 2.0), around(90.0, 2.0)
    found, std = judged_of(table, claim_of("similar"), *sides), np.std(sides[0], ddof=1)
    assert found.outcome.effect == pytest.approx(g_of(*sides)) and found.outcome.effect * (mean - 90) > 0
    n = 2 * ((norm.isf(ALPHA) + norm.isf((1 - POWER) / 2)) * std / 1.0) ** 2
    assert int(found.seeds_needed) == pytest.approx(n, abs=2)


def test_what_a_test_of_spreads_detects(table):
    """A difference of mean absolute deviations below 0: all but so little of the reference's."""
    ones, others = np.random.default_rng(1).normal(98, 1, (2, 10))
    found = judged_of(table, claim_of("steadier"), list((ones - 98) / 100 + 98), list(others))
    mean, less = (np.sort(np.abs(side - np.median(side)))[1:].mean() for side in (others, (ones - 98) / 100))
    assert found.outcome.estimate == pytest.approx(less - mean) and found.verdict == "reproduced"
    assert found.detectable == pytest.approx(mean * (1 - 1 / detectable_ratio(10, 10, ALPHA)))
    assert found.seeds_needed == ""


def test_the_smallest_tau_that_a_ranking_detects(configured):
    """Five rows of one size and two of another: of all 240 orders 12 have a tau of 9 / 11 or more, which is 0.05."""
    table = artifact_named(configured(scale="paper"), "momentumrnn_table1")
    cells = [(model, 256) for model in ("lstm", "momentum_lstm", "adam_lstm", "rmsprop_lstm", "sr_lstm")]
    cells += [("lstm", 128), ("momentum_lstm", 128)]
    rows = [row for model, size in cells for row in seeds(table, model, 90.0 + len(model), size, "pmnist")]
    found = judged(table, rows)["table1:ranking:pmnist:test_accuracy"]
    scores = np.array([score(five) + score(two) for five, two in product(orders(range(5)), orders(range(2)))])
    rare = [tau for tau in range(1, 12, 2) if np.mean(np.abs(scores) >= tau) < ALPHA]
    assert found["tests"] == 1 and found["detectable"] == pytest.approx(rare[0] / 11)


def score(order: Sequence[int]) -> int:
    """Concordant less discordant pairs."""
    return sum(1 if one < other else -1 for one, other in combinations(order, 2))


@pytest.mark.parametrize(
    "kind, printed, detectable",
    [
        ("ratio", 1.3, 1.05 * 1.2 / 1.15),  # that of which the lowest round would have been 1.05
        ("ratio", 0.8, 1 / 1.05 * 1.2 / 1.25),  # the highest, 1 / 1.05
        ("ratio", 1.0, 1.05 * 1.2 / 1.15),
        ("value", 1.3, 1.3 * 1.05 * 1.2 / 1.15),
    ],
)
def test_the_ratio_that_a_measured_cost_detects(configured, kind, printed, detectable):
    table = artifact_named(configured(scale="paper"), "momentumrnn_table14")
    ratios = {"momentum_lstm": (1.2, 1.15, 1.25), "lstm": (1, 1, 1)}
    rows = [cost(table, model, "training_time", *ratio) for model, ratio in ratios.items()]
    claim = replace(claim_of(kind, (printed, 1.0)), metric="training_time", reference=CELLS[1])
    (found,) = judge(table, [claim], Evidence(costs=rows))
    assert found.detectable == pytest.approx(detectable)
