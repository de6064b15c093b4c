"""Tables of costs: how times are taken, what the tables say of made-up costs and runs, and one real measurement."""

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas
import pytest
import torch
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from hidden_dynamics.system.arguments import positive, seed
from hidden_dynamics.configuration import load, read_yaml
from hidden_dynamics.measurements.costs import COLUMNS, MEMORIES, TIMES, UNITS, measured_runs, measurement_of
from hidden_dynamics.data import prepared
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.measurements.interleaved import (
    WARM_UP,
    Subject,
    evaluation_step,
    interleaved,
    ratio_within_rounds,
    subject_of,
    training_step,
)
from hidden_dynamics.artifacts.kinds.cost_table.drawing import cost_table, read_costs, significant
from hidden_dynamics.papers.published import load_published, row_of
from hidden_dynamics.artifacts.kinds.results_table.drawing import read_summary
from hidden_dynamics.artifacts.kinds.time_to_accuracy_table.drawing import percent, time_to_accuracy_table
from hidden_dynamics.configuration.runs import data_file, resolve
from hidden_dynamics.training import loop, optimisers
from hidden_dynamics.tasks.schedule import schedule_of

sys.path.insert(0, str(ROOT / "scripts"))
import measure_cost  # noqa: E402
import render_table  # noqa: E402

MODELS = {"lstm": 1.0, "momentum_lstm": 1.1, "adam_lstm": 2.0, "rmsprop_lstm": 1.9, "sr_lstm": 1.3}  # ratios made up
TABLE_15 = "momentumrnn_table15"
PUBLISHED = {number: f"momentumrnn/table{number}.yaml" for number in (14, 15, 16)}


@pytest.fixture
def paper(configured):
    return configured(scale="paper")


# How times and memory are taken


class Machine:
    """A clock that only actions move, and the order in which they ran."""

    def __init__(self):
        self.now, self.ran, self.waited = 100.0, [], []

    def action(self, name: str, seconds: float):
        def act():
            self.now += seconds
            self.ran.append(name)

        return act

    def wait(self):
        self.waited.append(len(self.ran))


def test_every_round_times_everything_once_in_an_order_that_rotates():
    machine = Machine()
    actions = {name: machine.action(name, seconds) for name, seconds in (("a", 1.0), ("b", 2.0), ("c", 4.0))}
    times = interleaved(actions, 4, clock=lambda: machine.now, wait=machine.wait)
    assert times == [{"a": 1.0, "b": 2.0, "c": 4.0}] * 4
    assert "".join(machine.ran[3 * WARM_UP :]) == "abcbcacababc"
    # What is still to be done on a GPU is waited for before the clock is read, both times.
    assert machine.waited == [count for k in range(12) for count in (3 * WARM_UP + k, 3 * WARM_UP + k + 1)]


def test_a_ratio_is_taken_within_rounds():
    """A machine that is ten times slower in one round changes no ratio; the ratio of the medians would be 1."""
    times = [{"x": 2.0, "lstm": 1.0}, {"x": 30.0, "lstm": 10.0}, {"x": 4.0, "lstm": 2.0}]
    ratio = ratio_within_rounds(times, "x", "lstm")
    assert (ratio.median, ratio.low, ratio.high) == (2.0, 2.0, 3.0)


@given(
    slowness=st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=20),
    seconds=st.tuples(st.floats(1e-6, 1e3), st.floats(1e-6, 1e3)),
)
def test_what_slows_a_whole_round_leaves_ratios_as_they_are(slowness, seconds):
    times = [{"x": seconds[0] * factor, "lstm": seconds[1] * factor} for factor in slowness]
    ratio = ratio_within_rounds(times, "x", "lstm")
    assert [ratio.median, ratio.low, ratio.high] == pytest.approx([seconds[0] / seconds[1]] * 3)


def test_resident_memory_is_that_of_the_peak():
    """64 MB that are freed before the action ends, then 128 MB, in a process of their own."""
    code = (
        "from hidden_dynamics.measurements.interleaved import resident_beyond\n"
        "hold = lambda megabytes: lambda: len(b'x' * (megabytes * 10**6))\n"
        "print(*resident_beyond([hold(64), hold(128)]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    first, second = (int(text) / 1e6 for text in done.stdout.split())
    assert first == pytest.approx(64, abs=3) and second == pytest.approx(128, abs=3)


def test_what_a_process_held_before_does_not_count():
    """In a process of its own: what other tests have held is a peak of this one's."""
    measuring = (
        "from hidden_dynamics.measurements.interleaved import resident_beyond\n"
        "held = bytearray(500 * 10**6)\n"
        "print(resident_beyond([lambda: None])[0])"
    )
    done = subprocess.run([sys.executable, "-c", measuring], cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 100 * 10**6


# A step is a training's


def save_digits(directory: Path, pixels: int) -> None:
    rng = np.random.default_rng(0)
    arrays = {"levels": np.array(16)}
    for split in ("train", "test"):
        arrays[f"{split}_images"] = rng.integers(0, 17, (20, pixels), np.uint8)
        arrays[f"{split}_labels"] = rng.integers(0, 10, 20).astype(np.uint8)
    about = {"dataset": "digits", "title": "Made-up digits"}
    prepared.save(directory / "prepared/digits.npz", arrays, about)


@pytest.mark.parametrize("model", ["lstm", "adam_lstm"])
def test_a_training_step_leaves_the_network_that_the_training_loop_leaves(configured, tmp_path, model):
    save_digits(tmp_path, 16)
    arrays = prepared.load(tmp_path / "prepared/digits.npz").arrays
    run = next(run for run in measured_runs(configured(scale="demo"), "momentumrnn_table14") if run.model == model)
    measured, trained = (subject_of(run, arrays, torch.device("cpu"), 20) for _ in range(2))
    schedule = schedule_of(run.spec["training"], trained.task, run.seed)
    parts = (run.spec, trained.task, trained.network, trained.optimisers, torch.device("cpu"))
    loop._step(loop.Training(*parts, schedule))
    before = [parameter.clone() for parameter in measured.network.parameters()]
    evaluation_step(measured, measured.batch)
    assert all(torch.equal(*pair) for pair in zip(before, measured.network.parameters(), strict=True))
    training_step(measured, measured.batch)
    assert not any(torch.equal(*pair) for pair in zip(before, measured.network.parameters(), strict=True))
    for ours, theirs in zip(measured.network.parameters(), trained.network.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0)
    assert (measured.steps, measured.samples, measured.samples_per_epoch) == (16, 20, 20)
    assert set(measured.optimisers) == set(optimisers.build(measured.network, run.spec["training"]["optimisers"]))


def test_an_epoch_of_endless_data_has_the_samples_that_the_schedule_says(configured):
    class Endless:
        train_size = None

    run = resolve(configured(scale="paper"), "adding", "lstm", 128, 0)
    training = run.spec["training"]
    expected = training["batch_size"] * training["iterations_per_epoch"]
    assert Subject(run, Endless(), None, {}, None).samples_per_epoch == expected


# A real measurement


def test_a_real_measurement(tmp_path):
    """A thousand steps with 32 hidden units: more memory than the system's accuracy in counting it."""
    steps, hidden, batch = 1024, 32, 20
    save_digits(tmp_path, steps)
    sizes = {"sizes": {128: 8, 256: hidden}}
    settings = {
        "data": {"directory": str(tmp_path), "mirror": None, "copies": {}},
        "overrides": {"tasks": {"pmnist": sizes}},
    }
    options = ["--artifact", TABLE_15, "--config", json.dumps(settings), "--rounds", "2"]
    options += ["--batch", str(batch), "--device", "cpu", "--threads", "1", "--output", str(tmp_path / "costs.csv")]
    command = [sys.executable, str(ROOT / "scripts/measure_cost.py"), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    frame = read_costs(tmp_path / "costs.csv")
    assert tuple(frame.columns) == COLUMNS
    assert [*zip(frame["model"], frame["quantity"], strict=True)] == [
        (model, quantity) for model in MODELS for quantity in (*TIMES, *MEMORIES)
    ]
    assert (frame["unit"] == frame["quantity"].map(UNITS)).all()
    expected = {"batch": batch, "steps": steps, "samples_per_epoch": 20, "size": str(hidden), "paper_size": "256"}
    assert all((frame[column] == value).all() for column, value in expected.items())
    times = frame[frame["quantity"].isin(TIMES)]
    assert (times[["value", "ratio", "ratio_low", "ratio_high"]] > 0).all(axis=None) and (times["rounds"] == 2).all()
    assert (times["ratio_low"] <= times["ratio"]).all() and (times["ratio"] <= times["ratio_high"]).all()
    assert (frame[frame["model"] == "lstm"]["ratio"] == 1).all()
    memory = frame.set_index(["model", "quantity"])["value"]
    for model in MODELS:
        assert memory[model, "training_memory"] > steps * hidden * 4 / 1e6  # the backward needs at least every h_t
        assert memory[model, "training_memory"] > memory[model, "evaluation_memory"] > 0
    configuration = load(read_yaml(ROOT / "config.yaml") | settings)
    assert "Made-up digits, standing in for MNIST" in " ".join(cost_table(configuration, TABLE_15, frame).notes)


@pytest.fixture
def refusal(monkeypatch, capsys):
    """What a script says on stderr, called in this process, when it ends with exit code 1."""

    def call(module, *arguments) -> str:
        monkeypatch.setattr(sys, "argv", [module.__name__, *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            run_main(module.main)
        assert end.value.code == 1
        return capsys.readouterr().err

    return call


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--artifact", "momentumrnn_tabel14"], "Did you mean 'momentumrnn_table14'"),
        (["--artifact", "momentumrnn_table1"], "momentumrnn_table1 shows no measured costs"),
        (["--artifact", "momentumrnn_table14", "--config", '{"data": {"directory": "nowhere"}}'], "it is missing"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_line(refusal, tmp_path, arguments, complaint):
    said = refusal(measure_cost, *arguments, "--device", "cpu", "--output", tmp_path / "costs.csv")
    assert complaint in said and said.count("\n") == 1
    assert not (tmp_path / "costs.csv").exists()


@pytest.mark.parametrize(
    ("kind", "text"),
    [(positive, "0"), (positive, "-3"), (positive, str(2**31)), (seed, "-1"), (seed, str(2**32))],
)
def test_a_number_out_of_bounds_is_refused(kind, text):
    with pytest.raises(argparse.ArgumentTypeError, match=rf"^{text} is not within \d+ and \d+$"):
        kind(text)


def test_a_number_at_the_bounds_is_taken():
    assert (positive("1"), positive(str(2**31 - 1)), seed("0"), seed(str(2**32 - 1))) == (1, 2**31 - 1, 0, 2**32 - 1)


# The rule

MEASURES_NOTHING = """
import argparse
import json
from pathlib import Path


def main():
    parser = argparse.ArgumentParser()
    for name in ("artifact", "threads", "output"):
        parser.add_argument(f"--{name}")
    given = parser.parse_args()
    Path(given.output).write_text(given.threads)


main()
"""


class Workflow:
    """A copy of the repository in which measuring takes no time, and Snakemake in it."""

    files = ("Snakefile", "config.yaml")
    folders = ("rules", "scripts", "hidden_dynamics", "config", "profiles", "envs", "published", "docs")
    target = "results/pilot/costs/momentumrnn_table14.csv"

    def __init__(self, root: Path):
        self.root = root
        for file in self.files:
            shutil.copy(ROOT / file, root)
        for folder in self.folders:
            shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
        (root / "scripts/measure_cost.py").write_text(MEASURES_NOTHING, encoding="utf-8")
        self.edit("rules/measure.smk", '"Measuring the costs', '"With {resources}: measuring the costs')
        configuration = load(read_yaml(root / "config.yaml") | {"scale": "pilot"}, root)
        spec = measured_runs(configuration, "momentumrnn_table14")[0].spec
        prepared_data = root / data_file(configuration, spec["dataset"], spec["data"])
        prepared_data.parent.mkdir(parents=True)
        prepared_data.touch()

    def edit(self, file: str, old: str, new: str) -> None:
        text = (self.root / file).read_text(encoding="utf-8")
        assert old in text
        (self.root / file).write_text(text.replace(old, new), encoding="utf-8")

    def run(self, *options: str, device: str = "cpu") -> str:
        command = [sys.executable, "-m", "snakemake", *options, "--config", "scale=pilot", f"device={device}"]
        done = subprocess.run(
            [*command, "--", self.target], cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert done.returncode == 0, done.stdout[-3000:]
        return done.stdout


@pytest.mark.slow
def test_the_rule_measures_again_on_another_device_or_with_another_baseline(tmp_path):
    workflow = Workflow(tmp_path)
    workflow.run("--cores", "1")
    threads = load({**read_yaml(ROOT / "config.yaml"), "scale": "pilot"}).scale["threads"]
    assert threads == 2 and (tmp_path / workflow.target).read_text() == "1"  # no more than the job has
    assert "Nothing to be done" in workflow.run("--cores", "2", "--dry-run")
    said = workflow.run("--dry-run", "--profile", "profiles/slurm", device="cuda")
    assert "params have changed since last execution:\n        measure_cost" in said
    assert " --exclusive " in re.search(r"With (.*): measuring", said)[1]
    workflow.edit("published/momentumrnn/table14.yaml", "baseline: lstm", "baseline: sr_lstm")
    said = workflow.run("--cores", "2", "--dry-run")
    assert "updated input files:\n        measure_cost" in said and "params have changed" not in said


# Which tables share a measurement


def test_tables_of_the_same_models_share_a_measurement(project):
    tables = [f"momentumrnn_table{number}" for number in (14, 15, 16)]
    configuration = project.load()
    assert {measurement_of(configuration, name) for name in tables} == {"momentumrnn_table14"}
    project.set("config/artifacts.yaml", "momentumrnn_table15.size", 128)
    configuration = project.load()
    assert [measurement_of(configuration, name) for name in tables] == [tables[0], tables[1], tables[0]]


def test_a_model_of_the_users_own_is_measured_after_the_papers(project):
    models = project.read("config/models.yaml")
    mine = {**models["lstm"], "label": "Mine", "tasks": {"pmnist": {"sizes": [256]}}}
    project.write("config/models.yaml", models | {"mine": mine})
    configuration = project.load()
    assert [run.model for run in measured_runs(configuration, "momentumrnn_table14")] == [*MODELS, "mine"]
