"""Heat maps: the norms of Figure 2 and the grids of Figure 7 show what the runs left, and say what they are."""

import csv
import functools
import itertools
import json
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import LogNorm
from PIL import Image

from hidden_dynamics import configuration as configurations
from hidden_dynamics.errors import UserError
from hidden_dynamics.rendering import figures
from hidden_dynamics.artifacts.kinds.ablation.drawing import Cell, colours_of, font_size
from hidden_dynamics.artifacts.kinds.gradient_norms.drawing import colour_limits
from hidden_dynamics.configuration.runs import GRADIENTS, cells_of, resolve, seeds_of

sys.path.insert(0, str(configurations.ROOT / "scripts"))
import render_figure  # noqa: E402

NORMS, GRID = "momentumrnn_figure2", "momentumrnn_figure7"
PAPERS = (0.0, 0.05)


@functools.cache
def at(scale):
    settings = configurations.read_yaml(configurations.ROOT / "config.yaml")
    return configurations.load(settings | {"scale": scale, "seeds": [0, 1], "overrides": {}})


def summary_of(configuration, artifact):
    """The rows of a summary, as text, of runs that all finished."""
    rows = []
    for task, model, paper_size in cells_of(configuration, artifact):
        for seed in seeds_of(configuration, task):
            run = resolve(configuration, task, model, paper_size, seed)
            dataset = configuration.datasets[run.spec["dataset"]]
            report = run.spec["training"]["report"]
            row = {
                "task": task,
                "task_title": configuration.tasks[task]["title"],
                "model": model,
                "label": configuration.models[model]["label"],
                "size": run.spec["hyperparameters"]["hidden_size"],
                "paper_size": paper_size,
                "seed": seed,
                "dataset_title": dataset["title"],
                "stand_in_for": configuration.replaced(task) or "",
                "status": "finished",
                "diverged_at": "",
                "metric": report["metric"],
                "rule": report["rule"],
                "measured": json.dumps(measured(run.spec["hyperparameters"], seed)),
                "readings": json.dumps(run.spec["readings"]),
                "device": "cpu",
                "precision": "fp32",
                "directory": run.directory,
            }
            rows.append({key: str(value) for key, value in row.items()})
    return rows


def measured(hyperparameters, seed):
    mu, s = (hyperparameters.get(name, 0.0) for name in ("mu", "s"))
    loss = 10 + 100 * mu + s + seed
    return {"test_accuracy": (50 + 40 * mu + s + seed) / 100, "test_loss": loss, "test_perplexity": 60 * loss}


def with_gid(figure, gid):
    return [found for found in figure.findobj() if (found.get_gid() or "").startswith(gid)]


def words(figure):
    texts = figure.findobj(lambda artist: hasattr(artist, "get_text") and artist.get_visible())
    return " ".join(" ".join(text.get_text() for text in texts).split())


# -------------------------------------------------------------------------------------------------- norms of gradients


def record(root, rows, norms, every=2):
    for row, values in zip(rows, norms, strict=True):
        path = root / row["directory"] / GRADIENTS
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, iterations=np.arange(len(values)) * every, norms=np.asarray(values, np.float32))


def falling(k=30, length=16, high=0.05):
    """Norms (k, T) that fall towards the first step and along the training, never above `high`."""
    return high * np.exp(-np.arange(length)[::-1] / 8)[None] * np.exp(-np.arange(k) / k)[:, None]


def norms_figure(tmp_path, norms, rows=None, scale="demo", every=2):
    rows = summary_of(at(scale), NORMS) if rows is None else rows
    record(tmp_path, rows, norms, every)
    return figures.gradient_norms_figure(at(scale), NORMS, rows, tmp_path)


def test_a_map_shows_the_recorded_norms_with_the_first_step_on_top(tmp_path):
    norms = [falling(), falling() * 2]
    figure = norms_figure(tmp_path, norms)
    for model, values in zip(("dtriv", "momentum_dtriv"), norms, strict=True):
        (image,) = with_gid(figure, f"norms {model}")
        np.testing.assert_array_equal(image.get_array(), np.float32(values).T)
        assert image.get_extent() == [-1, 59, 15.5, -0.5] and image.origin == "upper"
        assert image.axes.get_ylim() == (15.5, -0.5) and image.axes.get_xlim() == (-1, 59)
        assert image.get_cmap().name == "viridis" and image.get_clim() == PAPERS
    assert "every 2 iterations" in words(figure)


def test_a_shorter_recording_leaves_the_rest_of_its_panel_empty(tmp_path):
    figure = norms_figure(tmp_path, [falling(10), falling(30)])
    images = [with_gid(figure, f"norms {model}")[0] for model in ("dtriv", "momentum_dtriv")]
    assert [image.get_extent()[1] for image in images] == [19, 59]
    assert {image.axes.get_xlim() for image in images} == {(-1, 59)}


def test_one_recorded_iteration_is_drawn(tmp_path):
    figure = norms_figure(tmp_path, [falling(1), falling(1)])
    figure.draw_without_rendering()
    assert with_gid(figure, "norms dtriv")[0].get_extent()[:2] == [-0.5, 0.5]


def test_the_face_of_the_norms(tmp_path):
    text = words(norms_figure(tmp_path / "demo", [falling(), falling()]))
    for said in (
        "scale: demo, stand-in data, other network sizes than the paper's",
        "MomentumDTRIV, N = 24 (paper: 170), seed 0",
        "PMNIST in the paper, gradients recorded stand-in for MNIST: Digits",
        "Frobenius norm, over the minibatch and the hidden units, of the gradient of the minibatch's mean loss",
        "0 to 0.05 as in the paper.",
        "published (gradient_momentum, permutation)",
        "cpu, fp32",
    ):
        assert said in text
    text = words(norms_figure(tmp_path / "paper", [falling(), falling()], scale="paper"))
    assert "DTRIV, N = 170, seed 0" in text and "stand-in" not in text and "in the paper, gradients" not in text


def test_other_limits_are_stated_with_what_is_clipped(tmp_path):
    spiked = falling(40, 25, high=4.0)
    spiked[0, 0] = 100.0
    figure = norms_figure(tmp_path, [spiked, spiked])
    low, high = with_gid(figure, "norms dtriv")[0].get_clim()
    assert low == 0 and 1 < high < 4.5
    assert f"0 to {high:g}, to fit these norms" in words(figure) and "the paper: 0 to 0.05" in words(figure)
    share = 100 * np.mean(np.float32(spiked) > high)
    assert f"{share:.2g} % of the norms are above and are clipped" in words(figure)


@given(st.floats(1e-12, 1e12), st.integers(0, 2**32 - 1))
def test_limits_show_almost_all_norms_and_do_not_hide_them(scale, seed):
    norms = scale * np.random.default_rng(seed).uniform(0.5, 1.0, 1000)
    low, high = colour_limits(norms, PAPERS)
    if (low, high) == PAPERS:
        assert high / 5.1 < norms.max() and np.quantile(norms, 0.99) < high * 5.1
    else:
        assert low == 0 and np.mean(norms <= high) >= 0.99 and high <= 1.11 * norms.max()


def test_limits_without_norms_are_the_papers():
    assert colour_limits(np.zeros(0), PAPERS) == colour_limits(np.zeros(9), PAPERS) == PAPERS


def test_norms_that_are_no_numbers_are_marked_and_do_not_count(tmp_path):
    broken = falling()
    broken[-1] = [np.inf, *[np.nan] * 15]
    figure = norms_figure(tmp_path, [falling(), broken])
    (image,) = with_gid(figure, "norms momentum_dtriv")
    assert image.get_array().mask.sum() == 16 and image.get_clim() == PAPERS
    assert "Red: not a finite number" in words(figure)
    figure.draw_without_rendering()


@pytest.mark.parametrize("empty", [np.zeros((0, 16)), np.zeros((0, 0))])
def test_a_run_that_recorded_nothing_says_why(tmp_path, empty):
    rows = summary_of(at("demo"), NORMS)
    rows[1] |= {"status": "diverged", "diverged_at": "1"}
    figure = norms_figure(tmp_path, [falling(), empty], rows)
    assert "diverged at iteration 1, before a gradient was recorded" in words(figure)
    assert "seed 0, diverged at iteration 1" in words(figure)
    assert not with_gid(figure, "norms momentum") and with_gid(figure, "norms dtriv")[0].axes.get_ylim() == (15.5, -0.5)
    nothing = norms_figure(tmp_path, [empty, empty])
    assert words(nothing).count("no gradient was recorded") == 2
    nothing.draw_without_rendering()


def damage_truncated(path):
    path.write_bytes(path.read_bytes()[:-30])


def damage_text(path):
    path.write_text("not an archive")


def damage_empty(path):
    path.write_bytes(b"")


def damage_missing(path):
    path.unlink()


def damage_key(path):
    np.savez(path, iterations=np.arange(3))


def damage_shape(path):
    np.savez(path, iterations=np.arange(3), norms=np.zeros(3, np.float32))


def damage_count(path):
    np.savez(path, iterations=np.arange(3), norms=np.zeros((4, 2), np.float32))


def damage_order(path):
    np.savez(path, iterations=np.array([0, 4, 2]), norms=np.zeros((3, 2), np.float32))


def damage_spacing(path):
    np.savez(path, iterations=np.array([0, 1, 5]), norms=np.zeros((3, 2), np.float32))


def damage_pickle(path):
    np.savez(path, iterations=np.array([{}], object), norms=np.zeros((1, 2), np.float32))


DAMAGES = [value for name, value in list(globals().items()) if name.startswith("damage_")]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_recording_is_named(tmp_path, damage):
    rows = summary_of(at("demo"), NORMS)
    record(tmp_path, rows, [falling(), falling()])
    path = tmp_path / rows[1]["directory"] / GRADIENTS
    damage(path)
    with pytest.raises(UserError, match=f"{path}.*remove .*{path.name} and run snakemake again"):
        figures.gradient_norms_figure(at("demo"), NORMS, rows, tmp_path)


def test_a_model_without_a_run_is_named(tmp_path):
    with pytest.raises(UserError, match="no run of momentum_dtriv"):
        norms_figure(tmp_path, [falling()], summary_of(at("demo"), NORMS)[:1])


# ---------------------------------------------------------------------------------------------------------------- grids


def grid_figure(scale="demo", change=lambda row: None):
    rows = summary_of(at(scale), GRID)
    for row in rows:
        change(row)
    return figures.ablation_figure(at(scale), GRID, rows)


def grids(figure, gid):
    """The grids' images, from left to right."""
    return [found for found in with_gid(figure, gid) if hasattr(found, "get_clim")]


def text_at(image, name):
    return [text.get_text() for text in image.axes.texts if text.get_gid() == name]


@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_our_grids_are_means_over_seeds_of_what_was_measured(scale):
    figure = grid_figure(scale)
    for image, task, value in zip(
        grids(figure, "ours"),
        ("mnist_ablation", "timit_ablation", "ptb_ablation"),
        (
            lambda mu, s: 50.5 + 40 * mu + s,
            lambda mu, s: 10.5 + 100 * mu + s,
            lambda mu, s: 630 + 6000 * mu + 60 * s,
        ),
        strict=True,
    ):
        grid = at(scale).tasks[task]["models"]["momentum_lstm"]["grid"]
        rows, columns = sorted(grid["mu"], reverse=True), sorted(grid["s"])
        expected = [[value(mu, s) for s in columns] for mu in rows]
        np.testing.assert_allclose(image.get_array(), expected, rtol=1e-12)
        assert [label.get_text() for label in image.axes.get_yticklabels()] == [f"{mu:g}" for mu in rows]
        assert [label.get_text() for label in image.axes.get_xticklabels()] == [f"{s:g}" for s in columns]
        assert text_at(image, f"ours {rows[0]:g} {columns[0]:g}") == [f"{expected[0][0]:.2f}"]
        assert (image.axes.get_ylabel(), image.axes.get_xlabel()) == ("momentum μ", "step size s")


def test_the_published_grids_are_the_papers():
    accuracy, mse, perplexity = grids(grid_figure(), "published")
    assert accuracy.get_array().shape == mse.get_array().shape == perplexity.get_array().shape == (5, 5)
    assert text_at(perplexity, "published 0.9 1") == ["642.07"] and text_at(perplexity, "published 0 0.6") == ["58.62"]
    assert "Published: Test perplexity, N = 1150, Penn Treebank" in perplexity.axes.get_title()
    assert text_at(accuracy, "published 0.9 0.1") == ["99.08"] and text_at(accuracy, "published 0 1") == ["98.90"]
    assert text_at(mse, "published 0.9 0.1") == ["121.07"] and text_at(mse, "published 0.3 0.1") == ["5.87"]
    assert "Published: Test accuracy (%), N = 256, MNIST" in accuracy.axes.get_title()
    assert "Published: Test MSE, N = 158, TIMIT" in mse.axes.get_title()


def test_green_is_the_better_end_and_each_grid_has_its_own_colours():
    figure = grid_figure()
    images = grids(figure, "ours") + grids(figure, "published")
    assert [image.get_cmap().name for image in images] == ["YlGn", "YlGn_r", "YlGn_r"] * 2
    assert [isinstance(image.norm, LogNorm) for image in images] == [False, True, True] * 2  # as configured
    assert len({image.get_clim() for image in images}) == 6
    assert "by the logarithm for Test MSE and Test perplexity." in words(figure)
    for image in images:
        best = max if image.get_cmap().name == "YlGn" else min
        red, green, blue, _ = image.get_cmap()(image.norm(best(image.get_array().ravel())))
        assert green > red and green > blue and green < 0.5  # dark green


def diverge(places):
    """Let runs diverge: `places` are (task, paper_size, seed)."""

    def change(row):
        if (row["task"], row["paper_size"], row["seed"]) in places:
            row |= {"status": "diverged", "diverged_at": "7", "measured": "", "metric": "", "rule": ""}

    return change


def test_a_cell_whose_seeds_all_diverged_is_hatched_and_one_with_some_has_the_others_mean():
    places = [("mnist_ablation", "mu0.9-s0.1", "0"), *(("timit_ablation", "mu0.0-s1.0", seed) for seed in "01")]
    figure = grid_figure(change=diverge(places))
    accuracy, mse, _ = grids(figure, "ours")
    assert text_at(accuracy, "ours 0.9 0.1") == ["87.10\n1/2 div."]  # seed 1: 50 + 36 + 0.1 + 1
    assert text_at(mse, "ours 0 1") == ["diverged\n2/2"]
    assert mse.get_array().mask.sum() == 1 and mse.get_array().mask[-1, -1] and not np.any(accuracy.get_array().mask)
    (hatch,) = with_gid(figure, "hatch")
    assert hatch.axes is mse.axes and hatch.get_hatch() and hatch.get_xy() == (1.5, 1.5)
    assert "n of m seeds diverged" in words(figure) and "n of m" not in words(grid_figure())


def test_a_grid_that_diverged_everywhere_is_drawn():
    figure = grid_figure(change=lambda row: row.update(status="diverged", measured="", metric="", rule=""))
    figure.draw_without_rendering()
    assert words(figure).count("diverged 2/2") == 27 and len(with_gid(figure, "hatch")) == 27


def test_a_mean_that_is_not_finite_is_no_colour():
    def overflow(row):
        if row["paper_size"] == "mu0.9-s1.0":
            row["measured"] = '{"test_accuracy": 0.5, "test_loss": 2e9, "test_perplexity": Infinity}'

    figure = grid_figure(change=overflow)
    accuracy, mse, perplexity = grids(figure, "ours")
    assert text_at(perplexity, "ours 0.9 1") == ["not finite"] and perplexity.get_array().mask.sum() == 1
    assert text_at(accuracy, "ours 0.9 1") == ["50.00"] and text_at(mse, "ours 0.9 1") == ["2.00e+09"]
    assert "Hatched: no number" in words(figure) and "Hatched" not in words(grid_figure())


def test_a_run_that_finished_without_anything_to_report_is_no_number():
    """Its train loss stayed finite and no validation loss was, so nothing was chosen and nothing tested."""

    def nothing(row):
        if (row["task"], row["paper_size"], row["seed"]) == ("ptb_ablation", "mu0.9-s0.1", "0"):
            row |= {"measured": "", "metric": "", "rule": ""}

    figure = grid_figure(change=nothing)
    perplexity = grids(figure, "ours")[2]
    assert text_at(perplexity, "ours 0.9 0.1") == ["not finite"] and perplexity.get_array().mask.sum() == 1


def test_the_face_of_the_grids():
    text = words(grid_figure())
    for said in (
        "scale: demo, stand-in data, other network sizes than the paper's",
        "Ours: Test accuracy (%), N = 32 (paper: 256), mean of 2 seeds MNIST in the paper stand-in for MNIST: Digits",
        "TIMIT in the paper, previous frame stand-in for TIMIT: Synthetic speech",
        "(paper: 1150), mean of 2 seeds PTB in the paper stand-in for Penn Treebank:",
        "has no momentum",
        "what word frequencies alone give",
        "each run at its evaluation with the highest test accuracy or lowest validation loss",
        "98.90 is the LSTM's accuracy",
        "each is a mean over 5 runs",
        "released (speech_target)",
        "cpu, fp32",
    ):
        assert said in text
    text = words(grid_figure("paper"))
    assert "Ours: Test MSE, N = 158, mean of 2 seeds TIMIT, previous frame data: TIMIT" in text
    assert "Ours: Test perplexity, N = 1150, mean of 2 seeds PTB data: Penn Treebank" in text
    assert "stand-in" not in text and "(paper:" not in text


@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_every_text_fits_its_cell(scale):
    places = [("timit_ablation", f"mu{mu}-s{s}", seed) for mu in (0.9, 0.3) for s in (0.1, 1.0) for seed in "01"]
    figure = grid_figure(scale, diverge([*places, ("mnist_ablation", "mu0.9-s0.1", "0")]))
    figure.draw_without_rendering()
    for image in grids(figure, "ours") + grids(figure, "published"):
        rows, columns = image.get_array().shape
        width, height = image.axes.bbox.width / columns, image.axes.bbox.height / rows
        for text in image.axes.texts:
            box = text.get_window_extent()
            assert box.width < width and box.height < height, text.get_text()


@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_no_title_overlaps_another_or_leaves_the_page(scale):
    figure = grid_figure(scale)
    figure.draw_without_rendering()
    boxes = [image.axes.title.get_window_extent() for image in grids(figure, "ours") + grids(figure, "published")]
    for one, other in itertools.combinations(boxes, 2):
        assert one.x1 < other.x0 or other.x1 < one.x0 or one.y1 < other.y0 or other.y1 < one.y0
    assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes)


def test_the_papers_numbers_are_large_enough_to_read():
    """Three panels wide, a page at the width of a text still has letters of 4 points."""
    figure = grid_figure("paper")
    for image in grids(figure, "published"):
        assert {text.get_fontsize() * 6.5 / figure.get_figwidth() >= 4 for text in image.axes.texts} == {True}


@given(st.lists(st.text("0123456789.", min_size=1, max_size=9), min_size=1), st.integers(1, 30), st.integers(1, 30))
def test_letters_are_never_too_small_to_read_or_larger_than_the_page_text(texts, rows, columns):
    assert 4 <= font_size(texts, (rows, columns)) <= 9
    assert font_size(texts, (rows + 1, columns + 1)) <= font_size(texts, (rows, columns))


@given(
    st.lists(st.floats(-1e6, 1e6), max_size=9), st.sampled_from(["higher", "lower"]), st.sampled_from(["linear", "log"])
)
def test_colours_of_any_values_are_a_scale(values, better, scale):
    _, norm = colours_of(np.array(values), better, scale)
    assert norm.vmin < norm.vmax
    if values:
        assert norm.vmin <= min(values) and max(values) <= norm.vmax
        assert isinstance(norm, LogNorm) == (scale == "log" and min(values) > 0)


def test_texts_of_cells():
    assert Cell(1.234).text(2) == "1.23" and Cell().text(2) == ""
    assert Cell(642.066, runs=5).text(2) == "642.07" and Cell(3.1e21).text(2) == "3.10e+21"
    assert Cell(1.0, runs=5, diverged=2).text(1) == "1.0\n2/5 div."
    assert Cell(runs=5, diverged=5).text(1) == "diverged\n5/5"
    assert Cell(np.nan, runs=2, diverged=1).text(1) == "not finite\n1/2 div."


@pytest.mark.parametrize("measured", ["", "{}", '{"test_accuracy": null}', "not JSON", "[1]"])
def test_a_finished_run_that_did_not_measure_the_metric_is_named(measured):
    def change(row):
        if row["paper_size"] == "mu0.9-s0.1":
            row["measured"] = measured

    with pytest.raises(UserError, match="mnist_ablation/momentum_lstm-mu0.9-s0.1/seed0.*no test_accuracy"):
        grid_figure(change=change)


@pytest.mark.parametrize("paper_size", ["", "256", "mu0.9", "mu0.9-s7"])
def test_a_run_outside_of_the_configured_grid_is_named(paper_size):
    with pytest.raises(UserError, match=f"mnist_ablation, momentum_lstm: '{paper_size}' is no place in a grid"):
        grid_figure(change=lambda row: row.update(paper_size=paper_size))


def test_a_panel_without_runs_or_without_published_numbers_is_named(monkeypatch):
    with pytest.raises(UserError, match="no run of momentum_lstm on mnist_ablation"):
        figures.ablation_figure(at("demo"), GRID, [])
    entry = at("demo").artifacts[GRID]
    panels = [panel | {"metric": "validation_loss"} for panel in entry["panels"]]
    monkeypatch.setitem(at("demo").artifacts, GRID, entry | {"panels": panels})
    with pytest.raises(UserError, match=r"published/momentumrnn/figure7.yaml has no grid of validation_loss"):
        grid_figure()


# ---------------------------------------------------------------------------------------------------------------- files


def write_summary(path, rows):
    with path.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def render(monkeypatch, *options):
    command = ["render_figure.py", "--config", json.dumps(at("demo").settings), *options]
    monkeypatch.setattr(sys, "argv", command)
    render_figure.main()


def test_the_program_draws_the_norms_of_the_working_directory(tmp_path, monkeypatch):
    rows = summary_of(at("demo"), NORMS)
    record(tmp_path, rows, [falling(), falling()])
    write_summary(tmp_path / "norms.csv", rows)
    monkeypatch.chdir(tmp_path)
    render(monkeypatch, "--artifact", NORMS, "--summary", "norms.csv", "--output", "there/norms")
    assert sorted(path.name for path in (tmp_path / "there").iterdir()) == ["norms.pdf", "norms.png"]
    with Image.open(tmp_path / "there/norms.png") as image:
        image.load()
        assert np.asarray(image.convert("L")).std() > 5  # something is drawn


def test_the_program_draws_the_same_bytes_again(tmp_path, monkeypatch):
    write_summary(tmp_path / "grid.csv", summary_of(at("demo"), GRID))
    summary, output = str(tmp_path / "grid.csv"), str(tmp_path / "there/grid")
    render(monkeypatch, "--artifact", GRID, "--summary", summary, "--output", output)
    figures.save(grid_figure(), tmp_path / "here/grid")
    for name in ("grid.pdf", "grid.png"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()


@pytest.mark.parametrize("artifact", [NORMS, GRID])
def test_the_program_asks_for_the_summary(tmp_path, monkeypatch, artifact):
    with pytest.raises(UserError, match=f"{artifact} is drawn from runs: give --summary, which"):
        render(monkeypatch, "--artifact", artifact, "--output", str(tmp_path / "x"))
    assert not list(tmp_path.iterdir())
