"""The forecast: costs held to the real training's counts, sums by hand, what is refused."""

import json
from dataclasses import replace
from itertools import count

import calibrate
import forecast as step
import numpy as np
import pytest
import torch
from conftest import printed_by, refused
from hypothesis import given
from hypothesis import strategies as st
from loops import CPU, run_loop
from made import change_record, make_run

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.configuration import merge
from hidden_dynamics.configuration.runs import GRADIENTS, OUTPUTS, all_runs, code_of, find, runs_on
from hidden_dynamics.measurements import forecast_measurement
from hidden_dynamics.measurements.calibration import Calibration, Cost, chosen, read
from hidden_dynamics.measurements.forecast import Machine, as_markdown, forecast, taken
from hidden_dynamics.measurements.forecast_measurement import EVALUATIONS, alike, arrays_of, measure
from hidden_dynamics.results.rows import read_rows
from hidden_dynamics.training import devices
from hidden_dynamics.training.building import build

WHERE = {"processor": "made up", "threads": 1, "side_by_side": {"cpu": 1}, "date": "2026-11-21"}
MACHINES = {"cpu": Machine(places=2, part=1)}


def made_up(runs, on=None, **where):
    """A calibration in which runs cost 1 s, 2 s, 3 s, ... on the device of their task, or else on the CPU."""
    device_of = {run.task: (on or {}).get(run.task, "cpu") for run in runs}
    costs = {
        run.id: Cost(measured=run.id, device=device_of[run.task], seconds=1.0 + place, memory=7_000_000, gpu_memory=0)
        for place, run in enumerate(runs)
    }
    return Calibration(**WHERE | where, costs=costs)


def runs_by_artifact(configuration):
    return chosen(configuration, {name: artifact.runs for name, artifact in load_artifacts(configuration).items()})


def total_of(*given_):
    return list(forecast(*given_))[-1]


SMALL = {
    "pmnist/lstm-n32": {"batch_size": 700, "epochs": 2},
    "copying_1k/lstm-n32": {"batch_size": 4, "epochs": 7, "evaluate_every": 3},
    "adding/lstm-n32": {"batch_size": 4, "epochs": 2, "iterations_per_epoch": 3, "evaluate_every": 2},
    "timit/lstm-n24": {"batch_size": 40, "epochs": 2, "evaluate_every": 3},
    "ptb/momentum_lstm-n48": {"batch_size": 200, "epochs": 2, "evaluate_every": 4},
    "svhn_images/resnet-n8": {"batch_size": 400, "epochs": 5, "evaluate_every": 3, "rates": {"until": 1.5}},
}


@pytest.mark.parametrize("name", SMALL)
def test_a_run_costs_its_building_and_each_unit_of_the_work_that_the_training_loop_does(configured, tmp_path, name):
    run = find(configured(), *name.split("/"), 1)
    small = {key: 2 for key in ("hidden_size", "embedding_size") if key in run.spec["hyperparameters"]}
    spec = merge(run.spec, {"training": SMALL[name], "hyperparameters": small})
    run = replace(run, spec=spec)
    arrays = arrays_of(configured(), run)
    task, network = build(run, arrays, CPU)
    done = run_loop(tmp_path, spec, task, network)[0].iteration
    schedule = task.schedule(spec["training"], 1)
    work = [schedule.work(place) for place in range(done)]
    assert (len(set(work)) > 1) == name.startswith("ptb")
    ticks = count()  # a clock that tells a second more whenever it is asked: no test depends on the machine's
    found = Cost(device="cpu", **measure(run, arrays, CPU, lambda: float(next(ticks))))
    timed = work[1:21] or work
    unit = np.mean([1 / units for units in timed])
    assert found.seconds == pytest.approx(1 + (1 + EVALUATIONS) * sum(work) * unit, rel=0.3 if "ptb" in name else 1e-9)
    assert found.measured == run.id and found.memory > 1e8


def test_runs_that_cost_alike_are_measured_once(configured):
    def key(name, seed=0, **changes):
        return alike(find(configured(**changes), *name.split("/"), seed))

    four = {"overrides": {"tasks": {"mnist": {"training": {"epochs": 4, "evaluate_every": 5}}}, "artifacts": {}}}
    assert key("mnist/lstm-n32", **four) == key("pmnist/lstm-n32", seed=1)  # the order of the pixels costs nothing
    assert key("mnist/lstm-n32") != key("pmnist/lstm-n32")  # of other epochs
    assert key("timit/lstm-n24") == key("timit_recall/lstm-n24")
    other = {"forget_fill": "once", "pixel_values": "binary", "copying_readout": "exprnn"}
    for name in ("mnist/lstm-n32", "copying_1k/lstm-n32"):
        assert key(name) == key(name, variants=other)
    assert key("mnist_ablation/momentum_lstm-mu0.9-s0.1") == key("mnist_ablation/momentum_lstm-mu0.0-s1.0")
    assert key("mnist/lstm-n32") != key("mnist/lstm-n48")
    assert key("mnist/lstm-n32") != key("mnist/lstm-n32", precision="tf32")
    assert key("pmnist_dtriv/dtriv-n24") != key("pmnist_gradients/dtriv-n24")
    for wanted, training in ((False, {"batch_size": 32}), (True, {"optimisers": {"main": {"lr": 1.0}}})):
        changed = {"tasks": {"mnist": {"training": training}}, "artifacts": {}}
        assert (key("mnist/lstm-n32") == key("mnist/lstm-n32", overrides=changed)) is wanted


def test_the_total_counts_shared_runs_once(configured, tmp_path):
    configuration = configured(results=str(tmp_path))
    runs, runs_of = runs_by_artifact(configuration)
    assert [run.id for run in runs] == [run.id for run in all_runs(configuration)]
    calibration = made_up(runs)
    *rows, total = forecast(configuration, calibration, MACHINES, runs, runs_of)
    seconds = [calibration.of(run).seconds for run in runs]
    assert total["runs"] == len(runs)
    assert total["core_hours"] * 3600 == pytest.approx(sum(seconds))
    assert total["longest_hours"] * 3600 == max(seconds)
    rows = {row["artifact"]: row for row in rows}
    assert list(rows) == list(load_artifacts(configuration))
    # Tables 1 and 11 share runs, Table 6 is made of the configuration alone.
    assert {run.id for run in runs_of["momentumrnn_table1"]} & {run.id for run in runs_of["momentumrnn_table11"]}
    assert rows["momentumrnn_table11"]["runs"] == len(runs_of["momentumrnn_table11"])
    assert rows["momentumrnn_table6"]["core_hours"] == rows["momentumrnn_table6"]["runs"] == 0
    assert total["core_hours_left"] == total["core_hours"] and total["memory_bytes"] == 7_000_000


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=30), st.integers(1, 8))
def test_runs_in_any_order_take_at_least_the_bounds(seconds, places):
    ends = [0.0] * places
    for each in seconds:  # list scheduling (Graham 1966)
        ends[ends.index(min(ends))] += each
    least = Machine(places, 1).least_hours(seconds) * 3600
    assert least <= max(ends) * (1 + 1e-9)
    assert max(ends) <= (2 - 1 / places) * least * (1 + 1e-9)


def test_places_share_gpus_and_cores(configured):
    settings = configured(forecast={"gpus": 2}).settings
    mixed = step.machines_of(settings, made_up([], threads=3, side_by_side={"cpu": 5, "A GPU": 3}), cores=8)
    assert mixed == {"cpu": Machine(2, 3), "A GPU": Machine(6, 1 / 3, on_gpu=True)}
    assert mixed["A GPU"].device_hours([3600, 7200]) == pytest.approx(1.0)
    assert step.machines_of(settings, made_up([], threads=3), cores=2) == {"cpu": Machine(1, 2)}


@pytest.mark.parametrize(("on_gpu", "waited_for"), [(["mnist"], "cpu"), (["pmnist", "timit"], "A GPU")])
def test_hours_of_gpus_and_of_cores_are_told_apart_and_the_wall_is_that_of_the_later(
    configured, tmp_path, on_gpu, waited_for
):
    configuration = configured(only=["mnist", "pmnist", "timit"], results=str(tmp_path))  # none has finished there
    runs, runs_of = runs_by_artifact(configuration)
    calibration = made_up(runs, dict.fromkeys(on_gpu, "A GPU"), side_by_side={"cpu": 4, "A GPU": 2})
    machines = {"cpu": Machine(4, 1), "A GPU": Machine(4, 1 / 2, on_gpu=True)}
    *rows, total = forecast(configuration, calibration, machines, runs, runs_of)
    costs = calibration.costs.values()
    seconds = {device: [cost.seconds for cost in costs if cost.device == device] for device in machines}
    assert total["gpu_hours"] * 3600 == pytest.approx(sum(seconds["A GPU"]) / 2)
    assert total["core_hours"] * 3600 == pytest.approx(sum(seconds["cpu"]))
    assert total["least_wall_hours_left"] == machines[waited_for].least_hours(seconds[waited_for])
    text = as_markdown(configuration, calibration, machines, [*rows, total])
    assert all(part in text for part in ("GPU hours", "core hours", "GPU memory", "A GPU, 2 side", "made up, 4 side"))
    of_cores = total_of(configuration, made_up(runs), MACHINES, runs, runs_of)
    assert "GPU" not in as_markdown(configuration, made_up(runs), MACHINES, [of_cores])


def test_finished_runs_are_not_paid_again(configured, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    configuration = configured(forecast={"artifacts": ["momentumrnn_table11"]})
    runs, runs_of = runs_by_artifact(configuration)
    assert [run.id for run in runs] == [run.id for run in runs_of["momentumrnn_table11"]]
    calibration = made_up(runs)

    def total():
        return total_of(configuration, calibration, MACHINES, runs, runs_of)

    before = total()
    files = finish(tmp_path, configuration, runs[0])
    one = total()
    assert (one["finished"], one["core_hours"]) == (1, before["core_hours"])
    seconds = calibration.of(runs[0]).seconds
    assert (before["core_hours_left"] - one["core_hours_left"]) * 3600 == pytest.approx(seconds)
    change_record(files, code="of other code")
    assert total() == before
    (files.directory / "run.json").write_text("{")
    assert total() == before
    assert taken(configuration, calibration, runs) == []
    for run in runs:
        finish(tmp_path, configuration, run)
    held = taken(configuration, calibration, runs)
    assert [row["task"] for row in held] == ["mnist", "pmnist"] and sum(row["finished"] for row in held) == len(runs)
    assert sum(row["forecast_hours"] for row in held) == pytest.approx(before["core_hours"])
    each = sum(json.loads((files.directory / "run.json").read_text())["seconds"].values()) / 3600
    assert [row["taken_hours"] for row in held] == pytest.approx([each * row["finished"] for row in held])
    assert held[0]["error"] == pytest.approx(held[0]["forecast_hours"] / held[0]["taken_hours"] - 1)
    text = as_markdown(configuration, calibration, MACHINES, [total()], held)
    assert all(f"| {row['task']} " in text and f"{row['error']:+.0%}" in text for row in held)
    assert (total()["finished"], total()["core_hours_left"], total()["least_wall_hours_left"]) == (len(runs), 0, 0)


def finish(root, configuration, run):
    files = make_run(root, configuration, run, weights={}, code=code_of(run))
    assert {path.name for path in files.directory.iterdir()} - {GRADIENTS} == set(OUTPUTS)
    return files


def test_a_calibration_that_cannot_be_used_is_refused(configured, tmp_path):
    path = tmp_path / "calibration.json"
    with refused("No such file", file=path):
        read(path)
    good = made_up(all_runs(configured()))
    good.write(path)
    assert read(path) == good
    whole = path.read_text()
    for damaged in (whole[:-20], "", "[]", whole.replace('"seconds": 2.0', '"seconds": -2.0', 1), "\x00"):
        path.write_text(damaged)
        with refused(file=path):
            read(path)
    with refused("pmnist/lstm-n128/seed0"):
        good.of(find(configured(scale="paper"), "pmnist", "lstm-n128", 0))


def test_what_is_wrong_in_the_settings_is_named_and_what_is_right_changes_no_run(configured):
    for wrong in ({"gpus": 0}, {"seconds": 1}, {"artifacts": []}):
        with refused("config.yaml: forecast"):
            configured(forecast=wrong)
    with refused("momentumrnn_table99", key="forecast.artifacts"):
        runs_by_artifact(configured(forecast={"artifacts": ["momentumrnn_table99"]}))
    changed = configured(forecast={"gpus": 8, "artifacts": ["momentumrnn_table1"]})
    assert [run.identity for run in all_runs(changed)] == [run.identity for run in all_runs(configured())]


WITHOUT_TORCH = """
import runpy, sys
sys.path.insert(0, "scripts")
try:
    runpy.run_path("scripts/forecast.py", run_name="__main__")
finally:
    assert "torch" not in sys.modules
"""


def test_the_step_prints_and_writes_the_forecast_without_torch(configured, tmp_path):
    settings = {"results": str(tmp_path / "results")}
    path, output = tmp_path / "calibration.json", tmp_path / "forecast"
    made_up(all_runs(configured(**settings))).write(path)
    options = ["--calibration", path, "--cores", 2, "--output", output, "--config", json.dumps(settings)]
    printed = printed_by(WITHOUT_TORCH, *map(str, options))
    assert output.with_suffix(".md").read_text().strip() == printed.strip()
    rows = read_rows(output.with_suffix(".csv"))
    assert [row["artifact"] for row in rows] == [*load_artifacts(configured()), "total"]


def test_a_dataset_of_unknown_shape_is_to_be_prepared_first(configured):
    configuration = configured(scale="paper")
    run = find(configuration, "mnist", "lstm-n128", 0)
    faces = replace(configuration, datasets={"faces": configuration.datasets["mnist"]})
    with refused("prepare", key="faces"):
        arrays_of(faces, replace(run, spec={**run.spec, "dataset": "faces"}))


def test_all_datasets_of_the_papers_have_shapes(configured, tmp_path):
    for scale in ("evening", "pilot", "paper"):
        configuration = configured(scale=scale, data={"directory": str(tmp_path), "mirror": None})
        for task in {entry.dataset: name for name, entry in configuration.tasks.items()}.values():
            arrays = arrays_of(configuration, next(run for run in all_runs(configuration) if run.task == task))
            assert sum(array.nbytes for array in arrays.values()) > 5e3


def test_every_group_is_measured_once_in_a_process_of_its_own(configured):
    runs = [run for run in runs_on(configured(), "adding", [0, 1]) if run.model in ("lstm", "momentum_lstm")]
    first, found = forecast_measurement.calibrate(configured(), {CPU: runs}, places={CPU: 2}, threads=1)
    assert first.costs.items() < found.costs.items()  # each is given as it comes
    assert found.costs.keys() == {run.id for run in runs} and found.side_by_side == {"cpu": 2}
    assert {cost.measured for cost in found.costs.values()} == {run.id for run in runs if run.seed == 0}
    assert all(cost.seconds > 0 and cost.memory > 1e8 for cost in found.costs.values())


def test_each_run_is_calibrated_on_the_device_of_its_task(ended, monkeypatch, tmp_path):
    def measured(configuration, device, threads, preload, members):
        return Cost(measured=members[0].id, device=devices.name_of(device), seconds=1.0, memory=1, gpu_memory=0)

    monkeypatch.setattr(forecast_measurement, "_cost_of", measured)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(devices, "name_of", lambda device: {"cpu": "cpu", "cuda": "A GPU"}[device.type])
    on = {"timit": "cuda", "timit_recall": "cpu", "adding": "auto"}  # timit's runs cost what those of timit_recall do
    settings = json.dumps({"device": {"default": "cpu"} | on, "only": [*on, "mnist"], "runs_per_gpu": 3})
    path, options = tmp_path / "calibration.json", ["--cores", "4", "--threads", "1", "--config", settings]
    ended(calibrate.main, "--output", path, *options)
    found = read(path)
    assert found.side_by_side == {"cpu": 4, "A GPU": 3}
    on_gpu = {"timit", "adding"}
    for run, cost in found.costs.items():
        assert (cost.device == "A GPU") == (run.split("/")[0] in on_gpu) == (cost.measured.split("/")[0] in on_gpu)
    assert {run.split("/")[0] for run in found.costs} == {*on, "mnist"}


def test_a_run_without_a_finite_loss_cannot_be_timed(configured):
    run = find(configured(), "timit", "lstm-n24", 0)
    lost = {
        key: array * np.nan if array.dtype.kind == "f" else array for key, array in arrays_of(configured(), run).items()
    }
    with refused(run.id):
        measure(run, lost, CPU, lambda: 0.0)
