"""What models cost: how times and memory are taken, one real measurement, and when the rule measures."""

import functools
import itertools
import json
import os
import re
from pathlib import Path

import measure_cost
import pytest
import torch
from conftest import ROOT, printed_by, refused
from raw import noise_images
from repository import SETTINGS, Workflow, copy_repository

from hidden_dynamics.artifacts import artifact_named
from hidden_dynamics.configuration import load, read_yaml
from hidden_dynamics.data import prepared
from hidden_dynamics.measurements.cost_measurement import Session, values_of
from hidden_dynamics.measurements.interleaved import WARM_UP, evaluation_step, interleaved, subject_of, training_step
from hidden_dynamics.measurements.processes import in_fresh_process
from hidden_dynamics.results.measured import MEMORIES, TIMES, Cost
from hidden_dynamics.results.rows import read_rows, read_typed
from hidden_dynamics.training import loop, optimisers

TABLE = "momentumrnn_table14"


def test_every_round_times_everything_once_in_an_order_that_rotates():
    """By a clock that only actions move."""
    seconds, ran, waited = {"a": 1.0, "b": 2.0, "c": 4.0}, [], []
    times = interleaved(
        {name: functools.partial(ran.append, name) for name in seconds},
        rounds=4,
        clock=lambda: sum(seconds[name] for name in ran),
        wait=lambda: waited.append(len(ran)),
    )
    assert times == [seconds] * 4
    assert "".join(ran[3 * WARM_UP :]) == "abcbcacababc"
    # What is still to be done on a GPU is waited for before the clock is read, both times.
    assert waited == [count for k in range(12) for count in (3 * WARM_UP + k, 3 * WARM_UP + k + 1)]


def test_a_cost_is_that_of_a_sample_in_milliseconds_and_megabytes_and_its_ratio_the_median_within_rounds():
    seconds = {"x": [0.2, 0.4, 0.9], "lstm": [0.1, 0.4, 0.3]}
    times = [{(model, name): seconds[model][place] for model in seconds for name in TIMES} for place in range(3)]
    memory = {"x": dict.fromkeys(MEMORIES, 6_000_000), "lstm": dict.fromkeys(MEMORIES, 4_000_000)}
    found = [*values_of("x", Session({"x": {"batch": 4}}, times, memory), "lstm")]
    assert found == [*((name, 100.0, 2.0, 3) for name in TIMES), *((name, 1.5, 1.5, 1) for name in MEMORIES)]


def test_resident_memory_is_that_of_the_peak_beyond_what_was_held_before():
    """500 MB held, then 64 MB that are freed before the action ends, then 128 MB, in a process of their own."""
    code = (
        "from hidden_dynamics.measurements.processes import resident_beyond\n"
        "held = bytearray(500 * 10**6)\n"
        "hold = lambda megabytes: lambda: len(b'x' * (megabytes * 10**6))\n"
        "print(*resident_beyond([hold(64), hold(128)]))\n"
    )
    assert [int(text) / 1e6 for text in printed_by(code).split()] == pytest.approx([64, 128], abs=3)


def test_each_process_is_another_one_and_its_death_is_told():
    assert in_fresh_process("spawn", "their costs", os.getpid) != in_fresh_process("spawn", "their costs", os.getpid)
    with refused("their costs: the process that measured it was killed"):
        in_fresh_process("spawn", "their costs", os._exit, 1)


def save_digits(directory: Path, pixels: int, images: int = 20) -> None:
    arrays = noise_images(pixels, levels=16, train=images, test=images)
    about = {"dataset": "digits", "title": "Made-up digits"}
    prepared.save(directory / "prepared/digits.npz", arrays, about)


@pytest.mark.parametrize("model", ["lstm", "adam_lstm"])
def test_a_training_step_leaves_the_network_that_the_training_loop_leaves(configured, tmp_path, model):
    save_digits(tmp_path, 16)
    arrays = prepared.load(tmp_path / "prepared/digits.npz").arrays
    runs = artifact_named(configured(scale="demo"), TABLE).measured_runs()
    run = next(run for run in runs if run.model == model)
    measured, trained = (subject_of(run, arrays, torch.device("cpu"), 20) for _ in range(2))
    schedule = trained.task.schedule(run.spec["training"], run.seed)
    parts = (run.spec, trained.task, trained.network, trained.optimisers, torch.device("cpu"))
    loop._step(loop.Training(*parts, schedule))
    before = [parameter.clone() for parameter in measured.network.parameters()]
    evaluation_step(measured, measured.batch)
    assert all(torch.equal(*pair) for pair in zip(before, measured.network.parameters(), strict=True))
    training_step(measured, measured.batch)
    assert not any(torch.equal(*pair) for pair in zip(before, measured.network.parameters(), strict=True))
    for ours, theirs in zip(measured.network.parameters(), trained.network.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0)
    assert measured.sizes() == {"batch": 20, "steps": 16, "samples_per_epoch": 20}
    assert set(measured.optimisers) == set(optimisers.build(measured.network, run.spec["training"]["optimisers"]))


def test_a_real_measurement(ended, tmp_path, monkeypatch):
    """160 samples of 144 steps with 32 hidden units: more memory than the system's accuracy in counting it."""
    steps, hidden, batch, models = 144, 32, 160, ["lstm", "adam_lstm"]
    save_digits(tmp_path, steps, batch)
    settings = {
        "data": {"directory": str(tmp_path), "mirror": None, "copies": {}},
        "overrides": {"tasks": {"pmnist": {"sizes": {128: 8, 256: hidden}}}, "artifacts": {TABLE: {"models": models}}},
    }
    options = ["--artifact", TABLE, "--config", json.dumps(settings), "--processes", "2", "--rounds", "3"]
    options += ["--batch", str(batch), "--device", "cpu", "--threads", "1"]
    monkeypatch.chdir(tmp_path)
    done = ended(measure_cost.main, *options)
    assert done.code == 0, done.err
    configuration = load(read_yaml(ROOT / "config.yaml") | settings)
    path = tmp_path / configuration.paths.measured("costs", TABLE)
    rows = read_rows(path)
    assert list(rows[0]) == list(Cost.model_fields)
    assert {(row.size, row.paper_size) for row in read_typed(path, Cost)} == {(hidden, 256)}
    measured = [(row["process"], row["model"], row["quantity"]) for row in rows]
    assert measured == [*itertools.product("01", models, (*TIMES, *MEMORIES))]
    expected = {"batch": batch, "steps": steps, "samples_per_epoch": batch, "size": hidden, "paper_size": 256}
    expected |= {"dataset_title": "Made-up digits", "stand_in_for": "mnist"}
    for row in rows:
        assert row["unit"] == configuration.metrics[row["quantity"]].unit
        assert {name: row[name] for name in expected} == {name: str(value) for name, value in expected.items()}
        assert row["model"] != "lstm" or float(row["ratio"]) == 1
        assert float(row["value"]) > 0 and row["rounds"] == ("3" if row["quantity"] in TIMES else "1")
    values = {(row["process"], row["model"], row["quantity"]): float(row["value"]) for row in rows}
    for model in models:
        for process in "01":
            training, evaluation = (values[process, model, quantity] for quantity in MEMORIES)
            assert training > steps * hidden * 4 / 1e6  # the backward needs at least every h_t
            assert training > evaluation
        assert values["0", model, "training_time"] != values["1", model, "training_time"]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--artifact", "momentumrnn_tabel14"], "momentumrnn_table14"),
        (["--artifact", "momentumrnn_table1"], "results_table"),
        (["--artifact", "momentumrnn_table14", "--config", '{"data": {"directory": "nowhere"}}'], "missing"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_line(ended, arguments, word):
    done = ended(measure_cost.main, *arguments, "--device", "cpu")
    assert done.code == 1 and word in done.err and done.err.count("\n") == 1


TARGET = "out/pilot/costs/momentumrnn_table14.csv"
MEASURES_NOTHING = f"""
import sys
from pathlib import Path


def main():
    _, artifact, _, threads = sys.argv[1:]
    assert sys.argv[1::2] == ["--artifact", "--threads"] and artifact == "{TABLE}"
    Path("{TARGET}").write_text(threads)


main()
"""


@pytest.mark.slow
def test_the_rule_measures_again_on_another_device_or_with_another_baseline(tmp_path):
    """In a copy of the repository in which measuring takes no time."""
    copy_repository(tmp_path)
    (tmp_path / "scripts/measure_cost.py").write_text(MEASURES_NOTHING, encoding="utf-8")
    configuration = load(read_yaml(tmp_path / "config.yaml") | SETTINGS | {"scale": "pilot"}, tmp_path)
    spec = artifact_named(configuration, TABLE).measured_runs()[0].spec
    prepared_data = tmp_path / configuration.paths.prepared(spec["dataset"], spec["data"])
    prepared_data.parent.mkdir(parents=True)
    prepared_data.touch()
    workflow = Workflow(tmp_path)
    workflow.edit("rules/measure.smk", '"Measuring the costs', '"With {resources}: measuring the costs')

    def run(*options, **settings):
        return workflow.run(TARGET, *options, scale="pilot", **settings)

    run("--cores", "1")
    assert configuration.scale.threads == 2
    assert (tmp_path / TARGET).read_text() == "1"  # no more than the job has
    assert "Nothing to be done" in run("--dry-run")
    said = run("--dry-run", "--profile", "profiles/slurm", device="cuda")
    assert "params have changed since last execution:\n        measure_cost" in said
    assert " --exclusive " in re.search(r"With (.*): measuring", said)[1]
    workflow.edit("config/scales.yaml", "pilot:\n", "pilot:\n  processes: 4\n")
    assert "params have changed since last execution:\n        measure_cost" in run("--dry-run")
    workflow.edit("config/scales.yaml", "  processes: 4\n", "")
    workflow.edit("published/momentumrnn/table14.yaml", "baseline: lstm", "baseline: sr_lstm")
    said = run("--dry-run")
    assert "updated input files:\n        measure_cost" in said and "params have changed" not in said
