"""The statistics of verdicts: against SciPy and statsmodels, as properties, and on simulated seeds of known truth."""

import math
from itertools import combinations, permutations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from hidden_dynamics.claims.expand import smallest_p
from hidden_dynamics.claims.statistics import (
    POWER,
    Estimate,
    Sample,
    detectable,
    error_of_auc,
    error_of_share,
    hedges_g,
    holm,
    kendall,
    paired,
    welch,
)
from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.data.folds import folds

ALPHA = 0.05
probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def difference(one, other) -> Estimate | None:
    return welch([Sample.of(one), Sample.of(other)])


def draw(seed: int, n: int, shift: float = 0.0, spread: float = 1.0):
    generator = np.random.default_rng(seed)
    return generator.normal(shift, spread, n), generator.normal(0.0, 1.0, n)


def most(share: float, trials: int) -> float:
    """The share of false verdicts that a test at this level exceeds once in 2,000 times."""
    return scipy.stats.binom.ppf(1 - 1 / 2000, trials, share) / trials


# -------------------------------------------------------------------------------------------------------- Differences


@pytest.mark.parametrize("n, m", [(3, 3), (5, 5), (5, 3), (10, 5)])
@pytest.mark.parametrize("spread", [1.0, 7.0])
def test_welch_is_scipy_s_with_whole_degrees_of_freedom(n, m, spread):
    one, other = (np.random.default_rng([n, m, k]).normal(1 - k, [spread, 1][k], [n, m][k]) for k in (0, 1))
    ours, theirs = difference(one, other), scipy.stats.ttest_ind(one, other, equal_var=False)
    assert ours.degrees == (math.floor(theirs.df) if n == m else min(n, m) - 1)
    assert ours.t() == pytest.approx(theirs.statistic)
    assert ours.p() == pytest.approx(2 * scipy.stats.t.sf(abs(theirs.statistic), ours.degrees), rel=1e-10)
    assert ours.p_above() == pytest.approx(scipy.stats.t.sf(theirs.statistic, ours.degrees), rel=1e-10)
    half = scipy.stats.t.isf(0.025, ours.degrees) * ours.error
    assert ours.interval(0.95) == pytest.approx((ours.value - half, ours.value + half))


def test_a_number_without_error_leaves_the_t_of_one_sample_and_no_spread_no_test():
    one = [1.0, 2.0, 4.0]
    alone, theirs = welch([Sample.of(one), Sample(0.5, 0.0, math.inf)]), scipy.stats.ttest_1samp(one, 0.5)
    assert (alone.p(), alone.degrees) == (pytest.approx(theirs.pvalue), 2)
    assert difference([1.1, 1.1], [0.1 + 1.0, 1.1]) is None and paired([[1.1, 2.3, 3.7], [0.1, 1.3, 2.7]]) is None


def test_hedges_g_by_hand():
    pair = [Sample.of([1, 3]), Sample.of([5, 7])]
    assert hedges_g(-4.0, pair) == pytest.approx(-4 / math.sqrt(2) * math.gamma(1) / math.gamma(0.5))
    five = [Sample.of(draw(1, 5)[0]), Sample.of(draw(2, 5)[0])]
    pooled = math.sqrt((five[0].std ** 2 + five[1].std ** 2) / 2)
    assert hedges_g(1.0, five) == pytest.approx((1 - 3 / (4 * 8 - 1)) / pooled, rel=2e-3)  # Hedges' approximation
    assert math.isnan(hedges_g(1.0, [Sample.of([1, 1])] * 2))


# ---------------------------------------------------------------------------------------------------- Families, orders


@given(probabilities)
def test_holm_is_statsmodels(p):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gc.collect", lambda: None)  # at each correction: half a second where torch is loaded
        assert holm(p) == pytest.approx(list(multipletests(p, method="holm")[1]))


tied_numbers = st.lists(st.integers(0, 2), min_size=4, max_size=4)


@given(st.permutations(range(3)), st.one_of(st.permutations(range(4)), tied_numbers), tied_numbers)
def test_kendall_within_strata_counts_every_order(three, four, printed):
    """Against all 6 x 24 orders; where ours tie, p is at most too large."""

    def score(one, other):
        return sum(np.sign(a - b) * np.sign(c - d) for (a, c), (b, d) in combinations(zip(one, other, strict=True), 2))

    tau, p = kendall([(three, range(3)), (four, printed)])
    seen = score(three, range(3)) + score(four, printed)
    assert tau == pytest.approx(seen / 9)
    every = [score(a, range(3)) + score(b, printed) for a in permutations(range(3)) for b in permutations(four)]
    exact = np.mean(np.abs(every) >= abs(seen))
    assert p >= exact - 1e-12 and (len(set(four)) < 4 or p == pytest.approx(exact))


def test_what_rankings_can_show():
    def cells(*sizes: int) -> list[Case]:
        return [Case("task", f"model {k}", size) for size, count in enumerate(sizes) for k in range(count)]

    assert smallest_p(cells(5)) == pytest.approx(2 / math.factorial(5))
    assert smallest_p(cells(5, 4)) == pytest.approx(2 / math.factorial(5) / math.factorial(4))
    assert (smallest_p(cells(1, 1)), smallest_p(cells(2))) == (1.0, 1.0)


# -------------------------------------------------------------------------------------------------------------- Power


@pytest.mark.parametrize("degrees", [2, 4, 8, 30])
@pytest.mark.parametrize("family", [1, 22, 300])
def test_detectable_is_the_noncentral_t_s(degrees, family):
    gap = detectable(Estimate(1.0, 0.5, degrees), ALPHA / family)
    t = scipy.stats.t.isf(ALPHA / family / 2, degrees)
    assert scipy.stats.nct.sf(t, degrees, gap / 0.5) == pytest.approx(POWER, abs=5e-4)


def test_errors_of_a_test_set_are_those_of_simulated_ones():
    generator, trials = np.random.default_rng(7), 1500
    shares = generator.binomial(800, 0.7, trials) / 800
    assert error_of_share(0.7, 800) == pytest.approx(shares.std(), rel=0.06)
    aucs = [  # of exponential scores, of which Hanley and McNeil's formula is exact
        scipy.stats.mannwhitneyu(generator.exponential(4, 60), generator.exponential(1, 240)).statistic / 60 / 240
        for _ in range(trials)
    ]
    assert error_of_auc(0.8, 60, 240) == pytest.approx(np.std(aucs), rel=0.08)


# Where the truth is known. Seeds are fixed; a share may exceed the level by what binomial chance allows.


def test_overlapping_parts_err_too_often_without_their_correction():
    """Five splits of 200 series; two models that forecast each of two alike series by its mean, anew on every split.

    Neither is better. The paired t calls one of them better in 10 of a hundred draws of the data.
    """
    trials, splits = 4000, folds(200)
    values = np.random.default_rng(43).normal(size=(trials, 2, 200))
    losses = [
        np.square(values[..., split.test] - values[..., split.train].mean(-1, keepdims=True)).mean(-1)
        for split in splits
    ]
    pairs = np.stack(losses, axis=-1)
    share = len(splits[0].test) / len(splits[0].train)
    false = [np.mean([paired(list(pair), overlap=each).p() < ALPHA for pair in pairs]) for each in (0.0, share)]
    assert false[0] > most(ALPHA, trials) + 0.02 and false[1] <= most(ALPHA, trials)
