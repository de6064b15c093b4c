"""The statistics of verdicts: against SciPy and statsmodels, as properties, and on simulated seeds of known truth."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from hidden_dynamics.claims.statistics import Estimate, Sample, holm, paired, welch
from hidden_dynamics.data.folds import folds

ALPHA = 0.05


def difference(one, other) -> Estimate | None:
    return welch(Sample.of(one), Sample.of(other))


def most(share: float, trials: int) -> float:
    """The share of false verdicts that a test at this level exceeds once in 2,000 times."""
    return stats.binom.ppf(1 - 1 / 2000, trials, share) / trials


@pytest.mark.parametrize("n, m", [(3, 3), (5, 5), (5, 3), (10, 5)])
@pytest.mark.parametrize("spread", [1.0, 7.0])
def test_welch_is_scipy_s_with_whole_degrees_of_freedom(n, m, spread):
    one, other = (np.random.default_rng([n, m, k]).normal(1 - k, [spread, 1][k], [n, m][k]) for k in (0, 1))
    ours, theirs = difference(one, other), stats.ttest_ind(one, other, equal_var=False)
    assert ours.degrees == (math.floor(theirs.df) if n == m else min(n, m) - 1)
    assert ours.value / ours.error == pytest.approx(theirs.statistic)
    assert ours.p() == pytest.approx(2 * stats.t.sf(abs(theirs.statistic), ours.degrees), rel=1e-10)
    assert ours.p_above() == pytest.approx(stats.t.sf(theirs.statistic, ours.degrees), rel=1e-10)
    half = stats.t.isf(0.025, ours.degrees) * ours.error
    assert ours.interval(0.95) == pytest.approx((ours.value - half, ours.value + half))


def test_less_one_number_it_is_the_t_of_one_sample_and_without_spread_none():
    one = [1.0, 2.0, 4.0]
    alone, theirs = paired(one, 0.5), stats.ttest_1samp(one, 0.5)
    assert (alone.p(), alone.degrees) == (pytest.approx(theirs.pvalue), 2)
    assert difference([1.1, 1.1], [0.1 + 1.0, 1.1]) is None and paired([1.1, 2.3, 3.7], [0.1, 1.3, 2.7]) is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_statsmodels(p):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gc.collect", lambda: None)  # at each correction: half a second where torch is loaded
        assert holm(p) == pytest.approx(list(multipletests(p, method="holm")[1]))


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
    false = [np.mean([paired(*pair, each).p() < ALPHA for pair in pairs]) for each in (0.0, share)]
    assert false[0] > most(ALPHA, trials) + 0.02 and false[1] <= most(ALPHA, trials)
