"""Statistics over seeds and along curves: by hand, against SciPy, and as properties."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from hidden_dynamics.results.curves import thin, triangular_moving_average
from hidden_dynamics.results.seeds import mean_band

curves = arrays(np.float64, st.integers(1, 80), elements=st.floats(-1e6, 1e6))


@pytest.mark.parametrize("seeds", [3, 5, 12])
def test_mean_band_is_scipys(seeds):
    values = np.random.default_rng(seeds).normal(size=(seeds, 7))
    mean, low, high = mean_band(values)
    expected = stats.t.interval(0.95, seeds - 1, values.mean(axis=0), stats.sem(values, axis=0))
    np.testing.assert_allclose(mean, values.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose((low, high), expected, rtol=1e-10)


def test_the_band_of_resampled_parts_is_wider_by_what_they_share():
    """By hand: five seeds with n_test / n_train = 0.14, sqrt(1/5 + 0.14) in place of sqrt(1/5): 1.30 times as wide."""
    values = np.random.default_rng(0).normal(size=(5, 7))
    (mean, low, high), (_, near, far) = mean_band(values), mean_band(values, resampled=0.14)
    np.testing.assert_allclose((far - near) / (high - low), math.sqrt(0.34 / 0.2), rtol=1e-12)
    np.testing.assert_allclose((near + far) / 2, mean)


def test_mean_band_leaves_out_seeds_without_a_value():
    """Where fewer than three are left, there is no band."""
    values = np.array([[1.0] * 4 + [np.nan], [3.0] * 3 + [np.nan] * 2, [5.0] * 2 + [np.nan] * 3, [9.0] + [np.nan] * 4])
    mean, low, high = mean_band(values)
    np.testing.assert_array_equal(mean, [4.5, 3.0, 2.0, 1.0, np.nan])
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [False, False, True, True, True]
    np.testing.assert_allclose([low[1], high[1]], np.ravel(mean_band(values[:3, 1:2])[1:]))


@given(curves, st.integers(1, 100))
def test_moving_average_is_that_of_two_boxes_as_far_as_the_curve_goes(values, window):
    """The kernel of three points is 1 2 1; that of four, 1 2 2 1, is from two points back to one ahead."""
    kernel = np.convolve(np.ones((window + 1) // 2), np.ones(window // 2 + 1))
    part = slice((window - 1) // 2, (window - 1) // 2 + values.size)
    expected = np.convolve(values, kernel)[part] / np.convolve(np.ones(values.size), kernel)[part]
    slack = 1e-9 * (1 + np.abs(values).max())
    np.testing.assert_allclose(triangular_moving_average(values, window), expected, atol=slack, rtol=0)
    assert triangular_moving_average([], window).size == 0


@given(st.lists(st.integers(0, 200_000), min_size=1, max_size=300, unique=True), st.integers(2, 100))
def test_thin_keeps_first_and_last_and_order(x, count):
    x = np.sort(np.array(x, dtype=float))
    kept = thin(x, count)
    assert kept.size <= count
    assert kept[0] == 0 and kept[-1] == x.size - 1
    assert (np.diff(kept) > 0).all()
    assert kept.size == x.size or x.size > count


def test_thin_draws_well_on_both_axes():
    x = np.arange(1, 70_351)
    kept = x[thin(x, 500)]
    assert 400 < kept.size <= 500
    assert kept[:10].tolist() == list(range(1, 11))  # nothing of the start is lost on a logarithmic axis
    assert np.diff(kept).max() < 70_350 / 200  # and no hole is seen on a linear one
    assert np.diff(np.log(kept[kept > 20])).max() < 0.09  # twice ln(70 350) / 250
