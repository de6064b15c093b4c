"""What tests can find: against SciPy and statsmodels, and against simulated runs that the tests judge."""

import math

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.power import TTestPower

from hidden_dynamics.claims.means import Difference, Sample, equivalence, welch
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
