"""Heat maps of gradients: they show what the runs recorded, and say what they are."""

import numpy as np
import pytest
from drawn import FALLING, FigureRuns, with_gid, words
from hypothesis import given
from hypothesis import strategies as st

from hidden_dynamics.artifacts.kinds.gradient_norms import colour_limits

MODELS = ("dtriv", "momentum_dtriv")
PAPERS = (0.0, 0.05)


@pytest.fixture
def drawn(tmp_path):
    """The figure of norms (k, T), of each model's first seed."""

    def draw(*norms, first=0, **changes):
        answers = {(model, first): values for model, values in zip(MODELS, norms, strict=True)}
        return FigureRuns(tmp_path, "momentumrnn_figure2", answers=answers, **changes).draw()

    return draw


def test_a_map_shows_the_recorded_norms_with_the_first_step_on_top(drawn):
    norms = [FALLING, FALLING * 2]
    figure = drawn(*norms)
    for model, values in zip(MODELS, norms, strict=True):
        (image,) = with_gid(figure, f"norms {model}")
        np.testing.assert_array_equal(image.get_array(), np.float32(values).T)
        assert image.get_extent() == [-1, 59, 15.5, -0.5] and image.origin == "upper"
        assert image.axes.get_ylim() == (15.5, -0.5) and image.axes.get_xlim() == (-1, 59)
        assert image.get_cmap().name == "viridis" and image.get_clim() == PAPERS


def test_a_shorter_recording_leaves_the_rest_of_its_panel_empty_and_one_of_one_iteration_is_drawn(drawn):
    figure = drawn(FALLING[:10], FALLING)
    images = [with_gid(figure, f"norms {model}")[0] for model in MODELS]
    assert [image.get_extent()[1] for image in images] == [19, 59]
    assert {image.axes.get_xlim() for image in images} == {(-1, 59)}
    figure = drawn(FALLING[:1], FALLING[:1])
    figure.draw_without_rendering()
    assert with_gid(figure, "norms dtriv")[0].get_extent()[:2] == [-0.5, 0.5]


def test_the_maps_are_of_the_first_seed_of_those_trained(drawn):
    text = words(drawn(FALLING, FALLING, first=5, seeds=[5, 0, 2]))
    assert text.count(", seed 5") == 2


def test_other_limits_are_stated_with_what_is_clipped(drawn):
    spiked = 80 * np.resize(FALLING, (40, 25))
    spiked[0, 0] = 100.0
    figure = drawn(spiked, spiked)
    low, high = with_gid(figure, "norms dtriv")[0].get_clim()
    assert low == 0 and 1 < high < 4.5
    assert f"The paper's colours: from 0 to 0.05; here up to {high:g}." in words(figure)


@given(st.floats(1e-12, 1e12) | st.floats(0.04, 0.1), st.integers(0, 2**32 - 1))
def test_limits_show_almost_all_norms_and_do_not_hide_them(scale, seed):
    norms = scale * np.random.default_rng(seed).uniform(0.5, 1.0, 1000)
    low, high = colour_limits(norms, PAPERS)
    if (low, high) == PAPERS:
        assert high / 5.1 < norms.max() and np.mean(norms > high) <= 0.25
    else:
        assert low == 0 and np.mean(norms <= high) >= 0.99 and high <= 1.11 * norms.max()
    assert colour_limits(np.zeros(0), PAPERS) == colour_limits(np.zeros(9), PAPERS) == PAPERS


def test_norms_that_are_no_numbers_are_marked_and_do_not_count(drawn):
    broken = FALLING.copy()
    broken[-1] = [np.inf, *[np.nan] * 15]
    figure = drawn(FALLING, broken)
    (image,) = with_gid(figure, "norms momentum_dtriv")
    assert image.get_array().mask.sum() == 16 and image.get_clim() == PAPERS
    figure.draw_without_rendering()


def test_a_run_that_recorded_nothing_leaves_the_others_scale(drawn):
    figure = drawn(FALLING, [], about={("momentum_dtriv", 0): {"diverged_at": 1}})
    assert "seed 0, diverged at iteration 1" in words(figure) and "no gradient was recorded" in words(figure)
    assert not with_gid(figure, "norms momentum") and with_gid(figure, "norms dtriv")[0].axes.get_ylim() == (15.5, -0.5)
