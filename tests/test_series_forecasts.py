"""Forecasts of a few test series: lines, bands and marks are where the predictions have them, and say what they are."""

import itertools
from functools import partial

import numpy as np
import pytest
from conftest import refused
from drawn import FigureRuns, legend, panels_of, with_gid
from made import predictions_of

from hidden_dynamics.artifacts import artifact_named
from hidden_dynamics.data import ornstein_uhlenbeck, ushcn

FIGURE = "acenode_forecasts"
MODELS = ("gru_ode_bayes", "ace_gru_ode_bayes")


@pytest.fixture
def made(tmp_path):
    return partial(FigureRuns, tmp_path, FIGURE)


def points(ax, gid):
    """(points, 2) of the first line of this name."""
    found = with_gid(ax, gid)[0]
    return np.transpose([found.get_xdata(), found.get_ydata()])


@pytest.mark.parametrize(("scale", "features"), [("demo", [0, 1]), ("paper", [3, 4])])
def test_lines_and_bands_are_the_predicted_distributions_at_the_times_of_steps(made, scale, features):
    runs = made(scale)
    panels = np.array(panels_of(runs.draw())).reshape(2, 3)
    for (row, feature), place, model in itertools.product(enumerate(features), range(3), MODELS):
        arrays, mean, low, high = runs.answers[model, 0], [], [], []
        for i, time in enumerate(arrays["grid"].tolist()):
            if round(time, 3) % 0.25 == 0:
                centre, variance = (float(arrays[name][place, i, feature]) for name in ("grid_mean", "grid_variance"))
                mean.append((time, centre))
                low.append((time, centre - 1.96 * variance**0.5))
                high.append((time, centre + 1.96 * variance**0.5))
        assert len(mean) == (21 if scale == "demo" else 101)
        np.testing.assert_allclose(points(panels[row, place], f"curve {model}"), mean)
        (band,) = with_gid(panels[row, place], f"band {model}")
        edge = np.unique(band.get_paths()[0].vertices, axis=0)
        np.testing.assert_allclose(edge, np.unique(low + high, axis=0))


def test_a_network_without_steps_is_drawn_at_all_times(made):
    runs = made()
    for row in runs.rows["summary"]:
        row["hyperparameters"] = "{}"
    assert len(points(runs.draw(), f"curve {MODELS[0]}")) == 101


def test_observations_are_marked_by_what_they_are(made):
    runs = made()
    arrays = runs.answers[MODELS[0], 0]
    panels = np.array(panels_of(runs.draw())).reshape(2, 3)
    for feature, place in np.ndindex(2, 3):
        expected = {"given": [], "withheld": [], "target": []}
        for row, (name, time) in enumerate(zip(arrays["row_id"], arrays["row_time"], strict=True)):
            if name == place and arrays["row_mask"][row, feature]:
                is_target = any(pair == (name, time) for pair in zip(arrays["id"], arrays["time"], strict=True))
                kind = "given" if time <= 7.5 else "target" if is_target else "withheld"
                expected[kind].append((time, arrays["row_value"][row, feature]))
        assert expected["given"] and expected["withheld"]
        for kind, values in expected.items():
            found = points(panels[feature, place], f"{kind} {feature}")
            np.testing.assert_array_equal(found, np.reshape(np.array(values), (-1, 2)))
        last = points(panels[feature, place], "naive last value").tolist()
        assert last == [list(expected["given"][-1]), [arrays["grid"][-1], expected["given"][-1][1]]]
        (end,) = with_gid(panels[feature, place], "until")
        assert set(end.get_xdata()) == {7.5}


def test_as_much_is_seen_before_the_end_of_what_is_given_as_after_it(made):
    for ax in panels_of(made().draw()):
        assert ax.get_xlim() == pytest.approx((5, 10.1))
        low, high = ax.get_ylim()
        seen = np.concatenate([points(ax, name) for name in ("curve gru", "curve ace", "given", "withheld", "target")])
        heights = seen[seen[:, 0] >= 5, 1]
        assert low < heights.min() and heights.max() < high


def test_a_wide_band_does_not_flatten_the_lines_and_numbers_that_are_not_finite_are_gaps(made):
    wide = made().answers[MODELS[0], 0]
    wide["grid_variance"] = wide["grid_variance"] * np.float32(1e6)
    wide["grid_mean"][:, 40], wide["grid_variance"][:, 60] = np.nan, np.inf
    figure = made(answers={(MODELS[0], 0): wide}).draw()
    low, high = panels_of(figure)[0].get_ylim()
    assert high - low < 20
    figure.draw_without_rendering()


def test_features_are_called_as_the_dataset_calls_them(made):
    assert [ax.get_ylabel() for ax in panels_of(made("paper").draw())[::3]] == ["TMAX", "TMIN"]


def test_datasets_name_the_features_that_their_modules_prepare(configured):
    datasets = configured().datasets
    assert datasets["ushcn"].features == list(ushcn.ELEMENTS)
    assert len(datasets["ornstein_uhlenbeck"].features) == ornstein_uhlenbeck.FEATURES


def test_a_run_without_predictions_has_no_line(made):
    figure = made(about={(MODELS[1], 0): {"diverged_at": 7}}).draw()
    assert "ACE-GRU-ODE-Bayes (1 of 1 runs diverged)" in legend(figure)
    assert not with_gid(figure, "curve ace") and with_gid(figure, "curve gru")
    figure = made(answers={(MODELS[0], 0): {}}).draw()
    assert not with_gid(figure, "curve gru") and with_gid(figure, "curve ace")


def test_a_feature_that_there_is_none_of_is_named(project, made):
    project.set("config/artifacts.yaml", f"{FIGURE}.features", [0, 0])
    with refused("the same", file="config/artifacts.yaml", key=f"{FIGURE}.features"):
        artifact_named(project.load(scale="paper"), FIGURE)
    runs = made("paper")
    narrow = {(run.model, run.seed): predictions_of(run, features=2) for run in runs.artifact.runs}
    with refused("feature 4", key=f"{FIGURE}.features"):
        made("paper", answers=narrow).draw()
