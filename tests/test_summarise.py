"""scripts/summarise.py on run directories that are made here: finished, diverged, unequal, missing, damaged."""

import csv
import functools
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hidden_dynamics import configuration as configurations
from hidden_dynamics.errors import UserError
from hidden_dynamics.rendering import figures
from hidden_dynamics.artifacts.kinds.results_table.drawing import read_summary
from hidden_dynamics.configuration.runs import all_runs, resolve, runs_of
from hidden_dynamics.results.statistics import mean_band, triangular_moving_average

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
import summarise  # noqa: E402

FIGURE, POINTS = "momentumrnn_figure3", 120
MEASURED = {"iteration": 10, "epoch": 1.0, "train_loss": 1.0, "test_loss": 1.5, "test_accuracy": 0.5}


@pytest.fixture(scope="module")
def settings():
    changes = {"scale": "demo", "seeds": [0, 1, 2], "overrides": {}, "readings": {"default": "published"}}
    return configurations.read_yaml(ROOT / "config.yaml") | changes


@pytest.fixture(scope="module")
def configuration(settings):
    return configurations.load(settings)


def losses_of(run, points=POINTS):
    rng = np.random.default_rng([run.seed, len(run.variant)])
    return np.exp(-np.arange(points) / 40) + 0.1 * rng.random(points)


def make_run(root, configuration, run, losses=None, diverged_at=None, failure=None):
    """A run directory as training leaves it, with an evaluation every 10 iterations."""
    losses = losses_of(run) if losses is None else losses
    directory = root / run.directory
    directory.mkdir(parents=True, exist_ok=True)
    np.save(directory / "train_loss.npy", losses)
    with (directory / "metrics.csv").open("w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["iteration", "epoch", "train_loss", "test_loss", "test_accuracy"])
        for iteration in range(10, losses.size + 1, 10):
            writer.writerow([iteration, iteration // 10, 1.0, losses[iteration - 1] + 1, 0.5])
    dataset = configuration.datasets[run.spec["dataset"]]
    record = {
        "run": run.id,
        "scale": configuration.scale_name,
        "label": configuration.models[run.model]["label"],
        "spec": run.spec,
        "paper_size": run.paper_size,
        "parameters": 4321,
        "status": "finished" if diverged_at is None else "diverged",
        "diverged_at": diverged_at,
        "failure": failure,
        "reported": None
        if diverged_at
        else {"metric": "test_accuracy", "rule": "max", "value": 0.5, "iteration": 10, "epoch": 1, "metrics": MEASURED},
        "iterations": losses.size,
        "dataset": {
            "name": run.spec["dataset"],
            "title": dataset["title"],
            "stand_in_for": configuration.replaced(run.task),
            "digest": "0",
        },
        "baseline_loss": None,
        "device": "cpu",
        "threads": 1,
        "versions": {},
        "fingerprint": "f" * 64,
        "code": "c",
        "seconds": {"training": 1.25, "evaluation": 0.5},
    }
    (directory / "run.json").write_text(json.dumps(record))
    return directory


@pytest.fixture
def finished(tmp_path, configuration):
    """A root with every run of the figure, finished."""
    for run in runs_of(configuration, FIGURE):
        make_run(tmp_path, configuration, run)
    return tmp_path


@functools.cache
def load(settings, really_load=configurations.load):
    """The configuration of these settings, as JSON, read once: it takes 0.1 s."""
    return really_load(json.loads(settings))


@pytest.fixture
def summarised(monkeypatch, settings):
    """Runs the script's main in this process and returns (rows, curve rows)."""
    monkeypatch.setattr(summarise, "load", lambda changed: load(json.dumps(changed)))

    def run(root, artifact=FIGURE, curves=True):
        output, points = root / "summary" / "out.csv", root / "summary" / "out.curves.csv"
        command = ["summarise.py", "--artifact", artifact, "--config", json.dumps(settings), "--root", str(root)]
        command += ["--output", str(output), *(["--curves", str(points)] if curves else [])]
        monkeypatch.setattr(sys, "argv", command)
        summarise.main()
        assert {path.suffix for path in output.parent.glob(".*")} == {".sha256"}  # nothing half-written is left
        return rows_of(output), rows_of(points) if curves else []

    return run


def rows_of(path):
    with path.open(newline="") as handle:
        return list(csv.DictReader(handle))


def first_panel(points, model):
    return [row for row in points if (row["panel"], row["model"]) == ("0", model)]


def numbers(rows, name):
    return np.array([float(row[name] or "nan") for row in rows])


# ----------------------------------------------------------------------------------------------------------------- runs


def test_one_row_per_run(finished, summarised, configuration):
    rows, _ = summarised(finished)
    runs = runs_of(configuration, FIGURE)
    assert [row["directory"] for row in rows] == [run.directory for run in runs]
    assert tuple(rows[0]) == summarise.COLUMNS
    row, run = rows[0], runs[0]
    assert (row["artifact"], row["scale"], row["task"], row["model"]) == (FIGURE, "demo", run.task, run.model)
    assert (row["variant"], row["seed"], row["paper_size"]) == (run.variant, str(run.seed), str(run.paper_size))
    assert row["size"] == str(run.spec["hyperparameters"]["hidden_size"]) != row["paper_size"]
    assert row["label"] == configuration.models[run.model]["label"]
    assert (row["dataset"], row["stand_in_for"]) == ("digits", "mnist")
    assert (row["status"], row["diverged_at"], row["extra"]) == ("finished", "", "false")
    assert (row["metric"], row["rule"], float(row["reported"])) == ("test_accuracy", "max", 0.5)
    assert (row["reported_iteration"], row["reported_epoch"], row["iterations"]) == ("10", "1", str(POINTS))
    assert json.loads(row["measured"]) == MEASURED
    assert (row["parameters"], row["precision"], row["device"], row["threads"]) == ("4321", "fp32", "cpu", "1")
    assert json.loads(row["readings"]) == run.spec["readings"]
    assert (float(row["training_seconds"]), row["fingerprint"]) == (1.25, "f" * 64)


def test_all_is_every_configured_run(tmp_path, summarised, configuration):
    for run in all_runs(configuration):
        make_run(tmp_path, configuration, run, losses=losses_of(run, 20))
    rows, _ = summarised(tmp_path, "all", curves=False)
    assert [row["directory"] for row in rows] == [run.directory for run in all_runs(configuration)]


def test_a_diverged_run_reports_nothing(finished, summarised, configuration):
    run = runs_of(configuration, FIGURE)[1]
    make_run(finished, configuration, run, losses=losses_of(run, 50), diverged_at=50)
    row = summarised(finished)[0][1]
    assert (row["status"], row["diverged_at"], row["metric"], row["reported"]) == ("diverged", "50", "", "")
    assert row["measured"] == row["failure"] == ""


def test_why_a_solver_failed_is_in_the_summary(finished, summarised, configuration):
    run = runs_of(configuration, FIGURE)[1]
    failure = {"cause": "step size underflow", "time": 0.25, "step": 8, "during": "backward"}
    make_run(finished, configuration, run, losses=losses_of(run, 50), diverged_at=51, failure=failure)
    finished_row, row = summarised(finished)[0][:2]
    assert json.loads(row["failure"]) == failure and finished_row["failure"] == ""


def test_a_table_without_runs_has_a_header_only(tmp_path, summarised):
    assert summarised(tmp_path, "momentumrnn_table6", curves=False) == ([], [])


# --------------------------------------------------------------------------------------------------------------- curves


def test_train_curve_is_smoothed_per_seed_then_averaged(finished, summarised, configuration):
    rows = first_panel(summarised(finished)[1], "lstm")
    panel = configuration.artifacts[FIGURE]["panels"][0]
    seeds = [resolve(configuration, panel["task"], "lstm", panel["size"], seed) for seed in configuration.seeds]
    smooth = np.array([triangular_moving_average(losses_of(run), panel["window"]) for run in seeds])
    expected = mean_band(smooth)
    np.testing.assert_array_equal(numbers(rows, "x"), np.arange(1, POINTS + 1))
    for name, values in zip(("mean", "low", "high"), expected, strict=True):
        np.testing.assert_array_equal(numbers(rows, name), values)  # to the last bit
    assert {row["n"] for row in rows} == {"3"}
    assert tuple(rows[0]) == summarise.CURVE_COLUMNS


def test_test_curve_is_against_epochs(finished, summarised):
    rows = [row for row in summarised(finished)[1] if (row["panel"], row["model"]) == ("1", "lstm")]
    assert [row["x"] for row in rows] == [str(epoch) for epoch in range(1, POINTS // 10 + 1)]
    assert numbers(rows, "mean").min() > 1  # the test loss, not the train loss


def test_curves_are_thinned(tmp_path, summarised, configuration):
    for run in runs_of(configuration, FIGURE):
        make_run(tmp_path, configuration, run, losses=losses_of(run, 5000))
    x = numbers(first_panel(summarised(tmp_path)[1], "lstm"), "x")
    assert x.size <= summarise.MOST_POINTS
    assert (x[0], x[-1]) == (1, 5000)


@pytest.mark.parametrize("last", [np.nan, np.inf, 0.1])
def test_a_diverged_seed_counts_up_to_where_it_diverged(finished, summarised, configuration, last):
    run = runs_of(configuration, FIGURE)[1]
    losses = losses_of(run, 50)
    losses[-1] = last
    make_run(finished, configuration, run, losses=losses, diverged_at=50)
    rows = first_panel(summarised(finished)[1], run.model)
    reached = 50 if np.isfinite(last) else 49
    assert numbers(rows, "n").tolist() == [3] * reached + [2] * (POINTS - reached)
    assert np.isfinite(numbers(rows, "mean")).all()


def test_a_model_that_never_got_a_value_has_no_points(finished, summarised, configuration):
    for run in runs_of(configuration, FIGURE):
        if run.model == "lstm":
            make_run(finished, configuration, run, losses=np.array([np.nan]), diverged_at=1)
    points = summarised(finished)[1]
    assert {row["model"] for row in points} == {run.model for run in runs_of(configuration, FIGURE)} - {"lstm"}


def test_one_seed_has_no_band(finished, summarised, settings, monkeypatch):
    monkeypatch.setitem(settings, "seeds", [1])
    rows = first_panel(summarised(finished)[1], "lstm")
    assert {(row["low"], row["high"], row["n"]) for row in rows} == {("", "", "1")}


def test_align():
    x, values = summarise.align(
        [(np.array([1.0, 3.0]), np.array([10.0, 30.0])), (np.array([2.0, 3.0]), np.array([5.0, 6.0]))]
    )
    assert x.tolist() == [1, 2, 3]
    np.testing.assert_array_equal(values, [[10, np.nan, 30], [np.nan, 5, 6]])


# ------------------------------------------------------------------------------------------------------- language model

LANGUAGE, EPOCHS = "momentumrnn_figure5", 6


def epoch_ends(run):
    """The iterations at which epochs end: segments of text have random lengths, so no two epochs have as many."""
    return np.cumsum(np.random.default_rng(run.seed).integers(15, 25, EPOCHS))


def validation_of(run):
    return 6 - np.arange(EPOCHS) / 10 - run.seed / 100 - len(run.model) / 1000


def make_language_run(root, configuration, run, validation=None, diverged_at=None):
    """A run that was tested once, on the weights of its best validation, so that other rows have no test loss."""
    validation = validation_of(run) if validation is None else validation
    ends = epoch_ends(run)
    rows = [
        [iteration, epoch, 9.0, loss, np.exp(loss), "", ""]
        for epoch, (iteration, loss) in enumerate(zip(ends, validation, strict=False), 1)
    ]
    finite = [row for row in rows if np.isfinite(row[3])]
    best = min(finite, key=lambda row: row[3], default=None)
    if best:
        best[5:] = [best[3] + 0.1, np.exp(best[3] + 0.1)]
    losses = losses_of(run, (diverged_at or ends[-1]))
    directory = make_run(root, configuration, run, losses=losses, diverged_at=diverged_at)
    header = ["iteration", "epoch", "train_loss", "validation_loss", "validation_perplexity"]
    header += ["test_loss", "test_perplexity"]
    with (directory / "metrics.csv").open("w", newline="") as handle:
        csv.writer(handle).writerows([header, *rows])
    record = json.loads((directory / "run.json").read_text())
    reported = {"metric": "validation_loss", "rule": "min", "value": best and best[3]} if best else None
    if best:
        metrics = dict(zip(header, map(float, best), strict=True))
        reported |= {"iteration": int(best[0]), "epoch": best[1], "metrics": metrics}
    (directory / "run.json").write_text(json.dumps(record | {"reported": reported}))
    return directory


@pytest.fixture
def language(tmp_path, configuration):
    for run in runs_of(configuration, LANGUAGE):
        make_language_run(tmp_path, configuration, run)
    return tmp_path


def panel_of(points, panel, model):
    return [row for row in points if (row["panel"], row["model"]) == (str(panel), model)]


def test_the_validation_curve_has_every_epoch(language, summarised, configuration):
    rows = panel_of(summarised(language, LANGUAGE)[1], 1, "sr_lstm")
    runs = [run for run in runs_of(configuration, LANGUAGE) if run.model == "sr_lstm"]
    assert [row["x"] for row in rows] == [str(epoch) for epoch in range(1, EPOCHS + 1)]
    expected = np.mean([validation_of(run) for run in runs], axis=0)
    np.testing.assert_allclose(numbers(rows, "mean"), expected, rtol=1e-12)
    assert {row["n"] for row in rows} == {"3"}


def test_epochs_of_different_lengths_leave_train_curves_of_different_lengths(language, summarised, configuration):
    rows = panel_of(summarised(language, LANGUAGE)[1], 0, "lstm")
    ends = sorted(epoch_ends(run)[-1] for run in runs_of(configuration, LANGUAGE) if run.model == "lstm")
    assert len(set(ends)) == 3
    assert numbers(rows, "x").tolist() == list(range(1, ends[-1] + 1))
    assert numbers(rows, "n").tolist() == [3] * ends[0] + [2] * (ends[1] - ends[0]) + [1] * (ends[2] - ends[1])


def test_what_is_measured_once_is_in_the_summary(language, summarised, configuration):
    row = summarised(language, LANGUAGE)[0][0]
    run = runs_of(configuration, LANGUAGE)[0]
    best = validation_of(run)[-1]
    assert (row["metric"], row["rule"], row["reported_epoch"]) == ("validation_loss", "min", str(EPOCHS))
    assert json.loads(row["measured"])["test_perplexity"] == pytest.approx(np.exp(best + 0.1))
    assert row["stand_in_for"] == "ptb" and row["size"] != row["paper_size"] == "1150"


def test_an_empty_cell_is_no_evaluation(language, configuration):
    run = runs_of(configuration, LANGUAGE)[0]
    directory = language / run.directory
    x, losses = summarise.read_curve(directory, "test", "epoch")
    assert (x.tolist(), losses.tolist()) == ([EPOCHS], [pytest.approx(validation_of(run)[-1] + 0.1)])
    lines = (directory / "metrics.csv").read_text().replace("\r", "").splitlines()
    (directory / "metrics.csv").write_text("\n".join([*lines[:3], lines[3].rsplit(",", 4)[0]]))  # cut off, not empty
    for split in ("validation", "test"):
        with pytest.raises(UserError, match="metrics.csv is not readable"):
            summarise.read_curve(directory, split, "epoch")


def test_a_language_model_that_diverged_or_never_had_a_validation_loss(language, summarised, configuration):
    first, second, third = [run for run in runs_of(configuration, LANGUAGE) if run.model == "lstm"]
    make_language_run(language, configuration, first, validation_of(first)[:3], diverged_at=70)
    make_language_run(language, configuration, second, np.full(EPOCHS, np.nan))
    rows, points = summarised(language, LANGUAGE)
    assert [(row["status"], row["metric"]) for row in rows[:3]] == [
        ("diverged", "validation_loss"),
        ("finished", ""),
        ("finished", "validation_loss"),
    ]
    assert (rows[1]["measured"], rows[1]["reported"]) == ("", "")
    curve = panel_of(points, 1, "lstm")
    assert numbers(curve, "n").tolist() == [2] * 3 + [1] * (EPOCHS - 3)
    np.testing.assert_allclose(numbers(curve, "mean")[3:], validation_of(third)[3:], rtol=1e-12)


# --------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("name", ["run.json", "train_loss.npy", "metrics.csv"])
@pytest.mark.parametrize("damage", ["missing", "empty", "truncated", "binary"])
def test_a_damaged_file_is_named(finished, summarised, configuration, name, damage):
    path = finished / runs_of(configuration, FIGURE)[2].directory / name
    content = path.read_bytes()
    path.unlink()
    if damage != "missing":
        path.write_bytes({"empty": b"", "truncated": content[: -len(content) // 3], "binary": b"\xff\x00\x01"}[damage])
    if name == "metrics.csv" and damage in ("empty", "truncated"):
        path.write_text("iteration,epoch,train_loss,test_loss\n10,1,0.5,0.4\n20,2,0.")
    with pytest.raises(UserError, match="run snakemake again") as error:
        summarised(finished)
    assert str(path) in str(error.value)
    assert not (finished / "summary" / "out.curves.csv").exists()


@pytest.mark.parametrize("key", ["spec", "dataset", "seconds", "reported", "status"])
def test_a_record_without_a_key_is_named(finished, summarised, configuration, key):
    path = finished / runs_of(configuration, FIGURE)[0].directory / "run.json"
    record = json.loads(path.read_text())
    del record[key]
    path.write_text(json.dumps(record))
    with pytest.raises(UserError, match=key) as error:
        summarised(finished)
    assert str(path) in str(error.value)


def test_the_record_of_another_run_is_refused(finished, summarised, configuration):
    first, second = (finished / run.directory / "run.json" for run in runs_of(configuration, FIGURE)[:2])
    second.write_text(first.read_text())
    with pytest.raises(UserError, match="describes"):
        summarised(finished)


def test_curves_of_what_has_none(tmp_path, summarised):
    for artifact in ("all", "momentumrnn_table6"):
        with pytest.raises(UserError, match="--curves|is missing"):
            summarised(tmp_path, artifact)


def test_as_a_program(finished, settings, configuration):
    command = [sys.executable, str(ROOT / "scripts/summarise.py"), "--artifact", FIGURE, "--output", "summary/x.csv"]
    call = {"cwd": finished, "capture_output": True, "text": True}
    assert subprocess.run([*command, "--config", json.dumps(settings)], **call).returncode == 0
    assert len(rows_of(finished / "summary" / "x.csv")) == len(runs_of(configuration, FIGURE))
    for config, message in (("{", "not valid JSON"), (json.dumps(settings | {"seeds": [7]}), "run snakemake again")):
        failed = subprocess.run([*command, "--config", config], **call)
        assert failed.returncode == 1
        assert failed.stderr.startswith("error: ") and message in failed.stderr and failed.stderr.count("\n") == 1


@pytest.mark.parametrize("read", [figures.read_rows, read_summary])
def test_a_summary_that_was_altered_is_not_rendered(finished, summarised, read):
    summarised(finished)
    path = finished / "summary" / "out.csv"
    read(path)
    whole = path.read_bytes()
    for altered in (
        whole.replace(b"0.", b"1.", 1),
        whole[: len(whole) // 2],
        whole[: whole.rindex(b"\n", 0, -1) + 1],
        b"",
    ):
        path.write_bytes(altered)
        with pytest.raises(UserError, match=f"{path} was altered since it was written: remove it and run snakemake"):
            read(path)
