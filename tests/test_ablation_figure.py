"""Grids of hyperparameters: they show what the runs left, and say what they are."""

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest
from conftest import refused
from drawn import artifact_at, with_gid
from hypothesis import given
from hypothesis import strategies as st
from made import EVERY, FAILED, evidence_of
from matplotlib.colors import LogNorm

from hidden_dynamics.artifacts.kinds.ablation import colours_of

FIGURE = "momentumrnn_figure7"


def evaluation_of(run):
    mu, s = (run.spec["hyperparameters"].get(name, 0.0) for name in ("mu", "s"))
    loss = 10 + 100 * mu + s + run.seed
    losses = {"test_loss": loss, "test_perplexity": 60 * loss, "validation_loss": loss}
    return {"iteration": EVERY, "epoch": 1.0, "test_accuracy": (50 + 40 * mu + s + run.seed) / 100, **losses}


def grid_figure(scale="demo", change=lambda run: {}, **settings):
    """`change` gives further keywords of a run."""
    artifact = artifact_at(scale, FIGURE, **settings)
    return artifact.draw(evidence_of(artifact, lambda run: {"evaluations": [evaluation_of(run)]} | change(run)))


drawn = functools.cache(grid_figure)  # to look at, not to change


def grids(figure, gid):
    """The grids' images, from left to right."""
    return [found for found in with_gid(figure, gid) if hasattr(found, "get_clim")]


def text_at(image, name):
    return [text.get_text() for text in image.axes.texts if text.get_gid() == name]


@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_our_grids_are_means_over_seeds_of_what_was_measured(scale):
    figure = drawn(scale)
    values = {
        "mnist_ablation": lambda mu, s: 50.5 + 40 * mu + s,
        "timit_ablation": lambda mu, s: 10.5 + 100 * mu + s,
        "ptb_ablation": lambda mu, s: 630 + 6000 * mu + 60 * s,
    }
    for image, (task, value) in zip(grids(figure, "ours"), values.items(), strict=True):
        grid = artifact_at(scale, FIGURE).configuration.tasks[task].models["momentum_lstm"].grid
        rows, columns = sorted(grid["mu"], reverse=True), sorted(grid["s"])
        expected = [[value(mu, s) for s in columns] for mu in rows]
        np.testing.assert_allclose(image.get_array(), expected, rtol=1e-12)
        assert [label.get_text() for label in image.axes.get_yticklabels()] == [f"{mu:g}" for mu in rows]
        assert [label.get_text() for label in image.axes.get_xticklabels()] == [f"{s:g}" for s in columns]
        assert text_at(image, f"ours {rows[0]:g} {columns[0]:g}") == [f"{expected[0][0]:.2f}"]
        data = figure.data[figure.data["task"] == task].pivot(index="mu", columns="s", values="ours")
        np.testing.assert_allclose(data.loc[rows, columns], expected, rtol=1e-12)
        assert (image.axes.get_ylabel(), image.axes.get_xlabel()) == ("momentum μ", "step size s")


def test_the_published_grids_are_the_papers():
    accuracy, mse, perplexity = grids(drawn("demo"), "published")
    assert accuracy.get_array().shape == mse.get_array().shape == perplexity.get_array().shape == (5, 5)
    assert text_at(perplexity, "published 0.9 1") == ["642.07"] and text_at(perplexity, "published 0 0.6") == ["58.62"]
    assert text_at(accuracy, "published 0.9 0.1") == ["99.08"] and text_at(accuracy, "published 0 1") == ["98.90"]
    assert text_at(mse, "published 0.9 0.1") == ["121.07"] and text_at(mse, "published 0.3 0.1") == ["5.87"]


def test_green_is_the_better_end_and_each_grid_has_its_own_colours():
    figure = drawn("demo")
    images = grids(figure, "ours") + grids(figure, "published")
    assert [image.get_cmap().name for image in images] == ["YlGn", "YlGn_r", "YlGn_r"] * 2
    assert [isinstance(image.norm, LogNorm) for image in images] == [False, True, True] * 2
    assert len({image.get_clim() for image in images}) == 6
    for image in images:
        best = max if image.get_cmap().name == "YlGn" else min
        red, green, blue, _ = image.get_cmap()(image.norm(best(image.get_array().ravel())))
        assert green > red and green > blue and green < 0.5  # dark green


def diverge(places):
    """Let runs diverge: `places` are (task, paper_size, seed)."""
    lost = {"diverged_at": 7, "reported": None}
    return lambda run: lost if (run.task, run.paper_size, run.seed) in places else {}


def test_a_cell_whose_seeds_all_diverged_is_hatched_and_one_with_some_has_the_others_mean():
    places = [("mnist_ablation", "mu0.9-s0.1", 0), *(("timit_ablation", "mu0.0-s1.0", seed) for seed in (0, 1))]
    figure = grid_figure(change=diverge(places))
    accuracy, mse, _ = grids(figure, "ours")
    assert text_at(accuracy, "ours 0.9 0.1") == ["87.10\n1/2 div."]  # seed 1: 50 + 36 + 0.1 + 1
    assert text_at(mse, "ours 0 1") == ["diverged\n2/2"]
    assert mse.get_array().mask.sum() == 1 and mse.get_array().mask[-1, -1] and not np.any(accuracy.get_array().mask)
    (hatch,) = with_gid(figure, "hatch")
    assert hatch.axes is mse.axes and hatch.get_hatch() and hatch.get_xy() == (1.5, 1.5)


def test_a_failed_run_is_counted_in_its_place():
    figure = grid_figure(change=lambda run: FAILED | {"reported": None} if run.seed == 0 else {})
    ran = figure.data[figure.data["runs"] > 0]
    assert (ran["failed"] == 1).all() and (ran["runs"] == 2).all()
    texts = [text.get_text() for text in with_gid(figure, "ours ") if hasattr(text, "get_text")]
    assert len(texts) == len(ran) and all("1/2 failed" in text for text in texts)


def test_a_mean_that_is_not_finite_and_a_run_with_nothing_to_report_have_no_colour():
    """The train loss of such a run stayed finite and no validation loss was, so nothing was chosen and tested."""

    def change(run):
        if run.paper_size == "mu0.9-s1.0":
            lost = {"test_accuracy": 0.5, "test_loss": 2e9, "test_perplexity": np.inf}
            return {"evaluations": [evaluation_of(run) | lost]}
        return {"reported": None} if (run.task, run.paper_size, run.seed) == ("ptb_ablation", "mu0.9-s0.1", 0) else {}

    figure = grid_figure(change=change)
    accuracy, mse, perplexity = grids(figure, "ours")
    assert text_at(perplexity, "ours 0.9 1") == text_at(perplexity, "ours 0.9 0.1") == ["not finite"]
    assert perplexity.get_array().mask.sum() == 2
    assert text_at(accuracy, "ours 0.9 1") == ["50.00"] and text_at(mse, "ours 0.9 1") == ["2.00e+09"]


@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_every_text_fits_its_cell_can_be_read_and_no_title_overlaps_another(scale):
    places = [("timit_ablation", f"mu{mu}-s{s}", seed) for mu in (0.9, 0.3) for s in (0.1, 1.0) for seed in (0, 1)]
    figure = grid_figure(scale, diverge([*places, ("mnist_ablation", "mu0.9-s0.1", 0)]))
    figure.draw_without_rendering()
    for image in grids(figure, "ours") + grids(figure, "published"):
        rows, columns = image.get_array().shape
        width, height = image.axes.bbox.width / columns, image.axes.bbox.height / rows
        for text in image.axes.texts:
            box = text.get_window_extent()
            assert box.width < width and box.height < height, text.get_text()
            # Three panels wide, a page at the width of a text still has letters of 4 points.
            assert scale == "demo" or text.get_fontsize() * 6.5 / figure.get_figwidth() >= 4 or "ours" in text.get_gid()
    titles = [image.axes.title.get_window_extent() for image in grids(figure, "ours") + grids(figure, "published")]
    for one, other in itertools.combinations(titles, 2):
        assert not one.overlaps(other)
    assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in titles)


@given(st.lists(st.floats(-1e6, 1e6), max_size=9), st.sampled_from(["higher", "lower"]))
def test_colours_of_any_values_are_a_scale(values, better):
    _, norm = colours_of(np.array(values), better)
    assert norm.vmin < norm.vmax
    if values:
        assert norm.vmin <= min(values) and max(values) <= norm.vmax
        assert isinstance(norm, LogNorm) == (min(values) > 0 and max(values) > 3 * min(values))


def test_a_cell_that_is_no_better_than_the_best_naive_baseline_is_marked():
    """The losses are 10 + 100 mu + s, and the seed: with mu = 0, s = 1 and two seeds on average 11.5."""
    naive = {"test_loss": {"last value": 11.5, "best constant": 900.0}, "test_accuracy": {"majority class": 0.0}}
    figure = grid_figure("paper", lambda run: {"naive": naive})
    accuracy, loss, perplexity = grids(figure, "ours")
    marked = {text.get_gid() for text in with_gid(figure, "ours ") if "†" in getattr(text, "get_text", str)()}
    assert marked == {f"ours {mu:g} {s:g}" for mu in (0.9, 0.6, 0.3, 0.1, 0) for s in (0.1, 0.3, 0.6, 0.9, 1)} - {
        f"ours 0 {s:g}" for s in (0.1, 0.3, 0.6, 0.9)
    }
    assert not any("†" in text.get_text() for ax in (accuracy.axes, perplexity.axes) for text in ax.texts)


def test_places_are_those_of_the_runs_whatever_is_configured_now():
    artifact = artifact_at("demo", FIGURE)
    evidence, had = evidence_of(artifact, lambda run: {"evaluations": [evaluation_of(run)]}), {"mu": 0.5, "s": 0.25}
    figure = artifact.draw(replace(evidence, runs=[replace(run, hyperparameters=had) for run in evidence.runs]))
    image = grids(figure, "ours")[0]
    assert image.get_array().shape == (1, 1) and text_at(image, "ours 0.5 0.25")


def test_a_panel_without_published_numbers_is_named():
    panels = [panel.given() | {"metric": "validation_loss"} for panel in artifact_at("demo", FIGURE).settings.panels]
    with refused("validation_loss", file="published/momentumrnn/figure7.yaml"):
        grid_figure(overrides={"artifacts": {FIGURE: {"panels": panels}}})
