"""Errors over time: they are the means that they claim to be, over row numbers they are the paper's."""

from collections import defaultdict

import numpy as np
import pytest
from drawn import FigureRuns, line, panels_of, with_gid, words
from hypothesis import given
from hypothesis import strategies as st

from hidden_dynamics.artifacts.kinds.error_over_time import bins_for, blocks, errors_of, observed
from hidden_dynamics.results.seeds import mean_band

FIGURE, MODELS = "acenode_figure5", ("gru_ode_bayes", "augmented_gru_ode_bayes", "ace_gru_ode_bayes")
HOURLY = {
    "acenode_figure6": ("latent_ode", "augmented_latent_ode", "ace_latent_ode"),
    "acenode_figure7": ("fc_ace_latent_ode", "fixed_ace_latent_ode", "ace_latent_ode"),
}


def squared_errors(arrays):
    """Of every entry, observed or not."""
    return (arrays["value"].astype(float) - arrays["mean"]) ** 2


@pytest.mark.parametrize(("variants", "share"), [("published", 0.14), ("released", 0.0)])
def test_a_point_is_the_mean_over_the_entries_of_its_bin_and_over_seeds(tmp_path, variants, share):
    """Of seeds that share series the band is corrected, and the notes say so."""
    runs = FigureRuns(tmp_path, FIGURE, seeds=[0, 1, 2], variants={"default": variants})
    figure = runs.draw()
    edges, _ = bins_for(list(runs.answers.values()))
    assert len(edges) > 3
    for model in MODELS:
        by_seed, times = [], defaultdict(list)
        for seed in (0, 1, 2):
            arrays, errors = runs.answers[model, seed], defaultdict(list)
            for row, feature in np.argwhere(arrays["mask"]):
                time = float(arrays["time"][row])
                place = max(i for i in range(len(edges) - 1) if i == 0 or edges[i] <= time)
                errors[place].append(squared_errors(arrays)[row, feature])
                times[place].append(time)
            by_seed.append([np.mean(errors[place]) for place in range(len(edges) - 1)])
        x, y = line(panels_of(figure)[0], f"curve {model}")
        np.testing.assert_allclose(x, [np.mean(times[place]) for place in range(len(edges) - 1)])
        np.testing.assert_allclose(y, np.mean(by_seed, axis=0))
        (bars,), (_, low, high) = with_gid(panels_of(figure)[0], f"band {model}"), mean_band(by_seed, resampled=share)
        np.testing.assert_allclose([bar[:, 1] for bar in bars.get_segments()], np.transpose([low, high]))
        data = figure.data[(figure.data["model"] == model) & (figure.data["line"] == "mean")]
        np.testing.assert_allclose(data[["x", "mean", "low", "high"]].T, [x, y, low, high])
    assert ("random split" in words(figure)) == (share > 0)


@pytest.mark.parametrize("name", HOURLY)
def test_a_point_is_the_mean_of_what_was_observed_in_an_hour_in_thousandths(tmp_path, name):
    runs = FigureRuns(tmp_path, name, seeds=[0, 1, 2])
    (ax,) = panels_of(runs.draw())
    for model in HOURLY[name]:
        own = [runs.answers[model, seed] for seed in (0, 1, 2)]
        x, y = line(ax, f"curve {model}")
        np.testing.assert_array_equal(x, np.arange(24.5, 48))
        np.testing.assert_allclose(y, np.mean([1000 * one["error_sum"] / one["error_count"] for one in own], axis=0))
    assert "10⁻³" in ax.get_ylabel() and 0 < ax.get_ylim()[0] < ax.get_ylim()[1]


def test_over_row_numbers_the_first_seed_is_as_the_released_script_draws_it(tmp_path):
    runs = FigureRuns(tmp_path, FIGURE)
    below = panels_of(runs.draw())[1]
    for model in MODELS:
        arrays = runs.answers[model, 0]
        errors = np.where(arrays["mask"], squared_errors(arrays), 0)
        expected = [errors[first : first + 4].sum() / 8 for first in range(0, len(errors) // 4 * 4, 4)]
        x, y = line(below, f"curve {model}")
        np.testing.assert_allclose(y, expected)
        assert x.tolist() == [4 * block for block in range(len(expected))]


@given(st.integers(1, 60), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_bins_have_all_observed_targets_and_none_is_empty(rows, different_times, seed):
    random = np.random.default_rng(seed)
    arrays = {"time": random.integers(0, different_times, rows).astype(np.float32), "mean": np.zeros((rows, 3))}
    arrays |= {"value": random.standard_normal((rows, 3)), "mask": random.random((rows, 3)) < 0.5}
    arrays["mask"][0, 0] = True
    (edges, times), (seen, _) = bins_for([arrays]), observed(arrays)
    drawn_at, (means,) = errors_of([arrays], 1.0)
    counts = np.histogram(seen, edges)[0]
    assert counts.sum() == arrays["mask"].sum() and counts.min() > 0 and len(times) <= 12
    np.testing.assert_array_equal(drawn_at, times)
    assert (np.diff(edges[:-1]) > 0).all() and (np.diff(times) > 0).all()
    assert (edges[:-1] <= times).all() and (times <= edges[1:]).all()
    assert (means * counts).sum() == pytest.approx((arrays["value"][arrays["mask"]] ** 2).sum())  # the test error
    assert len(blocks(arrays)[0]) == rows // 4


def test_models_of_unequal_numbers_of_runs_are_told_apart(tmp_path):
    lost = {("gru_ode_bayes", 0): {"diverged_at": 7}}
    figure = FigureRuns(tmp_path, FIGURE, seeds=[0, 1, 2], about=lost, answers={("ace_gru_ode_bayes", 0): {}}).draw()
    above, below = panels_of(figure)
    assert len(with_gid(above, "seed gru_ode_bayes")) == 2 and not with_gid(above, "band gru_ode_bayes")
    assert with_gid(above, "band augmented_gru_ode_bayes") and not with_gid(below, "curve gru_ode_bayes")


def test_an_error_that_is_not_finite_is_a_gap_and_an_hour_without_entries_has_no_point(tmp_path):
    runs = FigureRuns(tmp_path, "acenode_figure6")
    for arrays in runs.answers.values():
        arrays["error_count"][3] = arrays["error_sum"][3] = 0
    runs.answers["latent_ode", 0]["error_sum"][5] = np.inf
    figure = FigureRuns(tmp_path, "acenode_figure6", answers=runs.answers).draw()
    (ax,) = panels_of(figure)
    assert 27.5 not in line(ax, "curve latent_ode")[0] and len(line(ax, "curve latent_ode")[0]) == 23
    thin = with_gid(ax, "seed latent_ode")
    assert [np.isnan(artist.get_ydata()).sum() for artist in thin] == [1, 0]
    figure.draw_without_rendering()
