"""The workflow on a real SLURM: a node of its own on this machine's loopback interface, with fake GPUs (lab/lab.sh).

What is trained there is compared, byte by byte, with what one Snakemake makes on this machine. Trainings wait for each
other and for the tests by files, and what happened is read from SLURM's records and the trainings' own traces.
"""

import fcntl
import json
import math
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from conftest import ROOT
from repository import TASK as PARITY
from repository import Workflow, append, copy_repository, parity_task

from hidden_dynamics.system.shell import GPU_IS_ASSIGNED

PATIENCE = 1200  # seconds until what must happen counts as not happening; a machine may be busy
LAB = ROOT / "tests/slurm/lab/lab.sh"
PREFIX = "slurm-lab-"
PROGRAMS = ["slurmctld", "slurmd", "slurmdbd", "sbatch", "mariadbd", "munged"]


def missing():
    if os.geteuid() != 0:
        return "needs root, to start SLURM's daemons"
    absent = [name for name in PROGRAMS if shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin") is None]
    return f"not installed: {', '.join(absent)} (slurm-wlm, slurmdbd, mariadb-server, munge)" if absent else None


@pytest.fixture(scope="module")
def slurm():
    """SLURM, up for the tests of this file; its daemons are ended by their recorded numbers."""
    with open("/tmp/slurm-lab.lock", "w") as lock:  # one at a time on a machine: it has one /etc/slurm
        fcntl.flock(lock, fcntl.LOCK_EX)
        end_what_a_killed_test_left()
        lab = tempfile.mkdtemp(prefix=PREFIX)  # not pytest's, which MariaDB's own user may not enter
        environment = os.environ | {"SLURM_LAB": lab, "PATH": os.environ["PATH"] + ":/usr/sbin"}
        try:
            up = subprocess.run([LAB, "up"], env=environment, capture_output=True, text=True)
            assert up.returncode == 0, up.stdout + up.stderr
            yield
        finally:
            subprocess.run([LAB, "down"], env=environment, check=True)
            shutil.rmtree(lab)


def end_what_a_killed_test_left():
    """End the laboratory of a test session that was killed, and remove its links; whoever holds the lock is alone."""
    configuration = Path("/etc/slurm/slurm.conf")
    lab = configuration.readlink().parents[1] if configuration.is_symlink() else None
    if lab is not None and lab.parent == Path(tempfile.gettempdir()) and lab.name.startswith(PREFIX):
        subprocess.run([LAB, "down"], env=os.environ | {"SLURM_LAB": str(lab)}, check=True)
        shutil.rmtree(lab, ignore_errors=True)


pytestmark = [pytest.mark.slow, pytest.mark.slurm, pytest.mark.skipif(missing() is not None, reason=missing() or "")]

TASK = """
import json
import os
import time
from pathlib import Path

import parity

from hidden_dynamics.errors import UserError
from hidden_dynamics.system.shell import GPU_IS_ASSIGNED

TRACES = Path("traces")
TRACED = ("SLURM_JOB_ID", "CUDA_VISIBLE_DEVICES", GPU_IS_ASSIGNED)


def trace(name):
    TRACES.mkdir(exist_ok=True)
    with open(TRACES / name, "a") as handle:
        about = {key: os.environ.get(key) for key in TRACED}
        handle.write(json.dumps(about | {"pid": os.getpid()}) + "\\n")


def prepare(raw, settings):
    trace("prepare")
    return parity.prepare(raw, {"length": 5, "test_size": 8})


class Parity(parity.Parity):
    def __init__(self, arrays, settings, seed, device):
        super().__init__(arrays, settings, seed, device)
        self.name = settings["name"]
        if self.name == "failing" and not Path("mended").exists():
            trace("failing")
            raise OSError("the sensor is not plugged in")  # of the machine: it ends the job

    def evaluate(self, network):
        trace(f"{self.name}-{self.seed}")
        if "GATHER" in os.environ:
            self.gather(int(os.environ["GATHER"]))
        time.sleep(float(os.environ.get("PAUSE_" + self.name, 0)))
        return {"test_loss": self.loss(network, self.test).item()}

    def gather(self, count):
        # until so many trainings are here
        (TRACES / f"here-{self.name}-{self.seed}").touch()
        until = time.monotonic() + 120
        while len(list(TRACES.glob("here-*"))) < count:
            if time.monotonic() > until:
                raise UserError(f"only {[path.name for path in TRACES.glob('here-*')]} came")
            time.sleep(0.1)
"""
EVALUATIONS = 60
SEEDS = [0, 1, 2]
NAMES = ["limited", "preempted", "cancelled", "failing", "interrupted", "first", "second"]
TABLES = ["momentumrnn_table1", "momentumrnn_table11"]
# A machine without a GPU stands in for one where SLURM gives fake ones: the trainings run on its CPU.
NO_GPU = (
    'if device == "cpu" or (obstacle := _obstacle()) is None:',
    'device = "cpu" if device == "cuda" else device\n    if device == "cpu" or (obstacle := _obstacle()) is None:',
)
OFTEN = ("SECONDS_AFTER_AN_EVALUATION = 5.0", "SECONDS_AFTER_AN_EVALUATION = 0.5")  # a checkpoint


def run_of(name, seed=0):
    return f"out/demo/runs/{name}/lstm-n3/seed{seed}"


class OnSlurm(Workflow):
    """A copy of the repository, and Snakemake in it with profiles/slurm."""

    def command(self, *arguments, **settings):
        local = super().command(*arguments, **settings)
        profile = ["--profile", "profiles/slurm", "--latency-wait", "5"]
        soon = ["--slurm-init-seconds-before-status-checks", "2"]  # the default, 40, would be most of the tests' time
        return [*local[:3], *profile, *soon, *local[5:]]

    def trace(self, name):
        path = self.root / "traces" / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def said(self):
        return (self.root / "said").read_text()

    def wait_for(self, condition, process=None):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, self.said[-6000:]
            assert process is None or process.poll() is None, self.said[-6000:]
            time.sleep(0.5)

    def wait_for_a_checkpoint(self, name, process):
        self.wait_for(lambda: len(self.trace(f"{name}-0")) > 8, process)
        assert (self.root / run_of(name) / "checkpoint.pt").exists()


def ask(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def accounted(job, *fields):
    """Each life of a job, as SLURM's accounting has it: a requeued job has several."""
    listed = ask("sacct", "-X", "-P", "-n", "--duplicates", "-j", job, "-o", ",".join(fields))
    return [dict(zip(fields, line.split("|"), strict=True)) for line in listed.splitlines()]


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A copy of the repository as a user of a cluster has it: the account set, and some tasks of the user's own."""
    root = tmp_path_factory.mktemp("repository")
    copy_repository(root)
    (root / "parity.py").write_text(PARITY)
    (root / "my_task.py").write_text(TASK)
    report = {"metric": "test_loss", "rule": "min"}
    task = parity_task(root, epochs=EVALUATIONS * 2, evaluate_every=2, report=report)
    append(root, "tasks", {name: task | {"settings": {"name": name}} for name in NAMES})
    workflow = OnSlurm(root)
    workflow.edit("profiles/slurm/config.yaml", "slurm_account=default", "slurm_account=lab")
    workflow.edit("hidden_dynamics/training/devices.py", *NO_GPU)
    workflow.edit("hidden_dynamics/training/checkpoint.py", *OFTEN)
    return workflow


def copy_of(repository, tmp_path_factory, name, kind=OnSlurm):
    root = tmp_path_factory.mktemp(name) / "repository"
    shutil.copytree(repository.root, root)
    return kind(root)


@pytest.fixture(scope="module")
def one_machine(repository, tmp_path_factory):
    """Everything that the tests run on SLURM, made by one Snakemake on this machine without SLURM."""
    workflow = copy_of(repository, tmp_path_factory, "one_machine", Workflow)
    (workflow.root / "mended").touch()
    workflow.run(*TABLES)
    workflow.run(*(f"{run_of(name)}/run.json" for name in NAMES), seeds=SEEDS, together=["seed"])
    return workflow


def assert_same_runs(here, there, runs, count):
    """Same runs, and their measurements, losses and weights byte by byte."""
    for name in ("metrics.csv", "train_loss.npy", "model.pt"):
        expected = there.files("out/demo/runs", f"{runs}/{name}")
        made = here.files("out/demo/runs", f"{runs}/{name}")
        assert len(expected) == count and made.keys() == expected.keys()
        assert [path for path in expected if made[path] != expected[path]] == []


def submitted(said, rule):
    """The numbers of the SLURM jobs of a rule, in the order of their submission."""
    return re.findall(rf"submitted with SLURM jobid (\d+) \(log: \S+/rule_{rule}/", said)


@pytest.fixture(scope="module")
def tables(slurm, repository, tmp_path_factory):
    """Two tables made on SLURM, beside a training that is preempted, and what was said."""
    workflow = copy_of(repository, tmp_path_factory, "tables")
    memory = 40000  # of 64000: for another job as large there is room only where this one was
    resources = ["train_preempted:slurm_partition=scavenge", f"train_preempted:mem_mb={memory}"]
    targets = [*TABLES, f"{run_of('preempted')}/run.json", "--set-resources", *resources]
    process = workflow.start(*targets, environment={"PAUSE_preempted": "1"})
    try:
        workflow.wait_for_a_checkpoint("preempted", process)
        command = ["--partition", "cpu", "--account", "lab", "--mem", str(memory), "--output", os.devnull]
        ask("sbatch", *command, "--wrap", "true")
        assert process.wait(timeout=PATIENCE) == 0, workflow.said[-6000:]
    finally:
        process.poll() is None and process.kill()
    return workflow, workflow.said


@pytest.mark.representative
def test_two_tables_are_made_on_slurm_and_share_their_runs(tables, one_machine):
    workflow, said = tables
    assert_same_runs(workflow, one_machine, "*mnist/*/seed0", 24)
    for table in TABLES:
        for form in ("csv", "md", "html"):
            file = f"out/demo/tables/{table}.{form}"
            assert (workflow.root / file).read_bytes() == (one_machine.root / file).read_bytes()
    assert len(submitted(said, "train_mnist")) == len(submitted(said, "train_pmnist")) == 1
    for rule in ("prepare", "train_mnist", "train_pmnist", *TABLES):
        assert submitted(said, rule)
        for job in submitted(said, rule):
            (life,) = accounted(job, "State", "Partition", "Account", "AllocTRES")
            assert (life["State"], life["Partition"], life["Account"]) == ("COMPLETED", "cpu", "lab"), rule
            assert "gpu" not in life["AllocTRES"], rule
    assert "Nothing to be done" in workflow.run(*TABLES)


def test_gpus_go_to_trainings_alone_and_the_runs_of_a_job_share_one(slurm, repository, one_machine, tmp_path_factory):
    """Two jobs of three trainings each; all six wait for each other."""
    workflow = copy_of(repository, tmp_path_factory, "gpus")
    runs = [f"{run_of(name)}/run.json" for name in ("first", "second")]
    settings = {"device": "cuda", "together": ["seed"], "runs_per_gpu": 3, "seeds": SEEDS}
    process = workflow.start(*runs, environment={"GATHER": "6"}, **settings)
    assert process.wait(timeout=PATIENCE) == 0, workflow.said[-6000:]
    devices = []
    for name in ("first", "second"):
        (job,) = submitted(workflow.said, f"train_{name}")
        (life,) = accounted(job, "Partition", "AllocTRES")
        assert life["Partition"] == "gpu" and "gres/gpu=1" in life["AllocTRES"].split(","), life
        traces = [line for seed in SEEDS for line in workflow.trace(f"{name}-{seed}")]
        assert len({line["pid"] for line in traces}) == 3
        assert {line["SLURM_JOB_ID"] for line in traces} == {job} and {line[GPU_IS_ASSIGNED] for line in traces} == {
            "1"
        }
        devices.append({line["CUDA_VISIBLE_DEVICES"] for line in traces})
        assert_same_runs(workflow, one_machine, f"{name}/*/seed*", 3)
    assert sorted(devices, key=str) == [{"0"}, {"1"}]
    assert {line["CUDA_VISIBLE_DEVICES"] for line in workflow.trace("prepare")} <= {None, "", "NoDevFiles"}
    for job in submitted(workflow.said, "prepare"):
        (life,) = accounted(job, "Partition", "AllocTRES")
        assert life["Partition"] == "cpu" and "gpu" not in life["AllocTRES"]


@pytest.fixture(scope="module")
def interrupted(tables, repository, tmp_path_factory):
    """One invocation in which one training outlives its time limit, one is cancelled, and one fails."""
    workflow = copy_of(repository, tmp_path_factory, "interrupted")
    (job,) = submitted(tables[1], "train_mnist")  # most of its time is the start of two Snakemakes and of torch
    limit = math.ceil(2 * int(accounted(job, "ElapsedRaw")[0]["ElapsedRaw"]) / 60)  # minutes; 1 unless all is slow here
    runs = [f"{run_of(name)}/run.json" for name in ("limited", "cancelled", "failing")]
    process = workflow.start(
        *runs,
        *("--retries", "1", "--set-resources", f"train_limited:runtime={limit}"),
        environment={"PAUSE_limited": str(72 * limit / EVALUATIONS), "PAUSE_cancelled": "1"},
    )
    try:
        workflow.wait_for_a_checkpoint("cancelled", process)
        ask("scancel", workflow.trace("cancelled-0")[-1]["SLURM_JOB_ID"])
        assert process.wait(timeout=PATIENCE) == 1, workflow.said[-6000:]
    finally:
        process.poll() is None and process.kill()
    return workflow


def assert_continued(workflow, one_machine, name, lives):
    """The run is that of one machine, and no life of it began anew: where one ended, two evaluations were repeated."""
    assert_same_runs(workflow, one_machine, f"{name}/*/seed0", 1)
    traces = workflow.trace(f"{name}-0")
    assert len({line["pid"] for line in traces}) == lives
    assert EVALUATIONS <= len(traces) <= EVALUATIONS + 2 * (lives - 1)


def test_a_training_longer_than_its_time_limit_goes_on_under_its_number(interrupted, one_machine):
    (job,) = submitted(interrupted.said, "train_limited")  # no retry was spent
    states = [life["State"] for life in accounted(job, "State")]
    assert len(states) > 1 and states[-1] == "COMPLETED" and "TIMEOUT" not in states, states
    assert_continued(interrupted, one_machine, "limited", len(states))


@pytest.mark.representative
def test_a_preempted_training_goes_on_under_its_number(tables, one_machine):
    workflow, said = tables
    (job,) = submitted(said, "train_preempted")
    assert [life["State"] for life in accounted(job, "State")] == ["PREEMPTED", "COMPLETED"]
    assert_continued(workflow, one_machine, "preempted", 2)


def test_a_cancelled_training_is_retried_from_where_it_was(interrupted, one_machine):
    cancelled, again = submitted(interrupted.said, "train_cancelled")
    assert [life["State"] for life in accounted(cancelled, "State")] == ["CANCELLED by 0"]
    assert [life["State"] for life in accounted(again, "State")] == ["COMPLETED"]
    assert_continued(interrupted, one_machine, "cancelled", 2)


def test_a_failing_training_is_retried_and_reported_with_its_cause_and_mended_alone(interrupted, one_machine):
    said = interrupted.said
    jobs = submitted(said, "train_failing")
    assert len(jobs) == len(interrupted.trace("failing")) == 2
    message = f"Error in rule train_failing:\n    message: SLURM-job '{jobs[1]}' failed, SLURM status is: 'FAILED'."
    error = said[said.index(message) :]
    log = re.search(r"log: (\S+train-failing\.log), (\S+\.log) ", error)
    assert "error: the sensor is not plugged in" in (interrupted.root / log[1]).read_text()
    assert jobs[1] in log[2] and Path(log[2]).exists()
    assert "error: the sensor is not plugged in" in error
    before = {name: len(interrupted.trace(f"{name}-0")) for name in ("limited", "cancelled")}
    (interrupted.root / "mended").touch()
    said = interrupted.run(*(f"{run_of(name)}/run.json" for name in (*before, "failing")))
    assert re.findall(r"^Job \d+: Training (.*): \S+$", said, flags=re.MULTILINE) == ["lstm-n3 on failing, seed 0"]
    assert {name: len(interrupted.trace(f"{name}-0")) for name in before} == before
    assert_same_runs(interrupted, one_machine, "failing/*/seed0", 1)


def test_ctrl_c_cancels_the_jobs_and_the_same_command_continues_them(slurm, repository, one_machine, tmp_path_factory):
    workflow = copy_of(repository, tmp_path_factory, "ctrl_c")
    target = f"{run_of('interrupted')}/run.json"
    process = workflow.start(target, environment={"PAUSE_interrupted": "5"})
    workflow.wait_for(lambda: len(workflow.trace("interrupted-0")) > 8, process)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=PATIENCE) == 1
    (job,) = submitted(workflow.said, "train_interrupted")
    workflow.wait_for(lambda: not ask("squeue", "-h", "-j", job, "-t", "running,completing,pending"))
    assert [life["State"] for life in accounted(job, "State")] == ["CANCELLED by 0"]
    workflow.run(target)
    assert_continued(workflow, one_machine, "interrupted", 2)
