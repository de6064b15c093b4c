"""Figures of curves: what is drawn is what the curves say, and what is written says what made it; no text overlaps."""

import functools
import itertools
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from drawn import artifact_at, assert_nothing_overlaps, legend, panels_of, with_gid
from made import curves_of, evidence_of

from hidden_dynamics.artifacts.kinds import curves as kind
from hidden_dynamics.artifacts.kinds.curves import Curve, robust_limits
from hidden_dynamics.papers.logs import load_logs

FIGURES = [f"momentumrnn_figure{number}" for number in (3, 4, 5, 6, 10)]
LANGUAGE = "momentumrnn_figure5"
NAIVE = {f"{split}_loss": {"best constant": 0.17} for split in ("train", "validation", "test")}


def draw(artifact, curves=None):
    """The figure of these curves, a list for each panel."""
    shown = zip(artifact.panels, curves_of(artifact) if curves is None else curves, strict=True)
    by_panel = {str(panel): curves for panel, curves in shown}
    with patch.object(kind, "curves_of", lambda _, panel: by_panel[str(panel)]):
        return artifact.draw(evidence_of(artifact, lambda run: {"naive": NAIVE}))


@functools.cache
def drawn(scale, name):
    """A figure to look at, not to change."""
    return draw(artifact_at(scale, name))


def half_learned(**settings):
    """An artifact with its curves, of which one of the second panel has seeds that learned and others that did not."""
    artifact = artifact_at("demo", FIGURES[1])
    curves = curves_of(artifact, **settings)
    curves[1] = [replace(curve, learned=1) if curve.model == "lstm" else curve for curve in curves[1]]
    return artifact, curves


@pytest.mark.parametrize("name", FIGURES)
def test_what_is_drawn_is_what_the_curves_say(name):
    artifact = artifact_at("demo", name)
    curves, settings = curves_of(artifact), artifact.settings
    for ax, panel, own in zip(panels_of(drawn("demo", name)), settings.panels, curves, strict=True):
        assert (ax.get_xscale(), ax.get_yscale()) == (panel.x_scale, panel.y_scale)
        for curve in own:
            (line,) = with_gid(ax, f"curve {curve.model}")
            np.testing.assert_array_equal(line.get_xydata(), np.transpose([curve.x, curve.mean]))
            assert line.get_color() == artifact.configuration.models[curve.model].colour
        assert [line.get_ydata()[0] for line in with_gid(ax, "naive: best constant")] == [0.17]


def test_the_data_have_a_row_for_each_point_that_is_drawn():
    artifact, curves = half_learned()
    data = draw(artifact, curves).data.fillna({"model": ""}).set_index(["task", "split", "model", "line"]).sort_index()
    for panel, own in zip(artifact.panels, curves, strict=True):
        for curve in own:
            place = panel.task, panel.split, curve.model
            lines = {line: data.loc[(*place, line), "mean"] for line in set(data.loc[place].index)}
            drawn = {f"seed {seed}": list(values) for seed, values in curve.seeds.items()}
            drawn |= {"mean": list(curve.mean)} if curve.learned is None else {}
            assert {line: list(values) for line, values in lines.items()} == drawn
            assert list(data.loc[(*place, "seed 0"), "x"]) == list(curve.x)
        assert data.loc[(panel.task, panel.split, "", "naive: best constant"), "mean"].item() == 0.17


@pytest.mark.parametrize("points", [200, 1])
def test_seeds_of_which_some_learned_and_others_did_not_have_lines_alone(points):
    artifact, curves = half_learned(points=points)
    figure = draw(artifact, curves)
    first, second = panels_of(figure)
    assert len(with_gid(second, "seed lstm")) == 2 and not with_gid(second, "curve lstm")
    assert with_gid(first, "curve lstm") and with_gid(second, "curve sr_lstm")


@pytest.mark.parametrize(("seeds", "bars", "small"), [(1, 0, 0), (2, 0, 2), (3, 1, 0)])
def test_models_that_were_evaluated_once_are_rows_of_dots(seeds, bars, small):
    artifact = artifact_at("demo", FIGURES[0], seeds=list(range(seeds)))
    figure = draw(artifact, curves_of(artifact, points=1, seeds=seeds))
    assert_nothing_overlaps(figure)
    ax = panels_of(figure)[0]
    points = [with_gid(ax, f"curve {model}")[0] for model in artifact.settings.models]
    seen = [point.get_transform().transform(point.get_xydata()[0]) for point in points]
    assert all(ax.bbox.contains(*place) for place in seen) and len({round(y) for _, y in seen}) == len(points)
    labels = [artifact.configuration.models[model].label for model in artifact.settings.models]
    assert [label.get_text() for label in ax.get_yticklabels()] == labels
    assert len(with_gid(ax, "band")) == bars * len(points) and len(with_gid(ax, "seed lstm")) == small
    assert [line.get_xdata()[0] for line in with_gid(ax, "naive")] == [0.17]
    low, high = ax.get_xlim()
    assert seeds == 1 or (low < 0.9 * points[-1].get_xdata()[0] and 1.1 * points[0].get_xdata()[0] < high)
    assert "at iteration 1" in ax.get_xlabel() and not ax.get_ylabel()


@pytest.mark.parametrize(("x_scale", "y_scale"), list(itertools.product(["linear", "log"], repeat=2)))
def test_limits_show_the_middle_of_every_curve_and_every_mark(x_scale, y_scale):
    x = np.arange(1.0, 101.0)
    means = [np.full(100, 0.1), np.full(100, 0.1) + 1e-3 * x, np.full(100, 50.0), np.where(x < 4, 1e4, 0.2)]
    curves = [Curve("m", x, y, y, y, {}) for y in means]
    low, high = robust_limits(curves, [60.0], x_scale, y_scale)
    assert low < 0.1 and 60 < high < 100


def test_limits_of_degenerate_curves():
    def limits(*y, scale="linear"):
        y = np.array(y)
        curves = [Curve("m", np.arange(y.size) + 1.0, y, y, y, {})]
        return robust_limits(curves, [], "linear", scale)

    assert robust_limits([], [], "linear", "linear") is None
    linear = [limits(1.0), limits(0.0), limits(2.0, 2.0, 2.0)]
    assert all(low < high for low, high in (*linear, limits(0.0, 0.0, scale="log"), limits(1.0, scale="log")))
    assert limits(-1.0, 1.0)[0] < -1


def test_configured_limits_hold_for_the_papers_data_only_and_no_spike_flattens_the_rest():
    configured = tuple(artifact_at("paper", FIGURES[0]).settings.panels[0].y_limits)
    assert panels_of(drawn("paper", FIGURES[0]))[0].get_ylim() == configured
    assert panels_of(drawn("demo", FIGURES[0]))[0].get_ylim() != configured
    low, high = panels_of(drawn("demo", "momentumrnn_figure4"))[0].get_ylim()
    assert -0.05 < low < 0.05 and 0.2 < high < 0.5


def test_lines_differ_without_their_colours_and_a_light_one_has_an_outline():
    lines = with_gid(panels_of(drawn("demo", FIGURES[0]))[0], "curve")
    assert len({str(line._unscaled_dash_pattern) for line in lines}) == len(lines)
    outlined = {line.get_gid().split()[1]: line.get_color() for line in lines if line.get_path_effects()}
    assert outlined["sr_lstm"] == "cyan" and "lstm" not in outlined


@pytest.mark.parametrize("change", [{"sizes": {190: 64}}, {"data": {"blanks": 100}}, {"dataset": "digits"}])
def test_published_values_stand_beside_the_papers_size_and_data_only(change):
    ours = drawn("paper", "momentumrnn_figure4")
    marks = {m.get_gid(): m.get_ydata()[0] for m in with_gid(panels_of(ours)[0], "published")}
    assert marks == {"published lstm": 0.01, "published momentum_lstm": 0.009}
    assert [m.get_ydata()[0] for m in with_gid(panels_of(ours)[1], "published")] == [0.162, 0.162]
    figure = draw(artifact_at("paper", "momentumrnn_figure4", overrides={"tasks": {"copying_2k": change}}))
    assert not with_gid(panels_of(figure)[0], "published") and with_gid(panels_of(figure)[1], "published")


FIRST = next(log[0] for log in load_logs("momentumrnn/logs.yaml").logs if log[0].mean == 0.37064)


def with_logs(scale="paper", points=3, name="momentumrnn_figure11", **settings):
    artifact = artifact_at(scale, name, seeds=[0, 1, 2, 3, 4], **{"variants": {"default": "released"}} | settings)
    return draw(artifact, curves_of(artifact, points=points, seeds=5))


def test_logs_lie_behind_our_test_losses_to_the_next_epoch():
    figure = with_logs()
    train, test = panels_of(figure)
    assert not with_gid(train, "curve logged") and len(with_gid(test, "curve logged")) == 5
    (mean,), (bars,) = (with_gid(test, f"{what} logged momentum_dtriv") for what in ("curve", "band"))
    logged = figure.data[(figure.data["line"] == "authors") & (figure.data["model"] == "momentum_dtriv")]
    assert list(logged["x"]) == list(mean.get_xdata()) == [1, 2, 3, 4] and mean.get_zorder() < 1
    assert list(logged["mean"][:2]) == list(mean.get_ydata()[:2]) == [0.37064, 0.32983]
    np.testing.assert_array_equal([bar[:, 1] for bar in bars.get_segments()], logged[["low", "high"]])
    assert tuple(logged[["low", "high"]].iloc[0]) == (FIRST.least, FIRST.greatest)
    assert legend(figure).count("authors’ logs") == 1
    validation = panels_of(with_logs(name=LANGUAGE))[1]  # validation losses, of text
    assert len(with_gid(validation, "curve logged")) == 3


def test_logs_of_the_same_epoch_stand_below_the_dots_of_one_evaluation():
    test = panels_of(with_logs(points=1))[1]
    (mean,), (ours,) = (with_gid(test, f"curve {name}momentum_dtriv") for name in ("logged ", ""))
    (band,) = with_gid(test, "band logged momentum_dtriv")
    assert list(mean.get_xdata()) == [0.37064] and list(band.get_xdata()) == [FIRST.least, FIRST.greatest]
    assert ours.get_ydata()[0] < mean.get_ydata()[0] < ours.get_ydata()[0] + 0.5


@pytest.mark.parametrize(
    ("scale", "settings"), [("demo", {}), ("evening", {}), ("paper", {"variants": {"default": "published"}})]
)
def test_no_logs_are_drawn_where_the_runs_have_other_settings(scale, settings):
    figure = with_logs(scale, **settings)
    assert not with_gid(figure, "curve logged") and not {"authors’ logs"} & set(legend(figure))
