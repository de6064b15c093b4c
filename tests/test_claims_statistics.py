"""The statistics of verdicts: against SciPy and statsmodels, as properties, and on simulated seeds of known truth."""

import math
from itertools import combinations, permutations

import numpy as np
import pytest
import scipy.stats
from hidden_dynamics.claims.comparisons import smallest_p
from hidden_dynamics.claims.holm import holm
from hidden_dynamics.claims.kendall import critical_tau, inversions, kendall
from hidden_dynamics.claims.means import (
    Difference,
    Sample,
    against,
    combination,
    correction,
    equivalence,
    hedges_g,
    paired,
    welch,
)
from hidden_dynamics.claims.spread import FEWEST, brown_forsythe, deviations
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW, ttost_ind

from hidden_dynamics.data.folds import folds

ALPHA = 0.05
numbers = st.floats(-100, 100).map(lambda x: round(x, 3))
samples = st.lists(numbers, min_size=2, max_size=6)
probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def difference(one, other) -> Difference:
    return welch(Sample.of(one), Sample.of(other))


def draw(seed: int, n: int, shift: float = 0.0, spread: float = 1.0):
    generator = np.random.default_rng(seed)
    return generator.normal(shift, spread, n), generator.normal(0.0, 1.0, n)


def most(share: float, trials: int) -> float:
    """The share of false verdicts that a test at this level exceeds once in 2,000 times."""
    return scipy.stats.binom.ppf(1 - 1 / 2000, trials, share) / trials


@pytest.mark.parametrize("n, m", [(2, 2), (2, 5), (5, 5), (5, 3)])
@pytest.mark.parametrize("spread", [1.0, 7.0])
def test_welch_is_scipy_s_and_statsmodels(n, m, spread):
    generator = np.random.default_rng(n * m)
    one, other = generator.normal(1.0, spread, n), generator.normal(0.0, 1.0, m)
    ours, theirs = difference(one, other), scipy.stats.ttest_ind(one, other, equal_var=False)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-10)
    assert ours.degrees == pytest.approx(theirs.df, rel=1e-10)
    compared = CompareMeans(DescrStatsW(one), DescrStatsW(other)).tconfint_diff(alpha=ALPHA, usevar="unequal")
    assert ours.interval(0.95) == pytest.approx(compared, rel=1e-9)


def test_welch_against_printed_numbers():
    one = [1.0, 2.0, 4.0]
    printed = scipy.stats.ttest_ind_from_stats(np.mean(one), np.std(one, ddof=1), 3, 2.5, 0.3, 5, equal_var=False)
    assert welch(Sample.of(one), Sample(2.5, 0.3, 5)).p == pytest.approx(printed.pvalue, rel=1e-10)
    constant = scipy.stats.ttest_1samp(one, 2.5)
    ours = welch(Sample.of(one), Sample(2.5, 0.0, math.inf))
    assert (ours.p, ours.degrees) == (pytest.approx(constant.pvalue, rel=1e-10), pytest.approx(2))


def test_welch_needs_values_and_spread():
    assert difference([1.0, 1.0], [2.0, 2.0]) is None
    assert difference([1.0, 1.0], [2.0, 3.0]).degrees == pytest.approx(1)
    with pytest.raises(ValueError, match="two values"):
        welch(Sample(1.0, math.nan, 1), Sample.of([1.0, 2.0]))


def test_whole_degrees_are_more_cautious():
    ours = difference([1.0, 2.0, 4.0], [7.0, 9.5, 8.0])
    assert ours.cautious().degrees == math.floor(ours.degrees) and ours.cautious().p > ours.p
    unlike = difference([1.0, 2.0], [7.0, 9.5, 8.0, 7.5, 8.5]).less(1.0)
    assert unlike.degrees > 1.5 and unlike.cautious().degrees == 1
    printed = welch(Sample(1.0, 2.0, 5), Sample(2.0, 0.0, math.inf))
    assert printed.cautious().degrees == 4


@given(samples, samples, st.floats(0.01, 100), numbers)
def test_welch_changes_sides_scale_and_origin(one, other, factor, shift):
    ours = difference(one, other)
    assume(ours is not None and ours.error > 1e-3)
    swapped = difference(other, one)
    assert (swapped.p, swapped.estimate) == (pytest.approx(ours.p), pytest.approx(-ours.estimate))
    assert swapped.interval(0.9) == pytest.approx(tuple(-end for end in ours.interval(0.9)[::-1]))
    moved = difference([factor * x + shift for x in one], [factor * x + shift for x in other])
    assert moved.p == pytest.approx(ours.p, rel=1e-4, abs=1e-9)
    g = hedges_g(one, other)
    assert hedges_g(other, one) == pytest.approx(-g)
    # Means of up to 10,100 err by some 1e-11, and the deviation is 1e-3 x 0.01 or more.
    scaled = hedges_g([factor * x + shift for x in one], [factor * x + shift for x in other])
    assert scaled == pytest.approx(g, rel=1e-4, abs=1e-6)


@given(probabilities)
def test_holm_is_statsmodels(p):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gc.collect", lambda: None)  # at each correction: half a second where torch is loaded
        assert holm(p) == pytest.approx(list(multipletests(p, method="holm")[1]))


@given(probabilities, st.randoms())
def test_holm_keeps_order_and_never_lowers(p, random):
    adjusted = holm(p)
    assert all(a >= b - 1e-15 for a, b in zip(adjusted, p, strict=True)) and max(adjusted) <= 1
    ranked = sorted(zip(p, adjusted, strict=True))
    assert all(one[1] <= other[1] for one, other in zip(ranked, ranked[1:], strict=False))
    order = random.sample(range(len(p)), len(p))
    assert holm([p[i] for i in order]) == pytest.approx([adjusted[i] for i in order])
    assert max(holm([*p, 1.0])) >= max(adjusted)


def test_paired_is_scipy_s():
    one, other = draw(21, 6, 1.0)
    ours, theirs = paired(one, other), scipy.stats.ttest_rel(one, other)
    assert (ours.p, ours.degrees) == (pytest.approx(theirs.pvalue, rel=1e-10), 5)
    interval = theirs.confidence_interval(0.95)
    assert ours.interval(0.95) == pytest.approx((interval.low, interval.high), rel=1e-10)
    assert paired(other, one).estimate == -ours.estimate
    assert paired([1.1, 2.3, 3.7], [0.1, 1.3, 2.7]) is None  # equal but for rounding
    for wrong in ([1.0], [1.0, 2.0, 3.0]):
        with pytest.raises(ValueError, match="pairs"):
            paired(wrong, [1.0, 2.0] if len(wrong) > 1 else [2.0])


def test_what_resampled_parts_share_is_added_to_the_variance_of_their_mean():
    """By hand: differences 1, 2, 3, 4, 5 have a mean of 3 and a variance of 2.5; 1/5 + 112/801 in place of 1/5."""
    one, other, share = [2.0, 4.0, 6.0, 8.0, 10.0], [1.0, 2.0, 3.0, 4.0, 5.0], 112 / 801
    found = paired(one, other, share)
    assert (found.estimate, found.degrees) == (3.0, 4)
    assert found.error == pytest.approx(math.sqrt(2.5 * (0.2 + 112 / 801)), rel=1e-12)
    assert found.p == pytest.approx(2 * scipy.stats.t.sf(3 / found.error, 4), rel=1e-10)
    low, high = found.interval(1 - ALPHA)
    assert (low + high, high - low) == pytest.approx((6, 2 * scipy.stats.t.isf(ALPHA / 2, 4) * found.error))
    alone = against(Sample.of(one, share), 5.0)  # variance 10
    assert (alone.error, alone.degrees) == (pytest.approx(math.sqrt(10 * (0.2 + 112 / 801))), 4)
    assert paired(one, other, 0.0) == paired(one, other)


def test_overlapping_parts_err_too_often_without_their_correction():
    """Five splits of 200 series; two models that forecast each of two alike series by its mean, anew on every split.

    Neither is better. The paired t calls one of them better in 10 of a hundred draws of the data.
    """
    trials, splits = 4000, folds(200)
    values = np.random.default_rng(43).normal(size=(trials, 2, 200))
    forecasts = [values[..., split.train].mean(-1, keepdims=True) for split in splits]
    losses = [
        np.square(values[..., split.test] - forecast).mean(-1)
        for split, forecast in zip(splits, forecasts, strict=True)
    ]
    one, other = np.stack(losses, axis=-1).swapaxes(0, 1)
    share = len(splits[0].test) / len(splits[0].train)
    false = [
        np.mean([paired(*pair, resampled).p < ALPHA for pair in zip(one, other, strict=True)])
        for resampled in (0.0, share)
    ]
    assert false[0] > most(ALPHA, trials) + 0.02
    assert false[1] <= most(ALPHA, trials)


def test_a_combination_by_hand():
    """Cochran and Cox's formula, and one sample alone: its own t."""
    parts = [(1, Sample(3.0, 1.0, 5)), (-1, Sample(2.0, 2.0, 4)), (-1, Sample(1.0, 0.5, 3)), (1, Sample(0.5, 0.0, 9))]
    found, shares = combination(parts), [1 / 5, 4 / 4, 0.25 / 3]
    assert found.estimate == pytest.approx(0.5)
    assert found.error == pytest.approx(math.sqrt(sum(shares)))
    weights = [share**2 / degrees for share, degrees in zip(shares, (4, 3, 2), strict=True)]
    assert found.degrees == pytest.approx(sum(shares) ** 2 / sum(weights))
    one = [1.0, 2.0, 4.0]
    alone, theirs = combination([(2, Sample.of(one))]), scipy.stats.ttest_1samp(one, 0.0)
    assert (alone.p, alone.degrees) == (pytest.approx(theirs.pvalue), pytest.approx(2))


@pytest.mark.parametrize("shift", [0.0, 0.8, 3.0, -3.0])
def test_equivalence_is_two_one_sided_tests(shift):
    one, other = draw(3, 5, shift)
    measured = difference(one, other)
    found = equivalence(measured, 1.0)
    p, above, below = ttost_ind(one, other, -1.0, 1.0, usevar="unequal")
    assert found.within == (abs(measured.estimate) < 1.0)
    outside = 2 * min(1 - above[1], 1 - below[1])
    assert found.p == pytest.approx(p if found.within else outside, rel=1e-8)


def test_equivalence_says_outside_as_well():
    assert equivalence(Difference(0.0, 0.1, 8.0), 1.0).within
    far = equivalence(Difference(2.0, 0.1, 8.0), 1.0)
    assert not far.within and far.p == pytest.approx(2 * scipy.stats.t.sf(10, 8), rel=1e-8)
    assert equivalence(Difference(1.0, 0.1, 8.0), 1.0).p == 1.0
    inside = equivalence(Difference(1.0 - 1e-9, 0.1, 8.0), 1.0)
    assert inside.within and inside.p == pytest.approx(0.5)


def test_equivalence_without_a_margin_is_the_t_test():
    measured = difference(*draw(5, 5, 1.0))
    found = equivalence(measured, 1e-12)
    assert not found.within and found.p == pytest.approx(measured.p, rel=1e-8)


def test_hedges_g_by_hand():
    assert hedges_g([1, 3], [5, 7]) == pytest.approx(-4 / math.sqrt(2) * correction(2))
    assert correction(2) == pytest.approx(math.gamma(1) / math.gamma(0.5))
    assert correction(8) == pytest.approx(1 - 3 / (4 * 8 - 1), rel=2e-3)  # Hedges' own approximation
    assert math.isnan(hedges_g([1, 1], [1, 1]))


def test_spreads_are_welch_s_of_the_deviations():
    one, other = draw(5, 7, spread=3.0)
    found = brown_forsythe(one, other)
    moved = [np.abs(values - np.median(values)) for values in (one, other)]
    moved = [np.delete(values, values.argmin()) for values in moved]
    theirs = scipy.stats.ttest_ind(*moved, equal_var=False)
    assert found.ratio == pytest.approx(moved[0].mean() / moved[1].mean())
    assert found.difference.degrees == math.floor(theirs.df)
    assert found.difference.p == pytest.approx(2 * scipy.stats.t.sf(abs(theirs.statistic), math.floor(theirs.df)))
    inverse = brown_forsythe(other, one)
    assert (inverse.ratio, inverse.difference.p) == (pytest.approx(1 / found.ratio), pytest.approx(found.difference.p))


def test_deviations_leave_out_what_is_no_observation():
    assert list(deviations([3.0, 1.0, 7.0])) == [2.0, 4.0]
    assert list(deviations([3.0, 1.0, 7.0, 4.0])) == [0.5, 2.5, 3.5]


def test_spreads_need_values_and_spread():
    assert brown_forsythe([1.0] * 5, [1.0, 2.0, 3.0, 4.0, 5.0]) is None
    assert brown_forsythe([1.0, 2.0, 3.0, 5.0], [1.0, 2.0, 3.0, 4.0, 6.0]) is None and FEWEST == 5


@given(st.permutations(range(6)))
def test_kendall_is_scipy_s(order):
    tau, p = kendall([(range(6), order)])
    theirs = scipy.stats.kendalltau(range(6), order, method="exact")
    assert (tau, p) == (pytest.approx(theirs.statistic), pytest.approx(theirs.pvalue))


def test_kendall_by_hand():
    assert list(6 * inversions((1, 1, 1))) == pytest.approx([1, 2, 2, 1])
    assert list(3 * inversions((2, 1))) == pytest.approx([1, 1, 1])  # xxy, xyx, yxx
    assert [kendall([(range(n), range(n))])[1] for n in (4, 5)] == pytest.approx([2 / 24, 2 / 120])
    assert kendall([([1, 2, 3], [1, 1, 2])])[0] == pytest.approx(2 / 3)  # a tie is no agreement
    tau, p = kendall([([1.0], [2.0])])
    assert math.isnan(tau) and p == 1.0


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
    assert smallest_p([5]) == pytest.approx(2 / math.factorial(5))
    assert smallest_p([5, 4]) == pytest.approx(2 / math.factorial(5) / math.factorial(4))
    assert (smallest_p([1, 1]), smallest_p([2])) == (1.0, 1.0)
    assert critical_tau([5], ALPHA) == 1.0 and critical_tau([5], ALPHA / 4) is None and critical_tau([1], 0.9) is None
    for sizes in ([8], [5, 4], [3, 3, 3]):
        least, pairs = critical_tau(sizes, ALPHA), sum(n * (n - 1) // 2 for n in sizes)
        swapped = [list(range(n)) for n in sizes]
        discordant = round(pairs * (1 - least) / 2)
        for values in swapped:  # neighbours change places until tau is the critical one
            for place in [i for _ in values for i in range(len(values) - 1)]:
                if discordant and values[place] < values[place + 1]:
                    values[place : place + 2], discordant = values[place : place + 2][::-1], discordant - 1
        tau, p = kendall([(values, range(len(values))) for values in swapped])
        assert tau == pytest.approx(least) and p < ALPHA


# Where the truth is known. Seeds are fixed; a share may exceed the level by what binomial chance allows.


@pytest.mark.parametrize("n, m", [(2, 2), (5, 5), (2, 5), (3, 5), (10, 5)])
@pytest.mark.parametrize("spread", [0.1, 1.0, 3.0, 30.0])
def test_false_verdicts_of_welch_stay_within_the_level(n, m, spread):
    """Alone and, but for twofold where three values spread ten times as much, in the first step of a family of 12."""
    trials = 2000
    generator = np.random.default_rng(13)
    false = covered = first = 0
    for _ in range(trials):
        found = difference(generator.normal(0, spread, n), generator.normal(0, 1, m)).cautious()
        low, high = found.interval(1 - ALPHA)
        false += found.p < ALPHA
        covered += low <= 0 <= high
        first += found.p < ALPHA / 12
    assert false / trials <= most(ALPHA, trials)
    assert covered == trials - false
    assert first / trials <= most(2 * ALPHA / 12, trials)


@pytest.mark.parametrize("n", [5, 10])
@pytest.mark.parametrize("bad", [0.0, 0.1])
def test_false_differences_of_spread_stay_within_the_level(n, bad):
    """Also where one run in ten is 8 standard deviations worse, which the F test calls a difference 40 times in 100."""
    trials = 2000
    generator = np.random.default_rng(23)
    drawn = generator.normal(size=(trials, 2, n)) - 8 * (generator.random((trials, 2, n)) < bad)
    assert np.mean([brown_forsythe(*pair).difference.p < ALPHA for pair in drawn]) <= most(ALPHA, trials)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_false_gains_stay_within_the_level(n):
    trials, stds = 2000, (1, 10, 1, 10)
    generator = np.random.default_rng(29)
    false = 0
    for _ in range(trials):
        samples = [Sample.of(generator.normal(0, std, n)) for std in stds]
        false += combination(list(zip((1, -1, -1, 1), samples, strict=True))).cautious().p < ALPHA
    assert false / trials <= most(ALPHA, trials)


@pytest.mark.parametrize("n, members", [(2, 12), (5, 12)])
def test_holm_keeps_a_table_s_false_verdicts_within_the_level(n, members):
    """As in a table: every row is compared with the same baseline."""
    trials = 600
    generator = np.random.default_rng(17)
    false = 0
    for _ in range(trials):
        baseline = generator.normal(size=n)
        p = [difference(generator.normal(size=n), baseline).cautious().p for _ in range(members)]
        false += min(holm(p)) < ALPHA
    assert false / trials <= most(ALPHA, trials)


def test_a_large_effect_is_found():
    trials = 300
    generator = np.random.default_rng(19)
    p = [difference(generator.normal(4, 1, 5), generator.normal(0, 1, 5)).cautious().p for _ in range(trials)]
    assert np.mean(np.array(p) < ALPHA) > 0.99
    assert np.mean([holm([value, *[1.0] * 11])[0] < ALPHA for value in p]) > 0.8


@pytest.mark.parametrize("true, margin", [(1.0, 1.0), (-1.0, 1.0), (0.999, 1.0), (0.0, 1e-9), (0.2, 0.2)])
@pytest.mark.parametrize("std", [0.1, 2.0])
def test_errors_of_equivalence_at_the_margin(true, margin, std):
    """At the margin "within" is false; inside of it, and without a margin, "outside" is."""
    trials = 2000
    generator = np.random.default_rng(37)
    false = 0
    for _ in range(trials):
        found = equivalence(difference(generator.normal(true, std, 5), generator.normal(0, std, 5)).cautious(), margin)
        false += found.p < ALPHA and found.within == (abs(true) >= margin)
    assert false / trials <= most(ALPHA, trials)
