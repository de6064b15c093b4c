"""Errors of extrapolated series by the hour: lines are the means that they claim to be, and name their data."""

from functools import partial

import numpy as np
import pytest
from approved import approved
from conftest import refused
from drawn import PredictedRuns, face, legend, line, panels_of, with_gid, words

from hidden_dynamics.artifacts.kinds.extrapolation_error.drawing import METRIC
from hidden_dynamics.configuration.runs import PREDICTIONS
from hidden_dynamics.results.statistics import mean_band

FIGURES = {
    "acenode_figure6": ("latent_ode", "augmented_latent_ode", "ace_latent_ode"),
    "acenode_figure7": ("fc_ace_latent_ode", "fixed_ace_latent_ode", "ace_latent_ode"),
}
FIGURE = "acenode_figure6"
MODELS = FIGURES[FIGURE]


@pytest.fixture
def made(tmp_path):
    return partial(PredictedRuns, tmp_path, FIGURE)


def by_hand(arrays):
    """The mean squared error of each hour, in thousandths."""
    return [1000 * total / count for total, count in zip(arrays["error_sum"], arrays["error_count"], strict=True)]


@pytest.mark.parametrize("name", FIGURES)
def test_a_point_is_the_mean_over_seeds_of_what_was_observed_in_an_hour(tmp_path, name):
    runs = PredictedRuns(tmp_path, name, seeds=[0, 1, 2])
    (ax,) = panels_of(runs.draw())
    for model in FIGURES[name]:
        own = [by_hand(runs.answers[model, seed]) for seed in (0, 1, 2)]
        x, y = line(ax, f"curve {model}")
        np.testing.assert_array_equal(x, np.arange(24.5, 48))
        np.testing.assert_allclose(y, np.mean(own, axis=0))
        (band,) = with_gid(ax, f"band {model}")
        edge, (_, low, high) = band.get_paths()[0].vertices[:, 1], mean_band(own)
        assert (edge.min(), edge.max()) == (pytest.approx(low.min()), pytest.approx(high.max()))
    assert ax.get_xlim() == (24, 48) and ax.get_ylim()[0] == 0


def test_naive_baselines_are_dashed_lines_named_in_legend_and_caption(tmp_path):
    scores = {"last value": 3e-3, "best constant": 0.4}
    about = {(model, seed): {"naive": {METRIC: scores}} for model in MODELS for seed in (0, 1)}
    figure = PredictedRuns(tmp_path, FIGURE, about=about).draw()
    (ax,) = panels_of(figure)
    assert [line.get_ydata()[0] for line in with_gid(ax, "naive")] == [400.0, 3.0]
    assert ax.get_ylim()[1] < 400 and legend(figure)[-2:] == ["naive: best constant", "naive: last value"]
    assert "(best constant 400.000; last value 3.000)" in words(figure)


def test_two_seeds_have_lines_of_their_own_and_no_band(made):
    runs = made()
    (ax,) = panels_of(runs.draw())
    for model in MODELS:
        thin = [artist.get_ydata() for artist in with_gid(ax, f"seed {model}")]
        np.testing.assert_allclose(thin, [by_hand(runs.answers[model, seed]) for seed in (0, 1)])
        assert not with_gid(ax, f"band {model}")


@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_what_the_figure_says_is_as_approved(made, scale):
    approved(f"{FIGURE}_{scale}.txt", face(made(scale).draw()))


def test_an_hour_without_entries_has_no_point(made):
    runs = made()
    for arrays in runs.answers.values():
        arrays["error_count"][3] = arrays["error_sum"][3] = 0
    figure = made(answers=runs.answers).draw()
    x, y = line(panels_of(figure)[0], "curve latent_ode")
    assert 27.5 not in x and len(x) == 23 and np.isfinite(y).all()
    assert "no point" in words(figure) and "line has a gap" not in words(figure) and "(30 to " in words(figure)


def test_an_error_that_is_not_finite_is_a_gap(made):
    runs = made()
    arrays = runs.answers["latent_ode", 0]
    arrays["error_sum"][3] = np.inf
    figure = made(answers={("latent_ode", 0): arrays}).draw()
    thin = with_gid(panels_of(figure)[0], "seed latent_ode")
    assert [np.isnan(artist.get_ydata()).sum() for artist in thin] == [1, 0]
    assert "gap" in words(figure)


def test_errors_of_other_hours_are_refused(made):
    runs = made()
    arrays = runs.answers["ace_latent_ode", 1]
    arrays["error_time"] = arrays["error_time"] + np.float32(1)
    runs = made(answers={("ace_latent_ode", 1): arrays})
    with refused("hours", file=runs.files["ace_latent_ode", 1].directory / PREDICTIONS):
        runs.draw()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"error_sum": np.full(24, -1.0)}, "below 0"),
        ({"error_time": np.arange(24.0)}, "edges"),
        ({"error_time": np.zeros(25)}, "ascend"),
        ({"error_count": np.ones(24)}, "shape"),
        ({"grid_low": np.zeros((3, 97, 40))}, "D = 40"),
        ({"row_time": np.full(150, np.nan)}, "finite"),
        ({"row_time": np.arange(150.0)[::-1].copy()}, "row_time"),
        ({"row_id": np.arange(150) % 3}, "together"),
        ({"row_id": np.repeat([1, 2, 3, 4], [20, 20, 50, 60])}, "of 3 series"),
    ],
)
def test_damaged_predictions_are_named(made, change, word):
    runs = made()
    runs = made(answers={("latent_ode", 0): runs.answers["latent_ode", 0] | change})
    with refused(word, file=runs.files["latent_ode", 0].directory / PREDICTIONS):
        runs.draw()
