"""A job's trainings: what it asks for; side by side, stopped before the time limit, queued again.

SLURM's commands are scripts here; tests/slurm has the real ones.
"""

import math
import os
import signal
import subprocess
import time
from types import SimpleNamespace

import pytest
import train_job
import yaml
from conftest import ROOT
from rules_read import rules_with

from hidden_dynamics.system import memory, slurm

# Stands in for a training: says that it is there, waits for companions to be, and then for its end.
TRAINING = """
touch "$0"
until [ "$(ls training* | wc -l)" -ge "$1" ]; do sleep 0.01; done
case "$2" in killed) kill -KILL $$ ;; waits) exec sleep 600 ;; *) exit "$2" ;; esac
"""


@pytest.fixture
def trainings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def of(ends, at_once=1, companions=0):
        given = [[f"training{place}", str(companions), str(end)] for place, end in enumerate(ends)]
        return train_job.Trainings([["sh", "-c", TRAINING, *each] for each in given], at_once)

    return of


def there(tmp_path):
    return sorted(path.name for path in tmp_path.glob("training*"))


def test_so_many_go_side_by_side_and_what_is_done_before_the_time_is_out_stays_done(trainings):
    job = trainings([0, 0, 0], at_once=3, companions=3)
    assert job.run(math.inf) == 0
    assert not job.out_of_time


def test_a_failure_leaves_the_others_alone_and_is_the_jobs(trainings, tmp_path, capfd):
    assert trainings([0, 3, 0, "killed", 0], at_once=2).run(None) == 3
    assert len(there(tmp_path)) == 5
    assert "a training was killed" in capfd.readouterr().err


def test_out_of_time_those_that_go_are_stopped_and_the_rest_not_begun(trainings, tmp_path, monkeypatch):
    clock = SimpleNamespace(monotonic=lambda: len(there(tmp_path)), sleep=time.sleep)
    monkeypatch.setattr(train_job, "time", clock)
    job = trainings(["waits", "waits", 0], at_once=2, companions=2)
    assert job.run(1.5) == 128 + signal.SIGTERM
    assert job.out_of_time
    assert there(tmp_path) == ["training0", "training1"]


def test_a_signal_is_handed_on(trainings):
    job = trainings(["waits", "waits"], at_once=1)
    sender = subprocess.Popen(["sh", "-c", f"until [ -e training0 ]; do sleep 0.1; done; kill {os.getpid()}"])
    assert job.run(None) == 128 + signal.SIGTERM
    assert sender.wait() == 0
    assert not job.out_of_time and job.waiting


def test_an_interruption_that_is_ignored_stays_so_and_sigterm_is_obeyed_even_then(trainings):
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, signal.SIG_IGN)
    job = trainings([0, 0])
    signal.raise_signal(signal.SIGINT)
    assert not job.stopping
    signal.raise_signal(signal.SIGTERM)
    assert job.stopping and job.run(None) == 128 + signal.SIGTERM


@pytest.mark.parametrize("minutes", [1, 10, 60, 720, 2880])
def test_the_margin_leaves_most_of_the_limit(minutes):
    assert 10 <= train_job.margin(60 * minutes) <= min(300, 15 * minutes)


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """Puts programs of these names and contents first on the path."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")

    def put(**programs):
        (tmp_path / "bin").mkdir(exist_ok=True)
        for name, content in programs.items():
            (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{content}\n")
            (tmp_path / "bin" / name).chmod(0o755)

    return put


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        *((unlimited, None) for unlimited in ("59", "UNLIMITED", "")),
        *(("0:59", 59), ("12:00", 720), ("1:00:01", 3601), ("2-03:00:00", 183600)),
    ],
)
def test_the_time_that_is_left(commands, capfd, said, seconds):
    commands(squeue=f'[ "$3" = 17 ] && echo "{said}"')
    assert slurm.seconds_left("17") == seconds
    assert ("tells no time limit of job 17" in capfd.readouterr().err) == (said in ("59", ""))


def test_what_slurm_refuses_is_said(commands, capfd):
    commands(scontrol="echo 'Requested operation is presently disabled' >&2; exit 1")
    assert not slurm.requeue("17")
    assert capfd.readouterr().err == "SLURM: scontrol requeue 17 failed: Requested operation is presently disabled\n"


# A training of the workflow's in a job that ends at once: in place of `scripts/train.py`, one that keeps a checkpoint.
KEEPS = """
file=results/demo/runs/adding/lstm-n32/seed0/checkpoint.pt
trap 'printf "$STATE" > $file; [ "$STATE" = done ]; exit $((143 * $?))' TERM
touch at_work
while sleep 0.1; do :; done
"""


@pytest.mark.parametrize("state", ["new", "old", "done"])
def test_a_job_out_of_time_is_queued_again_where_something_was_trained(commands, ended, tmp_path, monkeypatch, state):
    """Its time is over as soon as it is at work."""
    checkpoint = tmp_path / "results/demo/runs/adding/lstm-n32/seed0/checkpoint.pt"
    checkpoint.parent.mkdir(parents=True)
    checkpoint.write_text("old")
    commands(squeue="echo 0:13", scontrol=f'echo "$@" > {tmp_path}/asked; exit 1')
    (tmp_path / "train.sh").write_text(KEEPS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    monkeypatch.setenv("STATE", state)
    monkeypatch.setattr(train_job, "TRAIN", ["sh", "train.sh"])
    clock = SimpleNamespace(monotonic=lambda: 60 * os.path.exists("at_work"), sleep=time.sleep)
    monkeypatch.setattr(train_job, "time", clock)
    named = ("--task", "adding", "--model", "lstm-n32", "--seed", "0")
    done = ended(train_job.main, *named, "--threads", "1", "--requeue")
    if state == "new":
        assert done.code == 143 and "job 17 is queued again" in done.out, done.err
        assert (tmp_path / "asked").read_text() == "requeue 17\n"
    elif state == "done":  # just then
        assert done.code == 0 and not (tmp_path / "asked").exists()
    else:
        assert done.code == 1 and "nothing was trained within this time limit" in done.err
        assert not (tmp_path / "asked").exists()


ASKS = [
    ({"device": "cuda"}, {"_cores": 4, "mem_mb": 24000, "runtime": 720, "gpu": 1}),  # pilot's two seeds side by side
    ({"device": "cpu", "together": ["seed"]}, {"_cores": 2, "mem_mb": 12000, "runtime": 720, "gpu": 0}),
    ({"device": "cuda", "together": ["seed"], "runs_per_gpu": 2}, {"_cores": 4, "mem_mb": 24000, "gpu": 1}),
    ({"device": "cuda", "together": ["seed"], "runs_per_gpu": 9}, {"_cores": 6, "mem_mb": 36000}),
    (
        {"device": "cuda", "together": [], "runs_per_gpu": 2, "time_limit": 90},
        {"_cores": 2, "mem_mb": 12000, "runtime": 90},
    ),
    ({"device": "cuda", "time_limit": 9000}, {"runtime": 720}),
    ({"device": {"default": "cuda", "adding": "cpu"}, "runs_per_gpu": 2}, {"_cores": 2, "mem_mb": 12000, "gpu": 0}),
    ({"device": {"default": "cpu", "adding": "cuda"}, "runs_per_gpu": 2}, {"_cores": 4, "mem_mb": 24000, "gpu": 1}),
]


def test_a_job_asks_for_what_its_runs_need_side_by_side_and_on_a_cluster_for_a_device():
    """A dry run shows that it is for a cluster only by the account of its profile."""
    profile = yaml.safe_load((ROOT / "profiles/slurm/config.yaml").read_text(encoding="utf-8"))
    given = [({"scale": "pilot", "seeds": [0, 1, 2]} | settings, []) for settings, _ in ASKS]
    of_one = {"device": {"default": "auto", "adding": "cpu"}, "only": ["adding"]}  # no other task is run
    not_said = [{"device": device} for device in ("auto", {"adding": "cpu"}, {"default": "cuda", "adding": "auto"})]
    on_cluster = [(settings, profile["default-resources"]) for settings in ({"device": "cpu"}, of_one, *not_said)]
    answers = rules_with(ROOT, *given, *on_cluster)
    *answers, submitted, one_submitted, refused, others_refused, one_refused = answers
    for rules, (settings, asked) in zip(answers, ASKS, strict=True):
        resources = rules["train_adding"]["resources"]
        assert {name: resources[name] for name in asked} == asked, settings
        assert rules["train_adding"]["memory"] == memory.of_this_machine()
    assert submitted["train_adding"]["memory"] is one_submitted["train_adding"]["memory"] is None
    assert all("device=cuda" in text for text in (refused, others_refused, one_refused))
