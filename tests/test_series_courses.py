"""The course of a patient, interpolated and extrapolated: lines, bands and marks are where predictions have them."""

import itertools

import numpy as np
import pytest
from approved import approved
from conftest import refused
from drawn import artifact_at, assert_nothing_overlaps, face, legend, panels_of, with_gid, words
from made import courses_of, make_run, sources_of, summary_of

from hidden_dynamics.artifacts import artifact_named
from hidden_dynamics.configuration.runs import PREDICTIONS

FIGURE = "acenode_patient"
TASKS = ("physionet_interpolation", "physionet_extrapolation")
MODELS = ("latent_ode", "ace_latent_ode")
FEATURES = {"HR": 19, "Temp": 36, "GCS": 15, "Urine": 39}  # their numbers among the 41 of the records


class Runs:
    """The figure's runs of the first seed, and the summary of all; by (task, model), `about` and `answers`."""

    def __init__(self, root, scale="demo", about=None, answers=None, **settings):
        self.root, self.artifact, about = root, artifact_at(scale, FIGURE, **settings), about or {}
        first = [run for run in self.artifact.runs if run.seed == self.artifact.configuration.seeds[0]]
        self.answers = {(run.task, run.model): courses_of(run) for run in first} | (answers or {})
        self.files = {}
        for run in first:
            key = run.task, run.model
            files = make_run(
                root, self.artifact.configuration, run, predictions=self.answers[key], **about.get(key, {})
            )
            self.files[key] = files
        self.summary = summary_of(self.artifact, lambda run: about.get((run.task, run.model), {}))

    def draw(self):
        return self.artifact.draw(sources_of(self.artifact, self.root, summary=self.summary))


@pytest.fixture
def made(tmp_path):
    return lambda *positional, **settings: Runs(tmp_path, *positional, **settings)


def grid_of(figure):
    return np.array(panels_of(figure)).reshape(len(FEATURES), len(TASKS))


def points(ax, gid):
    """(points, 2) of the first line of this name."""
    found = with_gid(ax, gid)[0]
    return np.transpose([found.get_xdata(), found.get_ydata()])


def test_lines_and_bands_are_the_samples_mean_and_percentiles(made):
    runs = made()
    panels = grid_of(runs.draw())
    for (row, feature), (column, task), model in itertools.product(
        enumerate(FEATURES.values()), enumerate(TASKS), MODELS
    ):
        arrays, ax = runs.answers[task, model], panels[row, column]
        grid = arrays["grid"]
        place = 2  # of three series that with the most observations
        expected = np.transpose([grid, arrays["grid_mean"][place, :, feature]])
        np.testing.assert_allclose(points(ax, f"curve {model}"), expected)
        (band,) = with_gid(ax, f"band {model}")
        edge = np.unique(band.get_paths()[0].vertices, axis=0)
        ends = [np.transpose([grid, arrays[name][place, :, feature]]) for name in ("grid_low", "grid_high")]
        np.testing.assert_allclose(edge, np.unique(np.concatenate(ends), axis=0))


def test_observations_are_marked_by_whether_they_are_given(made):
    runs = made()
    panels = grid_of(runs.draw())
    for (row, feature), (column, task) in itertools.product(enumerate(FEATURES.values()), enumerate(TASKS)):
        arrays, until = runs.answers[task, MODELS[0]], (48.0, 24.0)[column]
        expected = {"given": [], "withheld": []}
        for name, time, value, seen in zip(
            *(arrays[f"row_{of}"] for of in ("id", "time", "value", "mask")), strict=True
        ):
            if name == 132543 and seen[feature]:
                expected["given" if time <= until else "withheld"].append((time, value[feature]))
        assert expected["given"] and bool(expected["withheld"]) == (until < 48)
        for kind, values in expected.items():
            found = points(panels[row, column], f"{kind} {feature}")
            np.testing.assert_array_equal(found, np.reshape(np.array(values), (-1, 2)))


def test_what_is_not_given_is_shaded_and_the_series_named(made):
    figure = made().draw()
    for interpolated, extrapolated in grid_of(figure):
        assert not with_gid(interpolated, "not given")
        (shade,) = with_gid(extrapolated, "not given")
        assert shade.get_extents().transformed(extrapolated.transData.inverted()).intervalx == pytest.approx([24, 48])
        (low, high), other = interpolated.get_xlim(), extrapolated.get_xlim()
        assert (low, high) == other and -1 < low < 0 and 48 < high < 49
    assert "Test series 132543" in words(figure)


def test_a_wide_band_does_not_flatten_the_lines(made):
    runs = made()
    wide = runs.answers[TASKS[0], MODELS[0]]
    wide |= {"grid_high": wide["grid_high"] + np.float32(1000)}
    low, high = grid_of(made(answers={(TASKS[0], MODELS[0]): wide}).draw())[0, 0].get_ylim()
    assert high - low < 10


@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_what_the_figure_says_is_as_approved(made, scale):
    approved(f"{FIGURE}_{scale}.txt", face(made(scale).draw()))


def test_a_run_without_predictions_has_no_line_and_says_why(made):
    figure = made(about={(TASKS[1], MODELS[1]): {"diverged_at": 7}}).draw()
    assert "ACE-Latent-ODE (ODE Enc.) (PhysioNet extrapolation: diverged)" in legend(figure)
    interpolated, extrapolated = grid_of(figure)[0]
    assert with_gid(interpolated, "curve ace") and not with_gid(extrapolated, "curve ace")
    nothing = made(answers={(task, model): {} for task in TASKS for model in MODELS}).draw()
    assert words(nothing).count("no run predicted anything") == 8
    assert_nothing_overlaps(nothing)


def test_numbers_that_are_not_finite_are_gaps(made):
    answers = made().answers[TASKS[0], MODELS[0]]
    answers["grid_mean"][:, 40] = np.nan
    answers["grid_high"][:, 60] = np.inf
    figure = made(answers={(TASKS[0], MODELS[0]): answers}).draw()
    figure.draw_without_rendering()
    assert np.isfinite(grid_of(figure)[0, 0].get_ylim()).all()


def test_a_feature_that_there_is_none_of_is_named(project):
    project.set("config/artifacts.yaml", f"{FIGURE}.features", ["HR", "Mood"])
    with refused("Mood", file="config/artifacts.yaml", key=f"{FIGURE}.features"):
        artifact_named(project.load(), FIGURE)


def test_predictions_of_other_features_or_series_are_named(made):
    runs = made()
    key = TASKS[1], MODELS[1]
    narrow = courses_of(next(run for run in runs.artifact.runs if (run.task, run.model) == key), features=5)
    with refused("features", file=runs.files[key].directory / PREDICTIONS):
        made(answers={key: narrow}).draw()
    other = runs.answers[key]
    with refused("series"):
        made(answers={key: other | {"row_id": other["row_id"] + 1}}).draw()


def test_a_run_that_is_missing_is_named(made):
    runs = made()
    runs.summary = [row for row in runs.summary if row["task"] == TASKS[0]]
    with refused(TASKS[1], file=runs.root / runs.artifact.inputs()["summary"]):
        runs.draw()


@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_no_text_overlaps(made, scale):
    assert_nothing_overlaps(made(scale, about={(TASKS[1], MODELS[1]): {"diverged_at": 7}}).draw())
