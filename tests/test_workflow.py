"""The workflow as its users meet it: real Snakemake, in a copy of the repository, on runs of seconds.

The copy has additions of a user's own. It is run once, and every test that changes something works in a copy of its own
of what came out.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest
import yaml
from conftest import ROOT, wait_until
from repository import PARITY, SETTINGS, TARGETS, TINY, Workflow, add_what_a_user_adds, copy_repository
from rules_read import rules_with

from hidden_dynamics.configuration import load
from hidden_dynamics.configuration.runs import all_runs
from hidden_dynamics.results.archives import KEPT, write
from hidden_dynamics.system.locks import alone

pytestmark = pytest.mark.slow

FILTERS = "hidden_dynamics/models/momentum/filters.py"
WITH_THE_EQUATION = {"momentum_lstm-n4", "momentum_lstm-n6", "scaled_lstm-n4", "gain_lstm-n4"}
ARTIFACTS = list(yaml.safe_load((ROOT / "config/artifacts.yaml").read_text(encoding="utf-8")))


def copied(workflow, root):
    shutil.copytree(workflow.root, root)
    return Workflow(root)


@pytest.fixture(scope="session")
def repository(tmp_path_factory):
    """A copy of the repository with a user's additions, in which nothing has run."""
    root = tmp_path_factory.mktemp("repository")
    copy_repository(root)
    add_what_a_user_adds(root)
    return Workflow(root)


@pytest.fixture(scope="session")
def finished(repository, tmp_path_factory, worker_id):
    """The same, with a table, a figure, a table of hyperparameters and a run of the user's task made.

    It is made once for all of pytest's workers, which leave it as it is.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    root, whole = shared / "finished" / "repository", shared / "finished" / "whole"
    with alone(shared / "finished.lock", "a finished workflow"):
        if not whole.exists():
            shutil.rmtree(root, ignore_errors=True)
            copied(repository, root).run(*TARGETS)
            whole.touch()
    return Workflow(root)


@pytest.fixture
def workflow(finished, tmp_path):
    """A copy of what has run, to change."""
    return copied(finished, tmp_path / "repository")


def test_artifacts_are_made_from_trained_runs_and_have_what_the_user_added(finished):
    folder = finished.root / "out/demo"
    made = {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")}
    for name in ("momentumrnn_table11", "momentumrnn_table7", "mine_table1"):
        assert {f"tables/{name}.{form}" for form in ("csv", "md", "html")} <= made
    assert {f"figures/momentumrnn_figure9.{form}" for form in ("md", "pdf", "png")} <= made
    records = [json.loads(path.read_text()) for path in finished.root.glob("out/demo/runs/*/*/seed0/run.json")]
    assert len(records) == 12 + 1 + 1  # mnist with two controls, the user's cell, the user's task
    assert {record["status"] for record in records} == {"finished"}
    assert {record["dataset"]["stand_in_for"] for record in records} == {"mnist", None}
    table = (finished.root / "out/demo/tables/momentumrnn_table11.md").read_text()
    assert "demo" in table and "MyLSTM" in table
    record = json.loads((finished.root / "out/demo/runs/mnist/my_lstm-n4/seed0/run.json").read_text())
    assert record["spec"]["hyperparameters"] == {"hidden_size": 4, "gain": 0.5}
    parity = json.loads((finished.root / PARITY / "run.json").read_text())
    assert (parity["iterations"], parity["dataset"]["name"]) == (40, "parity")
    rate = parity["reported"]["metrics"]["parity_rate"]
    shown = (finished.root / "out/demo/tables/mine_table1.md").read_text()
    assert f"| LSTM    | {rate:.4f}" in shown


def test_a_report_shows_the_page_of_a_table_and_the_picture_of_a_figure(workflow):
    workflow.run("momentumrnn_table11", "momentumrnn_figure9", "--report", "report.html")
    report = (workflow.root / "report.html").read_text(encoding="utf-8")
    shown = set(re.findall(r'"(out/demo/[^"]*)": {"name"', report))
    assert shown == {"out/demo/tables/momentumrnn_table11.html", "out/demo/figures/momentumrnn_figure9.png"}
    assert len(re.findall(r'"caption": "<p>MomentumRNN, (?:Table 11|Figure 9): ', report)) == 2


@pytest.mark.parametrize("way", ["directory", "module"])
def test_a_table_is_made_in_a_directory_elsewhere(way, finished, tmp_path):
    options = ["-s", finished.root / "Snakefile"]
    if way == "module":
        module = f"module papers:\n    snakefile: '{finished.root}/Snakefile'\n    config: config\n"
        (tmp_path / "Snakefile").write_text(f"{module}\nuse rule * from papers as their_*\n")
        (tmp_path / "config.yaml").write_text(yaml.safe_dump(yaml.safe_load((ROOT / "config.yaml").read_text())))
        options = ["--configfile", "config.yaml", "--workflow-profile", finished.root / "profiles/default"]
    target = "mine_table1" if way == "directory" else "their_mine_table1"
    elsewhere = Workflow(tmp_path)
    elsewhere.run(target, *map(str, options))
    elsewhere.run(target.replace("mine_table1", "momentumrnn_table14"), "--dry-run", *map(str, options))
    table = "out/demo/tables/mine_table1.md"
    assert (tmp_path / table).read_bytes() == (finished.root / table).read_bytes()


def test_wording_formatting_dates_and_where_it_runs_make_nothing_again(workflow):
    for path in [*workflow.root.glob("scripts/*.py"), *workflow.root.rglob("hidden_dynamics/**/*.py")]:
        path.touch()
    workflow.edit(FILTERS, "class Momentum(nn.Module):", "# a comment\nclass Momentum(\n    nn.Module\n):")
    workflow.edit(FILTERS, '"""v_t = mu v_{t-1}', '"""As the paper has it, v_t = mu v_{t-1}')
    workflow.edit("scripts/train.py", "def main() -> int:", "def main() -> int:  # the entry\n")
    workflow.edit("hidden_dynamics/artifacts/tables.py", "import math\n", "import math  # nan\n")
    workflow.edit("my_cells.py", "class MyLSTM(LSTM):", 'class MyLSTM(LSTM):\n    """Mine."""\n')
    assert workflow.jobs(device="cuda", runs_per_gpu=3, data={"mirror": "/nowhere"}) == set()


def test_what_is_missing_or_changed_reaches_just_the_jobs_that_it_concerns(workflow):
    """Another seed, a deleted figure, a changed cell of the user's, a changed title."""
    deleted, cell, title = (copied(workflow, workflow.root.with_name(name)) for name in ("deleted", "cell", "title"))
    (deleted.root / "out/demo/figures/momentumrnn_figure9.png").unlink()
    cell.edit("my_cells.py", "self.gain * x", "self.gain * x * x")
    title.edit("config/artifacts.yaml", "title: Hyperparameters of the momentum cells", "title: Of the momentum cells")
    trained = {job for job in workflow.jobs(seeds=[0, 1]) if job.startswith("Training")}
    expected = {f"{task}, seed 1" for task in ("mnist", "parity")}
    assert {re.search(r"on (\w+, seed \d)", job)[1] for job in trained} == expected
    assert deleted.jobs() == {"Rendering momentumrnn_figure9: out/demo/figures/momentumrnn_figure9.png"}
    assert {re.search(r"on (\w+)", job)[1] for job in cell.jobs() if job.startswith("Training")} == {"mnist"}
    assert title.jobs() == {"Rendering momentumrnn_table7: out/demo/tables/momentumrnn_table7.html"}


def test_a_changed_equation_trains_again_just_the_models_that_use_it(workflow):
    """The runs of a job's other models resume from the end that their checkpoints hold."""
    names = ("metrics.csv", "clock.csv", "run.json")
    before = {name: workflow.files("out/demo/runs", f"*/*/seed0/{name}") for name in names}
    workflow.edit(FILTERS, "v = linear_recurrence(s * g, mu, state)", "v = linear_recurrence(s * g, mu / 2, state)")
    said = workflow.run("momentumrnn_figure9")
    assert re.search(r"^Job \d+: Training.*$", said, flags=re.MULTILINE)
    assert "\nMade: out/demo/figures/momentumrnn_figure9.png\n" in said
    same = {"metrics.csv": {"scaled_lstm-n4", "gain_lstm-n4"}}  # their mu is 0
    for name, old in before.items():
        new = workflow.files("out/demo/runs", f"*/*/seed0/{name}")
        assert set(new) == set(old)
        if name == "run.json":
            old, new = ({path: json.loads(text)["fingerprint"] for path, text in of.items()} for of in (old, new))
        paths = [path for path in old if new[path] != old[path] and (name == "run.json" or "/mnist/" in path)]
        assert {path.split("/")[4] for path in paths} == WITH_THE_EQUATION - same.get(name, set()), name


def test_a_restored_run_is_no_reason_for_a_job_and_a_job_puts_it_back(workflow):
    """As scripts/restore.py leaves it: no weights, no checkpoint, nothing that Snakemake remembers; then its data are
    prepared anew, which are newer, and one of its files is gone."""
    run = workflow.root / PARITY
    for name in ("model.pt", "checkpoint.pt"):
        (run / name).unlink()
    files = {path.name: path.read_bytes() for path in run.glob("[!.]*")}
    write(run / KEPT, files)
    shutil.rmtree(workflow.root / ".snakemake/metadata")
    before = evaluations(workflow)
    assert workflow.jobs() == set()
    (workflow.root / "data/prepared/parity-length5-test_size8.npz").touch()
    (run / "metrics.csv").unlink()
    workflow.run(f"{PARITY}/run.json")
    assert {path.name: path.read_bytes() for path in run.glob("[!.]*") if path.is_file()} == files
    assert evaluations(workflow) == before


def evaluations(workflow):
    path = workflow.root / "evaluations"
    return path.stat().st_size if path.exists() else 0


def test_a_seed_that_is_added_is_trained_alone_and_leaves_finished_runs_as_they_are(repository, tmp_path):
    """Of a scale that trains each run in a job of its own."""
    workflow, scale = copied(repository, tmp_path / "repository"), "separate"

    def records(*seeds):
        return [f"out/{scale}/runs/parity/lstm-n3/seed{seed}/run.json" for seed in seeds]

    def files():
        return {path: path.stat().st_mtime_ns for path in workflow.root.glob("out/*/runs/*/*/seed[01]/*.*")}

    workflow.run(*records(0, 1), scale=scale, seeds=[0, 1])
    before = files()
    assert before and evaluations(workflow) == 2 * 2
    workflow.run(*records(0, 1, 2), scale=scale, seeds=[0, 1, 2])
    assert files() == before and evaluations(workflow) == 3 * 2
    said = workflow.run("--dry-run", "claims", *records(3), scale=scale, seeds=[2, 1, 0, 3])
    again = re.findall(r"^Job \d+: Training .* on parity, (seed.*): out/", said, flags=re.MULTILINE)
    assert again == ["seed 3"]


def test_what_snakemake_remembers_of_a_job_does_not_grow_with_its_runs(repository, tmp_path):
    """Of each output of 40 runs it keeps what it keeps of each of 2."""
    workflow, most = copied(repository, tmp_path / "repository"), []
    for count in (2, 40):
        target = f"out/grouped/runs/parity/lstm-n3/seed{count - 1}/run.json"
        workflow.run(target, scale="grouped", seeds=[*range(count)])
        texts = [path.read_text() for path in (workflow.root / ".snakemake/metadata").rglob("*") if path.is_file()]
        records = [text for text in texts if json.loads(text)["rule"] == "train_parity"]
        assert len(records) == 4 * count
        most.append(max(map(len, records)))
    assert most[1] < most[0] + 40


def stopped_at(count, workflow, signum, *arguments, **settings):
    """Snakemake, started as in a terminal, to which a signal is sent in evaluation `count`."""
    process = workflow.start(*arguments, environment={"STOPPED_AT": str(count)}, **settings)
    wait_until(lambda: evaluations(workflow) == count or process.poll() is not None)
    assert process.poll() is None, (workflow.root / "said").read_text()[-4000:]
    os.killpg(process.pid, signum)
    return process.wait()


def test_an_interrupted_and_then_killed_invocation_continues_to_the_same_numbers(repository, tmp_path):
    workflow = copied(repository, tmp_path / "repository")
    long = SETTINGS | {"overrides": {"tasks": {"parity": {"training": {"epochs": 160}}}}}
    run, total = workflow.root / PARITY, 8  # evaluations of an uninterrupted training

    assert stopped_at(3, workflow, signal.SIGINT, f"{PARITY}/run.json", **long) != 0
    assert not (run / "run.json").exists()
    assert (run / "checkpoint.pt").exists()

    assert stopped_at(6, workflow, signal.SIGKILL, f"{PARITY}/run.json", **long) == -signal.SIGKILL
    assert not (run / "run.json").exists()

    # The same run by hand, never interrupted, while the workflow is continued.
    command = [sys.executable, "scripts/train.py", "--task", "parity", "--model", "lstm-n3", "--seed", "0", "--config"]
    given, apart = json.dumps(long | {"results": "by_hand"}), os.environ | {"EVALUATIONS": os.devnull}
    by_hand = subprocess.Popen([*command, given], cwd=workflow.root, env=apart, stdout=subprocess.DEVNULL)
    workflow.run("--unlock", **long)
    workflow.run(f"{PARITY}/run.json", **long)
    assert evaluations(workflow) <= 6 + total - 2  # it did not begin again
    assert by_hand.wait() == 0

    reference = workflow.root / PARITY.replace("out", "by_hand", 1)
    for file in ("metrics.csv", "train_loss.npy"):
        assert (run / file).read_bytes() == (reference / file).read_bytes()
    assert len((run / "metrics.csv").read_text().splitlines()) == 1 + total
    records = [json.loads((directory / "run.json").read_text()) for directory in (run, reference)]
    assert records[0]["fingerprint"] == records[1]["fingerprint"]


def test_a_run_grows_where_more_epochs_are_asked_for_and_stays_where_fewer_are(repository, tmp_path):
    """With its table. Then Snakemake remembers nothing of it, as of a restored run."""
    workflow = copied(repository, tmp_path / "repository")

    def of(epochs):
        training = {"epochs": epochs, "iterations_per_epoch": 1}
        return {"overrides": {"tasks": {"parity": {"training": training}, "mnist": TINY}}}

    for epochs, evaluated, trained in ((40, 2, True), (80, 4, True), (40, 4, False)):
        said = workflow.run("mine_table1", **of(epochs))
        assert (evaluations(workflow), "Training" in said) == (evaluated, trained)
    shutil.rmtree(workflow.root / ".snakemake/metadata")
    assert "Training" not in workflow.run("--dry-run", "mine_table1", **of(80))
    assert "Training" not in workflow.run("--dry-run", "momentumrnn_table7", **of(120))  # which is not of this run
    assert "Training" in workflow.run("--dry-run", "mine_table1", **of(120))
    record = json.loads((workflow.root / PARITY / "run.json").read_text())
    assert (record["iterations"], record["spec"]["training"]["epochs"]) == (80, 80)


def test_a_failing_run_leaves_the_others_made_and_the_next_invocation_finishes_them(workflow):
    data = workflow.root / "data/prepared/parity-length5-test_size8.npz"
    whole, metrics = data.read_bytes(), (workflow.root / PARITY / "metrics.csv").read_bytes()
    data.write_bytes(whole[: len(whole) // 2])
    said = workflow.run(*TARGETS, "momentumrnn_table8", "--keep-going", code=1)
    assert "parity-length5-test_size8.npz cannot be used: it, or its .json, is truncated or altered" in said
    assert "Delete it, and run snakemake again, which makes it." in said
    assert "Traceback" not in said
    assert not (workflow.root / PARITY / "run.json").exists()
    assert (workflow.root / "out/demo/tables/momentumrnn_table8.html").exists()
    data.unlink()
    said = workflow.run(*TARGETS, "momentumrnn_table8")
    assert "Preparing parity" in said
    assert data.read_bytes() == whole
    assert (workflow.root / PARITY / "metrics.csv").read_bytes() == metrics


def test_a_run_that_fails_leaves_the_others_made_and_is_tried_again_alone(workflow):
    """A user's cell, for want of something that is no part of its code."""
    name, table = "mnist/my_lstm-n4/seed0", "momentumrnn_table11"
    workflow.edit(
        "my_cells.py", "        return", '        assert not __import__("os").path.exists("wanting")\n        return'
    )
    (workflow.root / "wanting").touch()

    def runs():
        files = workflow.files("out/demo/runs", "*/*/seed0/[!.]*[!t]")  # no checkpoints, which are saved anew
        own = {path: files.pop(path) for path in list(files) if name in path}
        return files, own

    others, _ = runs()
    said = workflow.run(table, "--keep-going", code=1)
    assert f"{name}: AssertionError:  (out/demo/logs/train-mnist-0.log)" in said
    assert "AssertionError" in (workflow.root / "out/demo/logs/train-mnist-0.log").read_text()
    assert "failed 1 of 1" in (workflow.root / f"out/demo/tables/{table}.md").read_text()
    failed = runs()
    assert failed[0] == others and json.loads(failed[1][f"out/demo/runs/{name}/run.json"])["status"] == "failed"
    (workflow.root / "wanting").unlink()
    assert {job.split()[0] for job in workflow.jobs(table)} == {"Training", "Rendering"}
    assert runs() == failed
    workflow.run(table)
    mended = runs()
    assert mended[0] == others and json.loads(mended[1][f"out/demo/runs/{name}/run.json"])["status"] == "finished"
    assert workflow.jobs(table) == set()


def test_at_the_papers_scale_every_artifact_is_a_target_and_downloads_try_the_mirror_first(repository):
    """With a seed; the runs of all are counted in tests/test_runs.py."""
    given = {"scale": "paper", "seeds": [0], "overrides": {}}
    command = ["--dry-run", "--printshellcmds", *ARTIFACTS, "out/paper/summary/runs.csv"]
    said = repository.run(*command, data={"mirror": "/of mine"}, **given)
    listed = dict(re.findall(r"^(\w+) +(\d+)$", said, flags=re.MULTILINE))
    assert set(ARTIFACTS) <= set(listed)
    trainings = [int(count) for rule, count in listed.items() if rule.startswith("train_")]
    shipped = yaml.safe_load((repository.root / "config.yaml").read_text(encoding="utf-8"))
    assert sum(trainings) == len(all_runs(load(shipped | given, repository.root)))
    assert (listed["fetch"], listed["prepare"], listed["prepare_with_torch"]) == ("16", "10", "3")
    assert len(re.findall(r"fetch.py .* --mirror '/of mine' ", said)) == 16
    of_two_tasks = re.findall(r"Training .* on (\w+),", "\n".join(repository.jobs("momentumrnn_table1")))
    assert {*of_two_tasks} == {"mnist", "pmnist"}


MISTAKES = [
    ({"scale": "dmo"}, ["config.yaml: scale: unknown scale 'dmo'", "Did you mean 'demo'"]),
    ({"scales": "demo"}, ["unknown key 'scales'", "Did you mean 'scale'"]),
    ({"runs_per_gpu": "two"}, ["config.yaml: runs_per_gpu: found 'two'", "valid integer"]),
    ({"overrides": {"tasks": {"mnits": {}}}}, ["overrides.tasks: unknown task 'mnits'", "Did you mean 'mnist'"]),
    ({"overrides": {"tasks": {"mnist": {"class": "my_task.Party"}}}}, ["my_task.Party is not defined: check the name"]),
]


def test_a_mistake_on_the_command_line_is_explained_without_a_traceback(repository):
    for settings, expected in MISTAKES:
        said = repository.run("--dry-run", code=1, **settings)
        for part in expected:
            assert part in said
        assert "Traceback" not in said
        assert "hidden_dynamics/" not in said
    assert "momentumrnn_course has nothing to show at scale demo" in repository.run("momentumrnn_course", code=1)
    assert "Did you mean 'momentumrnn_table11'?" in repository.run("momentumrnn_tabel11", code=1)
    assert "Did you mean momentumrnn_table1 or mine_table1?" in repository.run("table1", code=1)


def test_every_rule_says_what_it_needs_and_where_it_writes_its_log(repository):
    # Table 14 measures costs on pmnist, Table 5 features of images of CIFAR-10.
    given = {"cuda": "cuda", "cpu": "cpu", "mixed": {"default": "cuda", "pmnist": "cpu", "cifar10_images": "cpu"}}
    answers = rules_with(repository.root, *(({"device": device}, []) for device in given.values()))
    on = dict(zip(given, answers, strict=True))
    of_tasks = {"train_pmnist", "train_cifar10_images", "measure_cost", "measure_features"}
    targets = {name for name, rule in on["cpu"].items() if not rule["command"]}
    nothing_at_demo = {"momentumrnn_course", "acenode_silhouettes1", "acenode_silhouettes2"}
    assert targets == {"all", "no_such_target"} | nothing_at_demo
    assert all(rule["docstring"] for rule in on["cpu"].values())
    assert {"fetch", "prepare", "train_parity", "mine_table1", *ARTIFACTS} <= set(on["cpu"])
    for device, rules in on.items():
        for name in set(rules) - targets:
            rule = rules[name]
            assert rule["log"] and re.search(r"/|{output|{CONFIGURATION", rule["message"]), name
            assert (repository.root / "envs" / f"{rule['environment']}.yaml").is_file(), name
            assert {"_cores", "mem_mb", "runtime"} <= set(rule["resources"]), name
            assert rule["resources"]["mem_mb"] >= 500, name  # a cluster's job runs a Snakemake of its own
            on_a_gpu = name.startswith(("train_", "measure_", "calibrate")) and name != "measure_jacobian"
            expected = int(on_a_gpu and (device == "cuda" or (device == "mixed" and name not in of_tasks)))
            assert rule["resources"].get("gpu", 0) == expected, name
    assert on["cpu"]["train_mnist"]["resources"]["gpu"] == 0


@pytest.mark.parametrize("script", sorted(path.stem for path in (ROOT / "scripts").glob("[a-z]*.py")))
def test_a_step_refuses_to_run_in_the_wrong_python(script):
    command = [sys.executable, str(ROOT / "scripts" / f"{script}.py"), "--help"]
    environment = os.environ | {"HIDDEN_DYNAMICS_ENVIRONMENTS": "/nowhere"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "the conda environment of this step was not activated" in done.stderr
    assert sys.prefix in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
