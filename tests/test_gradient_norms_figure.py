"""Heat maps of gradients: they show what the runs recorded, and say what they are."""

import numpy as np
import pytest
from drawn import FALLING, FigureRuns, with_gid, words
from hypothesis import given
from hypothesis import strategies as st

from hidden_dynamics.artifacts.kinds.gradient_norms import colour_limit

MODELS = ("dtriv", "momentum_dtriv")


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
        assert image.get_cmap().name == "viridis" and image.get_clim() == (0, colour_limit(np.float32(norms)))
        data = figure.data[figure.data["model"] == model].pivot(index="iteration", columns="step", values="norm")
        np.testing.assert_array_equal(data, np.float32(values))


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


@given(st.floats(1e-12, 1e12), st.integers(0, 2**32 - 1))
def test_colours_reach_up_to_almost_all_norms_and_no_further(scale, seed):
    norms = scale * np.random.default_rng(seed).uniform(0.5, 1.0, 1000)
    norms[0] = 1000 * scale
    assert np.mean(norms <= colour_limit(norms)) >= 0.99 and colour_limit(norms) <= 1.11 * np.sort(norms)[-2]
    assert colour_limit(np.zeros(0)) == colour_limit(np.zeros(9)) == 1


def test_of_long_recordings_the_data_are_thinned(drawn):
    long = np.resize(FALLING, (300, 196))
    data = drawn(long, long).data
    assert 5_000 < len(data) <= 20_000 and set(data["model"]) == set(MODELS)


def test_norms_that_are_no_numbers_are_marked_and_do_not_count(drawn):
    broken = FALLING.copy()
    broken[-1] = [np.inf, *[np.nan] * 15]
    figure = drawn(FALLING, broken)
    (image,) = with_gid(figure, "norms momentum_dtriv")
    assert image.get_array().mask.sum() == 16 and 0 < image.get_clim()[1] < 0.05
    figure.draw_without_rendering()


def test_a_run_that_recorded_nothing_leaves_the_others_scale(drawn):
    figure = drawn(FALLING, [], about={("momentum_dtriv", 0): {"diverged_at": 1}})
    assert "seed 0, diverged at iteration 1" in words(figure) and "no gradient was recorded" in words(figure)
    assert not with_gid(figure, "norms momentum") and with_gid(figure, "norms dtriv")[0].axes.get_ylim() == (15.5, -0.5)
