"""What every figure is asked: what it says, whether it can be read, what it makes of lost runs and broken files."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from approved import approved
from conftest import refused
from drawn import FigureRuns, artifact_at, assert_nothing_overlaps, face, legend, line, panels_of, with_gid, words
from made import FAILED

from hidden_dynamics.artifacts.kinds import curves
from hidden_dynamics.artifacts.sheet import save

LINES = ("acenode_figure5", "acenode_figure6", "momentumrnn_figure3")  # with bands, or the lines of two seeds
MAPS, GRID = "acenode_figure4", "momentumrnn_figure7"
RUNLESS = ("momentumrnn_figure8", "momentumrnn_jacobian")
FIGURES = (*LINES, MAPS, GRID, *(f"momentumrnn_figure{number}" for number in (2, 4, 5, 10, 11)), *RUNLESS)
APPROVED = (*LINES[1:], MAPS, GRID, "momentumrnn_figure2", "momentumrnn_jacobian")  # at scale paper
OF_MODELS = tuple(name for name in FIGURES if name not in (MAPS, GRID, *RUNLESS))


def first_model(name):
    return artifact_at("demo", name).runs[0].model


def test_every_kind_of_figure_is_asked(configured):
    names = configured().artifacts
    kinds = {artifact_at("demo", name).settings.kind for name in names if artifact_at("demo", name).form == "figure"}
    assert kinds == {artifact_at("demo", name).settings.kind for name in FIGURES} | {"forest"}  # of test_forest.py


@pytest.mark.parametrize("scale", ["demo", "paper"])
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_what_is_drawn_as_data_few_notes_and_no_text_over_another(tmp_path, name, scale):
    figure = FigureRuns(tmp_path, name, scale).draw()
    if scale == "paper" and name in APPROVED:
        approved(f"{name}_{scale}.txt", face(figure))
    assert 0 < len(figure.data) <= 20_000 and len(figure.notes) <= 5 and not figure.instead
    if name != GRID:  # its own test knows that grids have colour bars
        assert_nothing_overlaps(figure)


@pytest.mark.parametrize(
    ("name", "end", "how"),
    [
        *((name, {"diverged_at": 7}, "diverged") for name in OF_MODELS),
        *((name, FAILED, "failed") for name in (LINES[0], "momentumrnn_figure2")),  # others say it as these
    ],
)
def test_a_run_that_diverged_or_failed_is_named_and_its_name_fits(tmp_path, name, end, how):
    figure = FigureRuns(tmp_path, name, about={(first_model(name), 0): end}).draw()
    assert f"{how.capitalize()}: " in words(figure)
    if name != "momentumrnn_figure2":
        assert sum(how in entry for entry in legend(figure)) == 1
    assert_nothing_overlaps(figure)


@pytest.mark.parametrize("name", OF_MODELS)
def test_with_nothing_to_draw_there_is_no_picture(tmp_path, name):
    keys = [(run.model, run.seed) for run in artifact_at("demo", name).runs]
    runs = FigureRuns(tmp_path, name, answers=dict.fromkeys(keys, [] if name == "momentumrnn_figure2" else {}))
    with patch.object(curves, "curves_of", lambda *_: []):
        figure = runs.draw()
    save(figure, tmp_path / "figure")
    assert figure.instead and figure.instead in (tmp_path / "figure.md").read_text()
    assert not (tmp_path / "figure.png").read_bytes() and not (tmp_path / "figure.pdf").read_bytes()


def test_a_map_that_is_missing_is_named(tmp_path):
    runs = FigureRuns(tmp_path, MAPS)
    path = runs.root / runs.artifact.inputs()["maps"]
    path.unlink()
    with refused("snakemake", file=path):
        runs.draw()


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize(("seeds", "bands", "own"), [(1, 0, 0), (2, 0, 2), (3, 1, 0)])
def test_a_model_has_a_mean_with_a_band_of_three_seeds_or_the_lines_of_two(tmp_path, name, seeds, bands, own):
    runs = FigureRuns(tmp_path, name, seeds=list(range(seeds)))
    figure, model = runs.draw(), first_model(name)
    ax = panels_of(figure)[0]
    (mean,) = with_gid(ax, f"curve {model}")
    assert mean.get_color() == runs.artifact.configuration.models[model].colour
    assert (len(with_gid(ax, f"band {model}")), len(with_gid(ax, f"seed {model}"))) == (bands, own)
    if own:
        values = [thin.get_ydata() for thin in with_gid(ax, f"seed {model}")]
        np.testing.assert_allclose(np.mean(values, axis=0), line(ax, f"curve {model}")[1])
    assert f"Seeds: {', '.join(map(str, range(seeds)))}. Trained" in words(figure)


@pytest.mark.parametrize("name", LINES)
def test_baselines_are_dashed_lines_that_stretch_no_axis_upwards(tmp_path, name):
    """Of classical ones the best is drawn."""
    artifact = artifact_at("demo", name)
    metrics = artifact.chosen_metrics() or ["train_loss"]
    scores, factor = {"last value": 1e-6, "best constant": 90.0}, artifact.configuration.metrics[metrics[0]].factor
    about = {(run.model, run.seed): {"naive": {metrics[0]: scores}} for run in artifact.runs}
    before, runs = FigureRuns(tmp_path, name).draw(), FigureRuns(tmp_path, name, about=about)
    classical = {metrics[0]: {"ridge": 1e-7, "trees": 2e-7}}
    evidence = runs.evidence()
    figure = artifact.draw(replace(evidence, runs=[replace(run, classical=classical) for run in evidence.runs]))
    ax = panels_of(figure)[0]
    lines = [drawn for kind in ("naive", "classical") for drawn in with_gid(ax, kind)]
    seen = {f"naive: {each}": score for each, score in scores.items()} | {"classical: ridge": 1e-7}
    assert {drawn.get_gid(): drawn.get_ydata()[0] for drawn in lines} == {
        name: pytest.approx(factor * score) for name, score in seen.items()
    }
    assert len({str(drawn._unscaled_dash_pattern) for drawn in lines}) == 3
    assert seen.keys() <= set(legend(figure)) and seen.keys() <= set(figure.data["line"])
    assert ax.get_ylim()[1] == pytest.approx(panels_of(before)[0].get_ylim()[1], rel=0.1)
