"""Figures: what is drawn is what the curves say, what is written is whole and says what made it, no text overlaps."""

import csv
import functools
import itertools
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

from hidden_dynamics import configuration as configurations
from hidden_dynamics.data import copying
from hidden_dynamics.errors import UserError
from hidden_dynamics.rendering import figures
from hidden_dynamics.artifacts.figures import copying_example
from hidden_dynamics.artifacts.kinds.curves.drawing import Curve, robust_limits
from hidden_dynamics.artifacts.sheet import plain_numbers
from hidden_dynamics.configuration.runs import cells_of, resolve

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
import render_figure  # noqa: E402


def configuration_at(scale, **changes):
    settings = configurations.read_yaml(ROOT / "config.yaml")
    return configurations.load(settings | {"scale": scale, "seeds": [0, 1], "overrides": {}} | changes)


@pytest.fixture(scope="module")
def demo():
    return configuration_at("demo")


@pytest.fixture(scope="module")
def paper():
    return configuration_at("paper")


def summary_of(configuration, artifact, diverged=()):
    """The rows of a summary, as text; `diverged` are (task, model, seed)."""
    rows = []
    for task, model, paper_size in cells_of(configuration, artifact):
        for seed in configuration.seeds:
            run = resolve(configuration, task, model, paper_size, seed)
            dataset = configuration.datasets[run.spec["dataset"]]
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
                "status": "diverged" if (task, model, seed) in diverged else "finished",
                "diverged_at": 91 if (task, model, seed) in diverged else "",
                "failure": "",
                "readings": json.dumps(run.spec["readings"]),
                "device": "cpu",
                "precision": "fp32",
                "directory": run.directory,
            }
            rows.append({key: str(value) for key, value in row.items()})
    return rows


def curves_of(configuration, artifact, points=200, seeds=2):
    """The rows of a curves file, as text: a start far above the rest, then a slow fall, different for each model."""
    rows = []
    for index, panel in enumerate(configuration.artifacts[artifact]["panels"]):
        cells = [c for c in cells_of(configuration, artifact) if (c[0], c[2]) == (panel["task"], panel["size"])]
        for number, (task, model, _) in enumerate(cells):
            x = np.arange(1, points + 1)
            mean = 0.2 / (1 + (number + 1) * x / points) + 30 * np.exp(-x / 3)
            for i in range(points):
                low, high = (mean[i] * 0.9, mean[i] * 1.1) if seeds > 1 else ("", "")
                point = {
                    "panel": index,
                    "task": task,
                    "model": model,
                    "x": x[i],
                    "mean": mean[i],
                    "low": low,
                    "high": high,
                }
                point |= {"n": seeds, "baseline": 0.17 if panel.get("baseline") else ""}
                rows.append({key: str(value) for key, value in point.items()})
    return rows


def draw(configuration, artifact, curves=None, **options):
    curves = curves_of(configuration, artifact) if curves is None else curves
    return figures.curves_figure(configuration, artifact, summary_of(configuration, artifact, **options), curves)


@functools.cache
def drawn(scale, artifact):
    """A figure to look at, not to change, laid out."""
    figure = draw(configuration_at(scale), artifact)
    figure.draw_without_rendering()
    return figure


def panels_of(figure):
    return [ax for ax in figure.axes if ax.axison]


def with_gid(artist, gid):
    return [found for found in artist.findobj() if (found.get_gid() or "").startswith(gid)]


def words(figure):
    """Everything the figure says, in one line."""
    texts = figure.findobj(lambda artist: hasattr(artist, "get_text") and artist.get_visible())
    return " ".join(" ".join(text.get_text() for text in texts).split())


FIGURES = [f"momentumrnn_figure{number}" for number in (3, 4, 5, 6, 10)]
LANGUAGE = "momentumrnn_figure5"

# -------------------------------------------------------------------------------------------------------------- content


@pytest.mark.parametrize("artifact", FIGURES)
def test_what_is_drawn_is_what_the_curves_say(demo, artifact):
    curves = curves_of(demo, artifact)
    figure = drawn("demo", artifact)
    entries = demo.artifacts[artifact]["panels"]
    assert len(panels_of(figure)) == len(entries)
    for index, (ax, entry) in enumerate(zip(panels_of(figure), entries, strict=True)):
        assert (ax.get_xscale(), ax.get_yscale()) == (entry["x_scale"], entry["y_scale"])
        for model in demo.artifacts[artifact]["models"]:
            rows = [row for row in curves if (row["panel"], row["model"]) == (str(index), model)]
            (line,) = with_gid(ax, f"curve {model}")
            np.testing.assert_array_equal(line.get_xydata(), [[float(row["x"]), float(row["mean"])] for row in rows])
            assert line.get_color() == demo.models[model]["colour"]
        bands = [collection.get_paths()[0].vertices for collection in ax.collections]
        assert len(bands) == len(demo.artifacts[artifact]["models"])
        baselines = with_gid(ax, "baseline")
        assert [line.get_ydata()[0] for line in baselines] == ([0.17] if entry.get("baseline") else [])


def test_bands_are_low_to_high(demo):
    curves = curves_of(demo, FIGURES[0])
    ax = panels_of(drawn("demo", FIGURES[0]))[0]
    rows = [row for row in curves if (row["panel"], row["model"]) == ("0", "lstm")]
    vertices = {tuple(vertex) for vertex in ax.collections[0].get_paths()[0].vertices}
    assert {(float(row["x"]), float(row[side])) for row in rows for side in ("low", "high")} <= vertices


def test_one_seed_has_lines_and_no_band():
    configuration = configuration_at("demo", seeds=[0])
    figure = draw(configuration, FIGURES[0], curves_of(configuration, FIGURES[0], seeds=1))
    assert "1 seed, so no band" in words(figure)
    for ax in panels_of(figure):
        assert not any(len(path.vertices) for band in ax.collections for path in band.get_paths())


def test_a_spike_at_the_start_does_not_flatten_the_rest(demo):
    ax = panels_of(drawn("demo", "momentumrnn_figure4"))[0]
    low, high = ax.get_ylim()
    assert 0 <= low < 0.05 and 0.2 < high < 0.5
    assert "cut where they leave an axis" in words(ax.figure.figure)


@pytest.mark.parametrize(("x_scale", "y_scale"), list(itertools.product(["linear", "log"], repeat=2)))
def test_limits_show_the_middle_of_every_curve_and_every_mark(x_scale, y_scale):
    x = np.arange(1.0, 101.0)
    means = [np.full(100, 0.1), np.full(100, 0.1) + 1e-3 * x, np.full(100, 50.0), np.where(x < 4, 1e4, 0.2)]
    curves = [Curve(0, "m", x, y, y, y, np.ones(100), 0.0) for y in means]
    low, high = robust_limits(curves, [60.0], x_scale, y_scale)
    assert low < 0.1 and 60 < high < 100


def test_limits_of_degenerate_curves():
    def limits(*y, scale="linear"):
        y = np.array(y)
        curves = [Curve(0, "m", np.arange(y.size) + 1.0, y, y, y, y, 0.0)]
        return robust_limits(curves, [], "linear", scale)

    assert limits() is None
    for low, high in (
        limits(1.0),
        limits(0.0),
        limits(2.0, 2.0, 2.0),
        limits(0.0, 0.0, scale="log"),
        limits(1.0, scale="log"),
    ):
        assert low < high
    assert limits(-1.0, 1.0)[0] < -1


def test_configured_limits_hold_for_the_papers_data_only(demo, paper):
    configured = tuple(paper.artifacts[FIGURES[0]]["panels"][0]["y_limits"])
    assert panels_of(drawn("paper", FIGURES[0]))[0].get_ylim() == configured
    assert panels_of(drawn("demo", FIGURES[0]))[0].get_ylim() != configured


def test_a_logarithmic_axis_has_plain_numbers():
    ax = Figure().subplots()
    ax.set_yscale("log")
    ax.set_ylim(4, 150)
    plain_numbers(ax.yaxis)
    labels = [label.get_text() for kind in (False, True) for label in ax.get_yticklabels(minor=kind)]
    assert {"6", "10", "20", "60", "100"} <= set(labels) and "".join(labels).isdecimal()


def test_both_readings_of_speech_have_panels_of_their_own(demo):
    figure = drawn("demo", FIGURES[0])
    titles = [ax.get_title().splitlines()[0] for ax in panels_of(figure)]
    assert titles[2:] == [
        f"TIMIT in the paper, {which} frame: {split} loss, N = 40 (paper: 158)"
        for which in ("next", "previous")
        for split in ("train", "test")
    ]
    assert [ax.get_yscale() for ax in panels_of(figure)[2:]] == ["log"] * 4
    assert "speech_target: published in “TIMIT, next frame”, released in “TIMIT, previous frame”" in words(figure)


def test_a_part_of_the_data_may_stand_in():
    configuration = configuration_at("paper", overrides={"tasks": {"timit": {"dataset": "fsdd"}}})
    text = words(draw(configuration, FIGURES[0]))
    assert "scale: paper, stand-in data in some panels" in text and "MNIST in the paper" not in text
    assert text.count("TIMIT in the paper, next frame") == 2 and "TIMIT in the paper, previous frame" not in text


def test_an_empty_panel_says_so(demo):
    curves = [row for row in curves_of(demo, FIGURES[0]) if row["panel"] == "0"]
    assert "no run got as far" in words(draw(demo, FIGURES[0], curves))
    assert words(draw(demo, FIGURES[0], [])).count("no run got as far") == 6


def test_a_light_colour_has_an_outline(demo):
    ax = panels_of(drawn("demo", FIGURES[0]))[0]
    outlined = {line.get_gid().split()[1] for line in with_gid(ax, "curve") if line.get_path_effects()}
    assert "sr_lstm" in outlined and "lstm" not in outlined
    assert to_rgb(demo.models["sr_lstm"]["colour"]) == to_rgb("cyan")


def test_lines_differ_without_their_colours(demo):
    lines = with_gid(panels_of(drawn("demo", FIGURES[0]))[0], "curve")
    assert len({str(line._unscaled_dash_pattern) for line in lines}) == len(lines)


def test_a_model_of_the_users_own_is_drawn(monkeypatch):
    configuration = configuration_at("demo")
    monkeypatch.setitem(
        configuration.models, "mine", configuration.models["lstm"] | {"label": "Mine", "colour": "magenta"}
    )
    monkeypatch.setitem(configuration.tasks["mnist"]["models"], "mine", {"sizes": [256], "extra": True})
    figure = draw(configuration, FIGURES[0])
    (line,) = with_gid(panels_of(figure)[0], "curve mine")
    assert line.get_color() == "magenta" and "Mine" in words(figure)


def test_diverged_runs_are_marked(demo):
    curves = curves_of(demo, "momentumrnn_figure4")
    for row in curves:
        if row["model"] == "lstm" and row["panel"] == "1" and int(row["x"]) > 90:
            row["n"] = "1"
    figure = draw(demo, "momentumrnn_figure4", curves, diverged=[("adding", "lstm", 1)])
    labels = [
        text.get_text() for legend in figure.findobj(lambda a: hasattr(a, "legend_handles")) for text in legend.texts
    ]
    assert "LSTM (1 of 2 seeds diverged on adding)" in labels
    assert "Diverged: Adding, LSTM, seed 1: the loss was not finite at iteration 91." in words(figure)
    assert [mark.get_xdata().tolist() for mark in with_gid(figure, "diverged")] == [[90.0]]


def with_n(curves, counts):
    """Curve rows where, by (panel, model), ever fewer seeds go on after given x: {("0", "lstm"): {60: 1}}."""
    for row in curves:
        for after, n in counts.get((row["panel"], row["model"]), {}).items():
            row["n"] = str(n) if int(row["x"]) > after else row["n"]
    return curves


def marks_of(figure):
    return [(mark.get_xdata().tolist(), mark.axes.get_xlabel()) for mark in with_gid(figure, "diverged")]


def test_a_seed_that_finishes_before_the_others_did_not_diverge(demo):
    """Epochs of text have different numbers of iterations, so the seeds' train curves end apart."""
    said = "a seed with fewer iterations than the others ends before them"
    figure = draw(demo, LANGUAGE, with_n(curves_of(demo, LANGUAGE), {("0", "lstm"): {190: 1}}))
    assert marks_of(figure) == [] and said in words(figure)
    one_of_two = [("ptb", "lstm", 1)]  # it diverged at iteration 91, in epoch 40; another model's seeds end apart
    counts = {("0", "lstm"): {90: 1}, ("1", "lstm"): {39: 1}, ("0", "sr_lstm"): {190: 1}}
    figure = draw(demo, LANGUAGE, with_n(curves_of(demo, LANGUAGE), counts), diverged=one_of_two)
    assert marks_of(figure) == [([90.0], "Iteration"), ([39.0], "Epoch")]
    assert said in words(figure) and "LSTM (1 of 2 seeds diverged)" in words(figure)
    counts = {("0", "lstm"): {90: 1, 190: 0}}
    figure = draw(demo, LANGUAGE, with_n(curves_of(demo, LANGUAGE), counts), diverged=one_of_two)
    assert marks_of(figure)[0] == ([90.0], "Iteration")
    assert said not in words(draw(demo, LANGUAGE))


def test_one_tasks_diverged_runs_need_no_name(demo):
    figure = draw(demo, "momentumrnn_figure11", diverged=[("pmnist_dtriv", "dtriv", seed) for seed in (0, 1)])
    assert "DTRIV (2 of 2 seeds diverged)" in words(figure)


# ----------------------------------------------------------------------------------------------- what it says of itself


def test_stand_ins_are_named(demo):
    text = words(drawn("demo", FIGURES[0]))
    assert f"stand-in for MNIST: {demo.datasets['digits']['title']}" in text
    assert "scale: demo, stand-in data, other network sizes than the paper's" in text
    assert "N = 48 (paper: 256)" in text


def test_other_settings_of_generated_data_are_named(demo):
    text = words(drawn("demo", "momentumrnn_figure4"))
    blanks = demo.tasks["copying_2k"]["data"]["blanks"]
    assert f"blanks {blanks} instead of 2000" in text
    assert "other data settings than the paper's" in text


def test_the_face_of_a_figure(paper):
    text = words(drawn("paper", FIGURES[0]))
    for said in (
        "MomentumRNN, Figure 3",
        "scale: paper",
        "N = 256",
        "2 seeds",
        "95 %",
        "30 points (train, mnist), 10 points (train, timit and timit_recall)",
        "10 points (test, mnist), none (test, timit and timit_recall)",
        "Readings",
        "cpu",
    ):
        assert said in text
    for unsaid in ("stand-in", "(paper:", "instead of", "in the paper"):
        assert unsaid not in text


@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_the_language_model_s_losses_say_what_they_are(scale):
    train, validation = panels_of(drawn(scale, LANGUAGE))
    assert (train.get_ylabel(), train.get_xlabel()) == ("Train loss (with AR and TAR)", "Iteration")
    assert (validation.get_ylabel(), validation.get_xlabel()) == ("Validation loss", "Epoch")
    assert train.get_title().endswith("cross-entropy plus (temporal) activation regularisation")
    assert "validation loss, N = " in validation.get_title().splitlines()[0]
    assert validation.get_title().endswith("cross-entropy alone; the paper's figure labels it “test loss”")
    text = words(drawn(scale, LANGUAGE))
    assert "triangular moving average of 10 points (train), none (validation)" in text
    assert ("stand-in for Penn Treebank: Python's help topics" in text) == (scale == "demo")
    assert ("(paper: 1150)" in text) == (scale == "demo")


def test_a_train_loss_is_drawn_against_iterations_only():
    """Epochs of text differ in length from seed to seed: parts of them are no common axis."""
    panel = {"task": "ptb", "size": 1150, "split": "train", "x_scale": "log", "y_scale": "log", "against": "epoch"}
    with pytest.raises(UserError, match="momentumrnn_figure5.panels.0.against: 'iteration' was expected.*a minibatch"):
        configuration_at("demo", overrides={"artifacts": {LANGUAGE: {"panels": [panel]}}})


def test_a_few_epochs_have_plain_numbers(demo):
    rows = [row for row in curves_of(demo, LANGUAGE) if row["panel"] == "0" or int(row["x"]) <= 8]
    figure = draw(demo, LANGUAGE, rows)
    axis = panels_of(figure)[1].xaxis
    labels = {label.get_text() for minor in (False, True) for label in axis.get_ticklabels(minor=minor)}
    assert {"1", "2", "3"} <= labels and not any("$" in label for label in labels)


def test_one_smoothing_of_a_split_names_no_task(paper):
    text = words(drawn("paper", "momentumrnn_figure11"))
    assert "triangular moving average of 10 points (train), none (test)." in text


def test_readings_are_named():
    configuration = configuration_at("demo", readings={"default": "published", "sr_cell": "released"})
    assert "released (sr_cell)" in words(draw(configuration, FIGURES[0]))


def test_published_values_stand_beside_the_papers_data_only(demo, paper):
    ours = drawn("paper", "momentumrnn_figure4")
    marks = {m.get_gid(): m.get_ydata()[0] for m in with_gid(panels_of(ours)[0], "published")}
    assert marks == {"published lstm": 0.01, "published momentum_lstm": 0.009}
    assert [m.get_ydata()[0] for m in with_gid(panels_of(ours)[1], "published")] == [0.162, 0.162]
    assert "published final value" in words(ours)
    assert not with_gid(drawn("demo", "momentumrnn_figure4"), "published")
    assert "published final value" not in words(drawn("demo", "momentumrnn_figure4"))


@pytest.mark.parametrize("change", [{"sizes": {190: 64}}, {"data": {"blanks": 100}}, {"dataset": "digits"}])
def test_published_values_need_the_papers_size_and_data(change):
    configuration = configuration_at("paper", overrides={"tasks": {"copying_2k": change}})
    figure = draw(configuration, "momentumrnn_figure4")
    assert not with_gid(panels_of(figure)[0], "published")
    assert with_gid(panels_of(figure)[1], "published")


# --------------------------------------------------------------------------------------------------------------- layout


def texts_of(figure):
    """(name, bounding box in pixels) of each piece of text and of each panel."""
    figure.draw_without_rendering()
    boxes = [(gid, with_gid(figure, gid)[0].get_window_extent()) for gid in ("title", "subtitle", "caption")]
    for legend in figure.findobj(lambda a: hasattr(a, "legend_handles")):
        boxes.append(("legend", legend.get_window_extent()))
    for number, ax in enumerate(figure.axes):
        if ax.axison:
            tick_labels = [label.get_window_extent() for label in ax.get_xticklabels() if label.get_visible()]
            boxes.append((f"title {number}", ax.title.get_window_extent()))
            boxes.append((f"x label {number}", ax.xaxis.label.get_window_extent()))
            boxes.append((f"y label {number}", ax.yaxis.label.get_window_extent()))
            boxes.append((f"panel {number}", ax.get_window_extent()))
            boxes += [
                (f"x tick {number}", box) for box in tick_labels if box.width and ax.bbox.x0 <= box.x0 <= ax.bbox.x1
            ]
    return boxes


def assert_nothing_overlaps(figure):
    boxes = texts_of(figure)
    for name, box in boxes:
        page = figure.bbox
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1, (
            f"{name} leaves the page"
        )
    for (name, box), (other, other_box) in itertools.combinations(boxes, 2):
        apart = box.x1 <= other_box.x0 or other_box.x1 <= box.x0 or box.y1 <= other_box.y0 or other_box.y1 <= box.y0
        assert apart, f"{name} and {other} overlap"


@pytest.mark.parametrize("artifact", FIGURES)
@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_no_text_overlaps(artifact, scale):
    assert_nothing_overlaps(drawn(scale, artifact))


def test_no_text_overlaps_with_everything_long(demo):
    diverged = [(task, model, 1) for task, model, _ in cells_of(demo, "momentumrnn_figure10")]
    assert_nothing_overlaps(draw(demo, "momentumrnn_figure10", diverged=diverged))


def test_one_panel_and_three(demo, monkeypatch):
    entry = demo.artifacts["momentumrnn_figure10"]
    for count in (1, 3):
        monkeypatch.setitem(demo.artifacts, "momentumrnn_figure99", entry | {"panels": entry["panels"][:count]})
        figure = draw(demo, "momentumrnn_figure99")
        assert len(panels_of(figure)) == count
        assert_nothing_overlaps(figure)


# ----------------------------------------------------------------------------------------------------- the copying task


def cells(ax, name, length):
    shown = {text.get_gid(): text.get_text() for text in ax.texts}
    return [shown.get(f"{name} {step}") for step in range(length)]


def test_the_papers_example_of_the_copying_task(demo):
    figure = figures.copying_figure(demo, "momentumrnn_figure8")
    above = figure.axes[0]
    word = list("12342")
    assert cells(above, "Input", 30) == [*word, *"-" * 20, ":", *"-" * 4]
    assert cells(above, "Output", 30) == [*"-" * 25, *word]


@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_the_configured_example_is_the_first_test_sequence(scale, demo, paper):
    configuration = {"demo": demo, "paper": paper}[scale]
    data = configuration.tasks["copying_1k"]["data"]
    letters, blanks = data["letters"], data["blanks"]
    word = [str(letter) for letter in copying.prepare(Path(), data)["test_letters"][0]]
    figure = figures.copying_figure(configuration, "momentumrnn_figure8")
    below = figure.axes[1]
    length = 2 * letters + blanks
    for name, expected in (
        ("Input", [*word, *"-" * blanks, ":", *"-" * (letters - 1)]),
        ("Output", [*"-" * (letters + blanks), *word]),
    ):
        shown = cells(below, name, length)
        assert [(a, b) for a, b in zip(shown, expected, strict=True) if a not in (None, b)] == []
        assert shown[:letters] == expected[:letters] and shown[-letters:] == expected[-letters:]
        assert (None in shown) == (scale == "paper") == bool(with_gid(below, "ellipsis"))
    text = words(figure)
    assert "The paper's example" in text and "the first test sequence of the data as configured" in text
    assert f"K = {letters}, L = {blanks}" in text and configuration.tasks["copying_1k"]["title"] in text
    assert_nothing_overlaps(figure)


def test_shown_steps():
    assert copying_example.shown_steps(5, 20) == list(range(30))
    assert copying_example.shown_steps(2, 100) == [0, 1, 2, 3, 4, None, 99, 100, 101, 102, 103]
    assert copying_example.shown_steps(30, 7) == list(range(67))


def test_the_copying_example_needs_a_copying_task(demo, monkeypatch):
    monkeypatch.setitem(
        demo.artifacts, "momentumrnn_figure8", demo.artifacts["momentumrnn_figure8"] | {"task": "mnist"}
    )
    with pytest.raises(UserError, match="copying"):
        figures.copying_figure(demo, "momentumrnn_figure8")


# ---------------------------------------------------------------------------------------------------------------- files


def test_files_are_valid_and_the_same_from_another_process(demo, tmp_path):
    for name, rows in (
        ("s.csv", summary_of(demo, "momentumrnn_figure11")),
        ("c.csv", curves_of(demo, "momentumrnn_figure11")),
    ):
        with (tmp_path / name).open("w", newline="") as handle:
            writer = csv.DictWriter(handle, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    command = [
        sys.executable,
        str(ROOT / "scripts/render_figure.py"),
        "--artifact",
        "momentumrnn_figure11",
        "--summary",
        "s.csv",
    ]
    command += ["--curves", "c.csv", "--config", json.dumps(demo.settings), "--output", "there/x"]
    subprocess.run(command, cwd=tmp_path, check=True)
    summary, curves = (figures.read_rows(tmp_path / name) for name in ("s.csv", "c.csv"))
    figures.save(figures.curves_figure(demo, "momentumrnn_figure11", summary, curves), tmp_path / "here/x")
    for place in ("here", "there"):
        assert sorted(path.name for path in (tmp_path / place).iterdir()) == ["x.pdf", "x.png"]
    for kind in ("pdf", "png"):
        assert (tmp_path / f"here/x.{kind}").read_bytes() == (tmp_path / f"there/x.{kind}").read_bytes()
    document = (tmp_path / "here/x.pdf").read_bytes()
    assert document.startswith(b"%PDF-") and document.rstrip().endswith(b"%%EOF") and b"CreationDate" not in document
    with Image.open(tmp_path / "here/x.png") as image:
        image.load()
        assert image.width > 1200 and image.info["dpi"][0] >= 150
        assert np.asarray(image.convert("L")).std() > 5  # something is drawn


def test_a_figure_that_cannot_be_written_leaves_the_old_one(demo, tmp_path, monkeypatch):
    (tmp_path / "x.pdf").write_text("old")
    figure = drawn("demo", "momentumrnn_figure11")

    def fail(handle, **_):
        handle.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(figure, "savefig", fail)
    with pytest.raises(OSError):
        figures.save(figure, tmp_path / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["x.pdf"] and (tmp_path / "x.pdf").read_text() == "old"


@pytest.mark.parametrize("change", [{"mean": "many"}, {"panel": ""}, {"low": None}])
def test_a_damaged_curves_file_is_an_error_to_act_on(demo, change):
    curves = curves_of(demo, FIGURES[0])
    curves[3] = {key: value for key, value in (curves[3] | change).items() if value is not None}
    with pytest.raises(UserError, match="snakemake"):
        draw(demo, FIGURES[0], curves)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match="nothing.csv"):
        figures.read_rows(tmp_path / "nothing.csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--artifact", FIGURES[0]], "--summary and --curves"),
        (["--artifact", "momentumrnn_table1"], "not a figure"),
        (["--artifact", "momentumrnn_figure33"], "Did you mean"),
        (["--artifact", FIGURES[0], "--config", "{"], "not valid JSON"),
    ],
)
def test_what_the_program_refuses(demo, tmp_path, monkeypatch, options, message):
    command = ["render_figure.py", "--config", json.dumps(demo.settings), "--output", str(tmp_path / "x"), *options]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(UserError, match=message):
        render_figure.main()
    assert not list(tmp_path.iterdir())
