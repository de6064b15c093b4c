"""What every figure is asked: what it says, whether it can be read, what it makes of lost runs and broken files."""

import json

import numpy as np
import pytest
from approved import approved
from conftest import refused
from drawn import FigureRuns, artifact_at, assert_nothing_overlaps, face, legend, line, panels_of, with_gid, words
from made import FAILED, curves_of

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.configuration.runs import GRADIENTS, PREDICTIONS

LINES = ("acenode_figure5", "acenode_figure6", "momentumrnn_figure3")  # with bands, or the lines of two seeds
MAPS = "acenode_figure4"
RUNLESS = ("momentumrnn_figure8", "momentumrnn_jacobian")
FIGURES = (*LINES, MAPS, *(f"momentumrnn_figure{number}" for number in (2, 4, 5, 7, 10, 11)), *RUNLESS)
OWN_TESTS = {"forest"}
OF_MODELS = tuple(name for name in FIGURES if name not in (MAPS, "momentumrnn_figure7", *RUNLESS))


@pytest.fixture
def made(tmp_path):
    return lambda name, *scale, **changes: FigureRuns(tmp_path, name, *scale, **changes)


def first_model(name):
    return artifact_at("demo", name).runs[0].model


def test_every_kind_of_figure_is_asked(configured):
    artifacts = load_artifacts(configured()).values()
    kinds = {one.settings.kind for one in artifacts if one.form == "figure"} - OWN_TESTS
    assert kinds == {artifact_at("demo", name).settings.kind for name in FIGURES}


@pytest.mark.parametrize("scale", ["demo", "paper"])
@pytest.mark.parametrize("name", FIGURES)
def test_what_a_figure_says_is_as_approved_and_no_text_overlaps(made, name, scale):
    figure = made(name, scale).draw()
    approved(f"{name}_{scale}.txt", face(figure))
    if name != "momentumrnn_figure7":  # its own test knows that grids have colour bars
        assert_nothing_overlaps(figure)


@pytest.mark.parametrize("scale", ["demo", "paper"])
@pytest.mark.parametrize("name", OF_MODELS)
@pytest.mark.parametrize(
    ("end", "how", "why"),
    [({"diverged_at": 7}, "diverged", "the loss was not finite at iteration 7"), (FAILED, "failed", "ValueError: no")],
)
def test_a_run_that_diverged_or_failed_is_named_and_its_name_fits(made, name, scale, end, how, why):
    figure = made(name, scale, about={(first_model(name), 0): end}).draw()
    assert why in words(figure)
    if name != "momentumrnn_figure2":
        assert sum(how in entry for entry in legend(figure)) == 1
    assert_nothing_overlaps(figure)


@pytest.mark.parametrize("name", OF_MODELS)
def test_a_figure_without_anything_to_draw_says_so_in_every_panel(made, name):
    keys = [(run.model, run.seed) for run in artifact_at("demo", name).runs]
    runs = made(name, answers=dict.fromkeys(keys, [] if name == "momentumrnn_figure2" else {}))
    runs.rows |= {"curves": [[] for _ in getattr(runs.artifact, "panels", ())]}
    figure = runs.draw()
    assert len(with_gid(figure, "nothing")) == len([ax for ax in panels_of(figure) if ax.get_label() != "<colorbar>"])
    assert_nothing_overlaps(figure)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("acenode_figure5", PREDICTIONS),
        ("acenode_figure6", PREDICTIONS),
        ("momentumrnn_figure2", GRADIENTS),
        (MAPS, "maps"),
    ],
)
def test_a_file_that_is_missing_is_named(made, name, file):
    runs = made(name)
    if file == "maps":
        path = runs.root / runs.artifact.inputs()["maps"]
    else:
        path = runs.files[runs.artifact.settings.models[-1], 0].directory / file
    path.unlink()
    with refused("snakemake", file=path):
        runs.draw()


@pytest.mark.parametrize("name", ["momentumrnn_figure2", "momentumrnn_figure7"])
def test_a_model_without_a_run_is_named(made, name):
    runs = made(name)
    model = runs.rows["summary"][-1]["model"]
    runs.rows["summary"] = [row for row in runs.rows["summary"] if row["model"] != model]
    with refused(model, file=runs.root / runs.artifact.configuration.paths.runs):
        runs.draw()


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize(("seeds", "bands", "own"), [(1, 0, 0), (2, 0, 2), (3, 1, 0)])
def test_a_model_has_a_mean_with_a_band_of_three_seeds_or_the_lines_of_two(made, name, seeds, bands, own):
    runs = made(name, seeds=list(range(seeds)))
    figure, model = runs.draw(), first_model(name)
    ax = panels_of(figure)[0]
    (mean,) = with_gid(ax, f"curve {model}")
    assert mean.get_color() == runs.artifact.configuration.models[model].colour
    assert (len(with_gid(ax, f"band {model}")), len(with_gid(ax, f"seed {model}"))) == (bands, own)
    for thin in with_gid(ax, f"seed {model}"):
        assert name.startswith("momentum") or 0 < max(thin.get_ydata()) < ax.get_ylim()[1]  # those of losses spike
    if own:
        values = [thin.get_ydata() for thin in with_gid(ax, f"seed {model}")]
        np.testing.assert_allclose(np.mean(values, axis=0), line(ax, f"curve {model}")[1])
    assert f"Seeds: {', '.join(map(str, range(seeds)))}. Trained" in words(figure)


@pytest.mark.parametrize("name", LINES)
def test_baselines_are_dashed_lines_that_stretch_no_axis(made, name):
    """Of classical ones the best is drawn."""
    artifact = artifact_at("demo", name)
    metric = artifact.chosen_metrics() or ["test_loss"]
    scores = {"last value": 1e-6, "best constant": 90.0}
    about = {(run.model, run.seed): {"naive": {metric[0]: scores}} for run in artifact.runs}
    before, runs = made(name).draw(), made(name, about=about)
    classical = json.dumps(dict.fromkeys((*metric, "train_loss"), {"ridge": 1e-7, "trees": 2e-7}))
    runs.rows["summary"] = [row | {"classical": classical} for row in runs.rows["summary"]]
    if "curves" in runs.rows:
        runs.rows["curves"] = curves_of(artifact, naive=scores)
    figure = runs.draw()
    factor = artifact.configuration.metrics[metric[0]].factor
    lines = [drawn for kind in ("naive", "classical") for drawn in with_gid(panels_of(figure)[0], kind)]
    seen = {f"naive: {each}": score for each, score in scores.items()} | {"classical: ridge": 1e-7}
    assert {drawn.get_gid(): drawn.get_ydata()[0] for drawn in lines} == {
        name: pytest.approx(factor * score) for name, score in seen.items()
    }
    assert len({str(drawn._unscaled_dash_pattern) for drawn in lines}) == 3
    assert seen.keys() <= set(legend(figure))
    assert panels_of(figure)[0].get_ylim()[1] == pytest.approx(panels_of(before)[0].get_ylim()[1], rel=1e-3)
