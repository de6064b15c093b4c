"""The forecast: counts held to the real training loop, sums by hand, jobs held to Snakemake's, what is refused."""

import csv
import hashlib
import json
import re
import subprocess
import sys
from itertools import count

import numpy as np
import pytest
import torch
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from hidden_dynamics.training.building import build
from hidden_dynamics.data import digits, python_topics
from hidden_dynamics.data.synthetic_speech import prepare as synthetic_speech
from hidden_dynamics.errors import UserError
from hidden_dynamics.measurements.forecast import calibration as calibrations
from hidden_dynamics.measurements.forecast import costs, jobs, report, settings
from hidden_dynamics.measurements.forecast.calibration import Calibration
from hidden_dynamics.measurements.forecast.groups import key_of, representatives
from hidden_dynamics.measurements.forecast.probe import CLOCKS, at_whole, part_of, probe
from hidden_dynamics.measurements.forecast.queueing import Job, wall_time
from hidden_dynamics.measurements.forecast.stand_ins import arrays_like
from hidden_dynamics.measurements.forecast.workload import sizes_of, workload_of
from hidden_dynamics.configuration.runs import all_runs, code_of, find, identity, outputs_of, runs_of
from hidden_dynamics.training import loop, optimisers
from hidden_dynamics.training.checkpoint import Checkpoint
from hidden_dynamics.tasks.schedule import schedule_of

sys.path.insert(0, str(ROOT / "scripts"))
import forecast as step  # noqa: E402

ABOUT = {
    "processor": "made up",
    "device": "cpu",
    "threads": 1,
    "side_by_side": 1,
    "clock": "cpu",
    "wall_per_cpu": 1.0,
    "torch": "2.11.0",
    "python": "3.11",
    "date": "2026-11-21",
    "code": "none",
    "seconds": 1.0,
}
GROUP = {
    "task": "t",
    "model": "m",
    "data": "stand-in",
    "parameters": 10,
    "sizes": {"train_size": 100},
    "set_up": 0.5,
    "iteration": 2.0,
    "iterations": 5,
    "spread": 0.1,
    "batch": 10,
    "evaluation": 3.0,
    "evaluated": 1.0,
    "test": None,
    "saving": 0.0,
    "function_evaluations": None,
    "data_bytes": 1000,
    "model_bytes": 40,
    "checkpoint_bytes": 60,
    "memory_bytes": 7_000_000,
    "gpu_memory_bytes": 0,
}


def made_up(runs, about=None, start_up=4.0, train_size=100, **group):
    """A calibration in which all groups are alike."""
    keys = representatives(runs)
    rows = {key: {"rows": 40, "bptt": 10} for key, run in keys.items() if "LanguageModelling" in run.spec["task_class"]}
    groups = {key: GROUP | {"sizes": rows.get(key, {"train_size": train_size})} | group for key in keys}
    return Calibration(None, ABOUT | (about or {}), start_up, groups)


# Walls


SECONDS = st.lists(st.floats(0.01, 100), min_size=1, max_size=30)


@given(SECONDS, st.integers(1, 8))
def test_list_scheduling_lies_within_grahams_bounds(seconds, places):
    wall = wall_time([Job(str(name), s, {"place": 1}) for name, s in enumerate(seconds)], {"place": places})
    least = max(max(seconds), sum(seconds) / places)
    assert least <= wall * (1 + 1e-9)
    assert wall <= (2 - 1 / places) * least * (1 + 1e-9)


@given(SECONDS, st.integers(1, 4), st.data())
def test_jobs_that_wait_end_after_what_they_wait_for(seconds, places, data):
    after = [data.draw(st.sets(st.integers(0, max(0, n - 1)), max_size=2)) if n else set() for n in range(len(seconds))]
    chain = [0.0] * len(seconds)
    for n, waits in enumerate(after):
        chain[n] = seconds[n] + max((chain[other] for other in waits), default=0.0)
    given_ = [Job(str(n), s, {"place": 1}, [str(other) for other in after[n]]) for n, s in enumerate(seconds)]
    wall = wall_time(given_, {"place": places})
    assert max(chain) <= wall * (1 + 1e-9)
    assert wall <= (max(chain) + sum(seconds) / places) * (1 + 1e-9)


def test_walls_by_hand():
    five = [Job(str(n), s, {"place": 1}) for n, s in enumerate([3, 3, 2, 2, 2])]
    assert wall_time(five, {"place": 2}) == 7  # 3 and 3, then 2 and 2, then 2: longest first is not always the best
    assert wall_time(five, {"place": 5}) == 3
    alone = [*five, Job("alone", 1, {"place": 9}, priority=-1)]  # takes all there is, after the others
    assert wall_time(alone, {"place": 2}) == 8
    assert wall_time([Job("a", 1, {"place": 1}, ["done already"])], {"place": 1}) == 1
    assert wall_time([], {"place": 1}) == 0


def test_jobs_that_wait_for_each_other_are_refused():
    with pytest.raises(ValueError, match="wait for each other: a, b"):
        wall_time([Job("a", 1, {"x": 1}, ["b"]), Job("b", 1, {"x": 1}, ["a"])], {"x": 1})


# Iterations and evaluations are those of a real training


SMALL = {
    "pmnist/lstm-n32": {"batch_size": 700, "epochs": 2},
    "mnist/momentum_lstm-n32": {"batch_size": 600, "epochs": 2, "evaluate_every": 4},
    "pmnist_dtriv/dtriv-n24": {"batch_size": 800, "epochs": 1},
    "copying_1k/lstm-n32": {"batch_size": 4, "epochs": 7, "evaluate_every": 3},
    "adding/lstm-n32": {"batch_size": 4, "epochs": 2, "iterations_per_epoch": 3, "evaluate_every": 2},
    "timit/lstm-n24": {"batch_size": 40, "epochs": 2, "evaluate_every": 3},
    "ptb/lstm-n64": {"batch_size": 200, "epochs": 3},
    "ptb/momentum_lstm-n64": {"batch_size": 200, "epochs": 2, "evaluate_every": 4},
    "mnist_images/resnet-n8": {"batch_size": 500, "epochs": 3, "evaluate_every": 2},
    "svhn_images/resnet-n8": {"batch_size": 400, "epochs": 5, "evaluate_every": 3, "rates": {"until": 1.5}},
}


@pytest.mark.parametrize("name", SMALL)
def test_workload_is_that_of_the_training_loop(configured, tmp_path, name):
    task_name, variant = name.split("/")
    run = find(configured(), task_name, variant, 1)
    spec = {**run.spec, "training": {**run.spec["training"], **SMALL[name]}}
    if "images" in name:
        assert spec["training"]["drop_last"]
    run = type(run)(**{**vars(run), "spec": spec})
    arrays = arrays_like(spec["dataset"], spec["data"])
    task, network = build(run, arrays, torch.device("cpu"))
    updating = optimisers.build(network, spec["training"]["optimisers"])
    history = loop.train(spec, task, network, updating, Checkpoint(tmp_path, "x"), torch.device("cpu"))
    assert history.diverged_at is None
    schedule = schedule_of(spec["training"], task, 1)
    workload = workload_of(spec["training"], sizes_of(schedule), 1)
    assert workload.iterations == history.iteration == len(history.losses)
    assert workload.evaluations == len(history.metrics)
    if task_name == "ptb":
        lengths = [schedule.indices(place)[1][1] for place in range(history.iteration)]
        assert workload.rows == pytest.approx(np.mean(lengths))
        assert len(set(lengths)) > 1
    else:
        assert workload.rows == 1


def test_a_schedule_of_ones_own_cannot_be_counted():
    with pytest.raises(UserError, match="object is no schedule that the forecast can count"):
        sizes_of(object())


# Costs by hand


def test_cost_of_a_run_by_hand(configured):
    run = find(configured(), "pmnist", "lstm-n32", 0)  # 12 epochs, batches of 64
    cost = costs.cost_of(run, made_up([run], saving=1.0))
    assert (cost.workload.iterations, cost.workload.evaluations) == (24, 12)  # two batches of 100 examples
    assert cost.loop == 24 * 2.0 + 12 * 3.0
    assert cost.around == pytest.approx(0.5 + 1.0 * (2 + 84 / 50))  # a saving a second long: once in fifty
    history = 24 * 16 + 12 * 300
    assert cost.kept == 40 + 60 + history + 4000
    assert cost.transient == 60 + history
    assert costs.cost_of(run, made_up([run], test=5.0)).loop == 24 * 2.0 + 12 * 3.0 + 5.0


def test_cost_of_a_text_counts_its_rows(configured):
    run = find(configured(), "ptb", "lstm-n64", 0)  # 6 epochs of 40 rows, the last of which is a target alone
    cost = costs.cost_of(run, made_up([run]))
    assert cost.loop == pytest.approx(6 * 39 * 2.0 + 6 * 3.0)


def test_gradients_recorded_take_room(configured):
    run = find(configured(), "pmnist_gradients", "dtriv-n24", 0)
    without = {**run.spec, "training": {k: v for k, v in run.spec["training"].items() if k != "record_gradients"}}
    plain = type(run)(**{**vars(run), "spec": without})
    more = costs.cost_of(run, made_up([run])).kept - costs.cost_of(plain, made_up([plain])).kept
    assert more == 12 * 784 * 8  # every second of 24 iterations


def test_runs_that_cost_alike_share_a_group(configured):
    def key(name, seed=0, **changes):
        return key_of(find(configured(**changes), *name.split("/"), seed))

    assert key("mnist/lstm-n32") == key("pmnist/lstm-n32", seed=1)  # the order of the pixels costs nothing
    assert key("timit/lstm-n24") == key("timit_recall/lstm-n24")
    assert key("mnist_ablation/momentum_lstm-mu0.9-s0.1") == key("mnist_ablation/momentum_lstm-mu0.0-s1.0")
    assert key("mnist/lstm-n32") != key("mnist/lstm-n48")
    assert key("mnist/lstm-n32") != key("mnist/lstm-n32", precision="tf32")
    assert key("pmnist_dtriv/dtriv-n24") != key("pmnist_gradients/dtriv-n24")
    fewer = {"tasks": {"mnist": {"training": {"batch_size": 32}}}}
    longer = {"tasks": {"mnist": {"training": {"epochs": 99, "optimisers": {"main": {"lr": 1.0}}}}}}
    assert key("mnist/lstm-n32") != key("mnist/lstm-n32", overrides=fewer)
    assert key("mnist/lstm-n32") == key("mnist/lstm-n32", overrides=longer)


# Plans


MACHINE = jobs.Machine(cores=2, threads=1)


def test_the_total_counts_shared_runs_once(configured, tmp_path):
    configuration = configured(results=str(tmp_path))
    runs = all_runs(configuration)
    plan = jobs.plan_of(configuration, made_up(runs), MACHINE)
    result = report.forecast(configuration, made_up(runs), MACHINE, plan)
    trainings = sum(plan.jobs[name].seconds for name in plan.runs)
    measuring = sum(job.seconds for name, job in plan.jobs.items() if name.startswith("measure"))
    assert result.total.device_hours * 3600 == pytest.approx(trainings + measuring)
    assert trainings == pytest.approx(
        sum(costs.cost_of(run, made_up(runs)).seconds for run in runs) + len(plan.runs) * 4.0 * (1 + jobs.SNAKEMAKE)
    )
    assert result.total.runs == len(runs) == sum(len(trained) for trained in plan.runs.values())
    rows = {row.artifact: row for row in result.rows}
    assert list(rows) == list(configuration.artifacts)
    # Tables 1 and 11 are made of the same two tasks, Table 6 of the configuration alone.
    assert rows["momentumrnn_table1"].device_hours == rows["momentumrnn_table11"].device_hours > 0
    assert rows["momentumrnn_table6"].device_hours == rows["momentumrnn_table6"].runs == 0
    assert sum(row.device_hours for row in result.rows) > 1.5 * result.total.device_hours
    assert result.total.device_hours_left == result.total.device_hours
    assert result.total.disk_bytes < sum(row.disk_bytes for row in result.rows)
    assert max(row.wall_hours for row in result.rows) <= result.total.wall_hours
    assert result.total.memory_bytes == 7_000_000


def test_an_artifact_alone_costs_the_jobs_that_train_its_runs(configured, tmp_path):
    name = "momentumrnn_table11"
    for together in ([], ["model"], ["seed"], ["model", "seed"]):
        configuration = configured(results=str(tmp_path), forecast={"artifacts": [name]})
        configuration.scale["together"] = together
        runs = settings.runs_to_forecast(configuration)
        shown = {run.id for run in runs_of(configuration, name)}
        assert shown <= {run.id for run in runs}
        assert ({run.id for run in runs} == shown) == ("model" not in together)
        plan = jobs.plan_of(configuration, made_up(runs), MACHINE)
        each = {(): len(runs), ("model",): 4, ("seed",): len(runs) // 2, ("model", "seed"): 2}[tuple(together)]
        assert len(plan.runs) == each


def test_finished_runs_are_not_paid_again(configured, tmp_path):
    configuration = configured(results=str(tmp_path), forecast={"artifacts": ["momentumrnn_table11"]})
    runs = settings.runs_to_forecast(configuration)
    calibration = made_up(runs)

    def total():
        plan = jobs.plan_of(configuration, calibration, MACHINE)
        return report.forecast(configuration, calibration, MACHINE, plan).total

    before = total()
    finish(configuration, runs[0])
    one = total()
    assert (one.finished, one.device_hours) == (1, before.device_hours)
    assert (before.device_hours_left - one.device_hours_left) * 3600 == pytest.approx(
        costs.cost_of(runs[0], calibration).seconds
    )
    record = tmp_path / "demo/runs" / runs[0].id / "run.json"
    record.write_text(json.dumps({"fingerprint": "of another specification", "dataset": {"digest": "d"}}))
    assert total() == before
    record.write_text("{")
    assert total() == before
    for run in runs:
        finish(configuration, run)
    assert (total().finished, total().device_hours_left) == (len(runs), 0)


def finish(configuration, run):
    """The files of a finished run, as far as a forecast looks at them."""
    for file in outputs_of(configuration, run.task):
        path = ROOT / run.directory / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    fingerprint = hashlib.sha256((identity(run) + "digest").encode()).hexdigest()
    record = {"fingerprint": fingerprint, "dataset": {"digest": "digest"}}
    (ROOT / run.directory / "run.json").write_text(json.dumps(record))


def test_more_gpus_take_less_time(configured, tmp_path):
    configuration = configured(scale="paper", results=str(tmp_path))
    runs = all_runs(configuration)
    on_gpu = made_up(runs, about={"device": "some GPU"}, train_size=1280, gpu_memory_bytes=5_000_000)
    machine = jobs.Machine(cores=8, threads=2, gpus=2, runs_per_gpu=3)
    plan = jobs.plan_of(configuration, on_gpu, machine)
    result = report.forecast(configuration, on_gpu, machine, plan)
    assert list(result.walls.values()) == sorted(result.walls.values(), reverse=True)
    assert result.total.wall_hours_left == result.walls[2]
    seconds = sum(plan.jobs[name].seconds for name in plan.jobs if name.startswith(("train", "measure")))
    assert result.total.device_hours == pytest.approx(seconds / 3 / 3600)
    assert result.walls[2] >= result.total.device_hours / 2
    text = report.as_markdown(configuration, on_gpu, machine, result)
    assert "GPU hours" in text and "2 GPUs, 3 runs on each" in text


def test_the_jobs_are_those_of_snakemake(configured, tmp_path):
    """Of the demo, by rule; downloads, which take no time here, are none there."""
    settings_ = {"results": str(tmp_path / "results"), "data": {"directory": str(tmp_path / "data"), "mirror": None}}
    configuration = configured(**settings_)
    plan = jobs.plan_of(configuration, made_up(all_runs(configuration)), MACHINE)
    given = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in settings_.items()]
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--dry-run", "--quiet", "rules"]
    out = subprocess.run([*command, "--config", *given], cwd=ROOT, capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    rules = dict(re.findall(r"^(\w+) +(\d+)$", out.stdout + out.stderr, flags=re.MULTILINE))
    for start, pattern in {
        "train ": "train_",
        "prepare ": "prepare",
        "summarise ": "summarise",
        "render ": "render_(table|figure)",
        "measure costs": "measure_cost",
        "measure features": "measure_features",
    }.items():
        expected = sum(int(number) for rule, number in rules.items() if re.match(pattern, rule))
        assert sum(name.startswith(start) for name in plan.jobs) == expected > 0, start


# Calibrations on disk


def test_a_calibration_that_cannot_be_used_is_refused_with_what_to_do(configured, tmp_path):
    path = tmp_path / "calibration.json"
    with pytest.raises(UserError, match="is missing: scripts/calibrate.py makes it"):
        calibrations.read(path)
    runs = all_runs(configured())
    good = made_up(runs)
    calibrations.write(path, good.about, good.start_up, good.groups)
    assert calibrations.read(path) == good
    whole = path.read_text()
    for damaged in (whole[:-20], "", "[]", whole.replace('"iteration": 2.0', '"iteration": -2.0', 1), "\x00"):
        path.write_text(damaged)
        with pytest.raises(UserError, match=f"Remove {re.escape(str(path))} and give the same command again"):
            calibrations.read(path)
    with pytest.raises(UserError, match="has no measurement of pmnist/lstm-n128/seed0.*forecast.calibration: null"):
        good.of(find(configured(scale="paper"), "pmnist", "lstm-n128", 0))
    with pytest.raises(UserError, match=r"there is no calibrations/nowhere.json. Stored: .*null measures"):
        step.calibration_of(configured(forecast={"calibration": "nowhere"}), None)
    with pytest.raises(UserError, match="--calibration is needed"):
        step.calibration_of(configured(), None)


@pytest.mark.parametrize("path", sorted((ROOT / "calibrations").glob("*.json")), ids=lambda path: path.stem)
def test_stored_calibrations_are_whole(path):
    stored = calibrations.read(path, path.stem)
    assert stored.about["processor"]
    assert stored.groups


def test_what_is_wrong_in_the_settings_is_named(configured):
    for wrong in ({"gpus": 0}, {"second": 1}, {"calibration": "../x"}, {"artifacts": []}):
        with pytest.raises(UserError, match="config.yaml: forecast"):
            configured(forecast=wrong)
    with pytest.raises(UserError, match="forecast.artifacts: unknown artifact 'momentumrnn_table99'"):
        settings.runs_to_forecast(configured(forecast={"artifacts": ["momentumrnn_table99"]}))


def test_the_settings_change_no_run(configured):
    changed = configured(forecast={"gpus": 8, "seconds": 9, "artifacts": ["momentumrnn_table1"]})
    assert [identity(run) for run in all_runs(changed)] == [identity(run) for run in all_runs(configured())]


def test_the_code_of_a_calibration_is_that_of_its_runs(configured):
    lstm, momentum = (find(configured(), "mnist", f"{model}-n32", 0) for model in ("lstm", "momentum_lstm"))
    assert code_of(lstm) != code_of(momentum)
    assert calibrations.code_of_all([lstm]) != calibrations.code_of_all([momentum])
    assert calibrations.code_of_all([lstm]) == calibrations.code_of_all([find(configured(), "mnist", "lstm-n32", 1)])


# The step


def test_the_step_prints_and_writes_the_forecast_without_torch(configured, tmp_path):
    configuration = configured(results=str(tmp_path / "results"))
    good = made_up(all_runs(configuration), function_evaluations=[30.0, 30.0])
    path, output = tmp_path / "calibration.json", tmp_path / "forecast"
    calibrations.write(path, good.about | {"wall_per_cpu": 3.0}, good.start_up, good.groups)
    code = (
        "import sys, runpy; sys.argv = sys.argv[1:]; sys.path.insert(0, 'scripts')\n"
        "try: runpy.run_path('scripts/forecast.py', run_name='__main__')\n"
        "finally: print('torch' in sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, "forecast.py", "--calibration", path, "--cores", "2", "--output", output]
    given_ = ["--config", json.dumps({"results": str(tmp_path / "results")})]
    out = subprocess.run([*map(str, command), *given_], cwd=ROOT, capture_output=True, text=True)
    assert (out.returncode, out.stderr) == (0, "False\n")
    text = output.with_suffix(".md").read_text()
    assert text.strip() == out.stdout.strip()
    assert "3.0 seconds of the wall to one of CPU time" in text
    assert "100% of the training time is that of ODE solvers" in text
    with open(output.with_suffix(".csv")) as handle:
        rows = list(csv.DictReader(handle))
    assert [row["artifact"] for row in rows] == [*configuration.artifacts, "total"]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["calibration.json", "forecast.csv", "forecast.md"]


def test_units():
    assert [report.duration(h) for h in (0.005, 0.1, 2, 100, 20_000)] == ["18 s", "6.0 min", "2.0 h", "4.2 d", "2.3 y"]
    assert [report.size(b) for b in (999, 2e6, 5.5e9, 3e13)] == ["1 kB", "2.0 MB", "5.5 GB", "30 TB"]
    assert [report.hours(h) for h in (0, 0.01234, 5.678, 12345.6)] == ["0", "0.0123", "5.68", "12,346"]


# Measuring


@given(st.floats(0, 10), st.floats(0.01, 10))
def test_smaller_parts_tell_of_the_whole_on_a_straight_line(constant, slope):
    tried = [(size, constant + slope * size) for size in (8, 32)]
    assert at_whole(tried, 128) == pytest.approx(constant + slope * 128)
    assert at_whole([*tried, (128, 7.0)], 128) == 7.0
    assert at_whole([(32, 5.0)], 128) == 20.0
    assert at_whole([(8, 5.0), (32, 4.0)], 128) == 4.0  # noise makes no time negative


STANDING_IN = {
    "digits": ({"enlarge": 2}, digits.prepare),
    "python_topics": ({"vocabulary": 1000}, python_topics.prepare),
    "synthetic_speech": (
        {"train": 6, "validation": 3, "test": 2, "shortest": 300, "longest": 600, "seed": 0},
        synthetic_speech,
    ),
}


@pytest.mark.parametrize("name", STANDING_IN)
def test_stand_ins_have_the_shapes_of_the_data(name):
    given_, prepare = STANDING_IN[name]
    real, random = prepare(None, given_), arrays_like(name, given_)
    assert set(real) == set(random)
    for key, array in real.items():
        if not key.endswith("_frames"):  # lengths are drawn; of a text, another Python may have more or fewer words
            assert random[key].shape == pytest.approx(array.shape, rel=0.1), key
        if array.dtype.kind != "U":
            assert random[key].dtype == array.dtype
    for split in ("train", "validation", "test") if name == "synthetic_speech" else ():
        assert random[f"{split}_lengths"].sum() == len(random[f"{split}_frames"])
        assert random[f"{split}_lengths"].max() <= 600 * 8 / 128 + 4


def test_a_dataset_of_unknown_shape_is_to_be_prepared_first():
    with pytest.raises(UserError, match="the shapes of the dataset mine are not known before it is prepared"):
        arrays_like("mine", {})


def test_all_datasets_of_the_papers_have_stand_ins(configured):
    for scale in ("pilot", "paper"):
        for dataset in {task["dataset"] for task in configured(scale=scale).tasks.values()} - {"copying", "adding"}:
            arrays = arrays_like(dataset, {})
            assert sum(array.nbytes for array in arrays.values()) > 1e6
            few, _, share = part_of(arrays, {}, 0.25, 100)
            assert share == pytest.approx(0.25, abs=0.05)
            whole = sum(array.nbytes for array in arrays.values())
            assert sum(array.nbytes for array in few.values()) < (whole if "vocabulary" in arrays else 0.6 * whole)


PROBED = ["mnist/lstm-n32", "adding/lstm-n32", "timit/lstm-n24", "ptb/lstm-n64", "cifar10_images/ode_net-n8"]


@pytest.mark.parametrize("name", PROBED)
@pytest.mark.parametrize("seconds", [0.0, 0.5], ids=["no time", "some time"])
def test_a_probe_gives_what_a_calibration_has(configured, tmp_path, monkeypatch, name, seconds):
    run = find(configured(), *name.split("/"), 0)
    ticks = count()  # a clock that tells a second more whenever it is asked: no test depends on the machine's
    monkeypatch.setitem(CLOCKS, "ticks", lambda: float(next(ticks)))
    arrays = arrays_like(run.spec["dataset"], run.spec["data"])
    found = probe(run, arrays, torch.device("cpu"), 100 * seconds, "ticks")
    group = {"task": run.task, "model": run.variant, "data": "stand-in", **found}
    calibrations.write(tmp_path / "c.json", ABOUT, 1.0, {key_of(run): group})
    assert found["batch"] == run.spec["training"]["batch_size"] or not seconds
    assert (found["iterations"] > 0) == bool(seconds)
    assert (found["test"] is None) == (run.task not in ("ptb", "cifar10_images"))
    assert (found["function_evaluations"] is None) == (run.task != "cifar10_images")
    network = build(run, arrays, torch.device("cpu"))[1]
    assert found["model_bytes"] == sum(tensor.nbytes for tensor in network.state_dict().values())
    assert found["checkpoint_bytes"] > found["model_bytes"]
    assert costs.cost_of(run, calibrations.read(tmp_path / "c.json")).loop > 0
