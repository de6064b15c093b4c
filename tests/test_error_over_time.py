"""Errors of forecasts: over time they are the means they claim to be, over row numbers they are the paper's."""

from collections import defaultdict
from functools import partial

import numpy as np
import pytest
from approved import approved
from drawn import PredictedRuns, assert_nothing_overlaps, face, line, panels_of, with_gid, words
from hypothesis import given
from hypothesis import strategies as st

from hidden_dynamics.artifacts.kinds.error_over_time.mean_errors import bins_of, blocks
from hidden_dynamics.results.predictions import Predictions
from hidden_dynamics.results.statistics import mean_band

FIGURE = "acenode_figure5"
MODELS = ("gru_ode_bayes", "augmented_gru_ode_bayes", "ace_gru_ode_bayes")


@pytest.fixture
def made(tmp_path):
    return partial(PredictedRuns, tmp_path, FIGURE)


def observed_errors(arrays):
    """(time, squared error) of each observed entry, entry by entry."""
    for row, time in enumerate(arrays["time"]):
        for feature in range(arrays["value"].shape[1]):
            if arrays["mask"][row, feature]:
                yield float(time), (float(arrays["value"][row, feature]) - float(arrays["mean"][row, feature])) ** 2


def test_a_point_over_time_is_the_mean_over_the_entries_of_its_bin_and_over_seeds(made):
    runs = made(seeds=[0, 1, 2])
    above = panels_of(runs.draw())[0]
    edges = bins_of([Predictions(**answers) for answers in runs.answers.values()]).edges
    assert len(edges) > 3
    for model in MODELS:
        by_seed, times = [], defaultdict(list)
        for seed in (0, 1, 2):
            errors = defaultdict(list)
            for time, error in observed_errors(runs.answers[model, seed]):
                place = max(i for i in range(len(edges) - 1) if i == 0 or edges[i] <= time)
                errors[place].append(error)
                times[place].append(time)
            by_seed.append([np.mean(errors[place]) for place in range(len(edges) - 1)])
        x, y = line(above, f"curve {model}")
        np.testing.assert_allclose(x, [np.mean(times[place]) for place in range(len(edges) - 1)])
        np.testing.assert_allclose(y, np.mean(by_seed, axis=0))
        assert with_gid(above, f"band {model}") and not with_gid(above, f"seed {model}")
        (mean,) = with_gid(above, f"curve {model}")
        assert mean.get_color() == runs.artifact.configuration.models[model].colour


def test_naive_baselines_are_dashed_lines_at_their_mean_over_seeds(made):
    about = {
        (model, seed): {"naive": {"test_mse": {"last value": 0.2 + 0.1 * seed}}} for model in MODELS for seed in (0, 1)
    }
    figure = made(about=about).draw()
    above, below = panels_of(figure)
    assert [line.get_ydata()[0] for line in with_gid(above, "naive")] == [pytest.approx(0.25)]
    assert not with_gid(below, "naive") and "(last value 0.25)" in words(figure)


@pytest.mark.parametrize(("readings", "share"), [("published", 0.14), ("released", 0.0)])
def test_the_band_of_seeds_that_share_series_is_corrected_and_says_so(made, readings, share):
    figure = made(seeds=[0, 1, 2], readings={"default": readings}).draw()
    above = panels_of(figure)[0]
    answers = made(seeds=[0, 1, 2]).answers
    bins = bins_of([Predictions(**one) for one in answers.values()])
    mean, low, high = mean_band(
        [bins.means(Predictions(**answers["gru_ode_bayes", k])) for k in range(3)], resampled=share
    )
    (band,) = with_gid(above, "band gru_ode_bayes")
    edge = band.get_paths()[0].vertices
    assert (edge[:, 1].min(), edge[:, 1].max()) == (pytest.approx(low.min()), pytest.approx(high.max()))
    assert ("n_test/n_train = 0.14" in words(figure)) == (share > 0)


def test_lines_and_bands_are_told_by_how_many_runs_of_a_model_there_are(made):
    lost = {("gru_ode_bayes", 0): {"diverged_at": 7}}
    figure = made(seeds=[0, 1, 2], about=lost).draw()
    above, text = panels_of(figure)[0], words(figure)
    assert len(with_gid(above, "seed gru_ode_bayes")) == 2 and not with_gid(above, "band gru_ode_bayes")
    assert with_gid(above, "band ace_gru_ode_bayes")
    for part in ("2 to 3 seeds", "thin, of a model with 2", "band, of a model with 3 or more"):
        assert part in text
    text = words(made(about=lost).draw())
    assert "1 to 2 seeds" in text and "band" not in text


def test_two_seeds_have_lines_of_their_own_and_no_band(made):
    above = panels_of(made().draw())[0]
    for model in MODELS:
        thin = np.array([artist.get_ydata() for artist in with_gid(above, f"seed {model}")])
        np.testing.assert_allclose(thin.mean(axis=0), line(above, f"curve {model}")[1])
        assert len(thin) == 2 and not with_gid(above, f"band {model}")


def test_over_row_numbers_the_first_seed_is_as_the_released_script_draws_it(made):
    runs = made()
    below = panels_of(runs.draw())[1]
    for model in MODELS:
        arrays = runs.answers[model, 0]
        expected = []
        for first in range(0, len(arrays["id"]) // 4 * 4, 4):
            total = 0.0
            for row in range(first, first + 4):
                for feature in range(2):
                    error = float(arrays["value"][row, feature]) - float(arrays["mean"][row, feature])
                    total += arrays["mask"][row, feature] * error**2
            expected.append(total / 8)
        x, y = line(below, f"curve {model}")
        np.testing.assert_allclose(y, expected)
        assert x.tolist() == [4 * block for block in range(len(expected))]
    assert "row numbers" in words(below) and "Testing Time" in words(below)


@given(st.integers(1, 60), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_bins_have_all_observed_targets_and_none_is_empty(rows, different_times, seed):
    random = np.random.default_rng(seed)
    empty = np.zeros(0)
    arrays = {"id": np.arange(rows), "time": random.integers(0, different_times, rows).astype(np.float32)}
    arrays |= {"value": random.standard_normal((rows, 3)), "mean": np.zeros((rows, 3)), "variance": np.ones((rows, 3))}
    arrays |= {"mask": random.random((rows, 3)) < 0.5, "until": 0.0}
    arrays["mask"][0, 0] = True
    rest = dict.fromkeys(set(Predictions._fields) - set(arrays), empty)
    predictions = Predictions(**arrays, **rest)
    bins = bins_of([predictions])
    counts = bins.counts(predictions)
    assert counts.sum() == arrays["mask"].sum() and counts.min() > 0 and len(counts) <= 12
    assert (np.diff(bins.edges[:-1]) > 0).all() and (np.diff(bins.times) > 0).all()
    assert (bins.edges[:-1] <= bins.times).all() and (bins.times <= bins.edges[1:]).all()
    squares = arrays["value"][arrays["mask"]] ** 2
    assert (bins.means(predictions) * counts).sum() == pytest.approx(squares.sum())  # weighted: the test error
    assert len(blocks(predictions)[0]) == rows // 4


@pytest.mark.parametrize(("scale", "seeds"), [("demo", [0, 1]), ("paper", [0, 1, 2, 3, 4])])
def test_what_the_figure_says_is_as_approved(made, scale, seeds):
    approved(f"{FIGURE}_{scale}.txt", face(made(scale, seeds=seeds).draw()))


def test_diverged_runs_are_left_out(made):
    above, below = panels_of(made(about={("gru_ode_bayes", 0): {"diverged_at": 7}}).draw())
    assert with_gid(above, "curve gru_ode_bayes") and not with_gid(above, "seed gru_ode_bayes")
    assert not with_gid(below, "curve gru_ode_bayes") and with_gid(below, "curve ace_gru_ode_bayes")


def test_an_error_that_is_not_finite_is_a_gap(made):
    runs = made()
    arrays = runs.answers["gru_ode_bayes", 0]
    arrays["mean"][np.argmax(arrays["mask"].any(axis=1))] = np.inf
    runs = made(answers={("gru_ode_bayes", 0): arrays})
    figure = runs.draw()
    assert "gap" in words(figure)
    thin = with_gid(panels_of(figure)[0], "seed gru_ode_bayes")
    assert [np.isnan(artist.get_ydata()).sum() for artist in thin] == [1, 0]
    figure.draw_without_rendering()


def test_overlapping_test_sets_are_said_where_seeds_are_splits(made):
    assert "test sets overlap" in words(made().draw())
    assert "overlap" not in words(made(readings={"default": "released"}).draw())


@pytest.mark.parametrize(
    ("seeds", "readings", "split"),
    [
        ([7], "published", "seed 7, split 7 (paper: 0)"),
        ([7], "released", "seed 7, split 0"),
    ],
)
def test_the_split_of_the_rows_is_named_beside_the_papers(made, seeds, readings, split):
    figure = made(seeds=seeds, readings={"default": readings}).draw()
    assert panels_of(figure)[1].get_title().endswith(f"“Testing Time”; {split}")
    assert_nothing_overlaps(figure)


def test_lines_that_are_not_in_the_papers_figure_are_named(made):
    assert "Added to the paper’s lines: Augmented-GRU-ODE-Bayes." in words(made().draw())
