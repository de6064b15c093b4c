"""`kill -9` of the workflow and of its trainings, and SIGTERM to trainings, at random moments: nothing is lost."""

import os
import random
import secrets
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import wait_until
from places import (
    TARGETS,
    cpu_seconds,
    finished_workflow,
    kill_all_in,
    left_on_the_way,
    new_workflow,
    outputs_of,
    processes_in,
    records_of,
    results_of,
    start,
    train_command,
    trainings_in,
)
from repository import Workflow

pytestmark = pytest.mark.faults

WORKFLOW_KILLS = ["the whole group"] * 4 + ["Snakemake alone"] * 4 + ["a training"] * 4
TRAINING_KILLS = 10
TERMINATIONS = 100
PARITY_DATA = "data/prepared/parity-length5-test_size8.npz"
BY_HAND = "demo/runs/parity/lstm-n3/seed0"


@pytest.fixture
def dice():
    seed = secrets.randbits(32)
    print(f"the moments are those of random.Random({seed})")
    return random.Random(seed)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A function that gives a copy of the repository in which nothing has run; what is left at work there is ended."""
    pristine = new_workflow(tmp_path_factory.mktemp("pristine"))
    made = []

    def copy():
        root = tmp_path_factory.mktemp("killed") / "repository"
        shutil.copytree(pristine.root, root)
        made.append(root)
        return Workflow(root)

    yield copy
    for root in made:
        kill_all_in(root)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The results of a workflow left alone, its records, and the seconds it took."""
    workflow, seconds = finished_workflow(tmp_path_factory)
    return results_of(workflow), records_of(workflow), seconds


def kill(kind, process, root):
    """Whether there was something to kill."""
    if kind == "the whole group":
        os.killpg(process.pid, signal.SIGKILL)
    elif kind == "Snakemake alone":
        process.kill()
    else:
        trainings = trainings_in(root)
        if not trainings:
            return False
        os.kill(trainings[0], signal.SIGKILL)
    return True


def assert_as_undisturbed(workflow, undisturbed):
    wait_until(lambda: not processes_in(workflow.root))  # a step that its Snakemake has left behind
    results, records, _ = undisturbed
    made = results_of(workflow)
    assert sorted(made) == sorted(results)
    assert [path for path in made if made[path] != results[path]] == []
    assert records_of(workflow) == records
    assert left_on_the_way(workflow) == []


def test_a_workflow_killed_at_random_is_continued_by_the_same_command_to_the_same_results(fresh, undisturbed, dice):
    """Each kill hits what the one before left; where a workflow came to its end first, a fresh one goes on."""
    kinds = dice.sample(WORKFLOW_KILLS, len(WORKFLOW_KILLS))
    workflow, ended = fresh(), []
    while kinds:
        process = start(workflow, *TARGETS)
        moment = dice.uniform(0.1, 0.6) * undisturbed[2]
        try:
            code = process.wait(timeout=moment)
        except subprocess.TimeoutExpired:
            if kill(kinds[-1], process, workflow.root):
                print(f"{kinds.pop()} killed after {moment:.1f} s")
            code = process.wait()
        said = (workflow.root / "said").read_text()
        assert "cannot be locked" not in said and "Traceback" not in said, said[-3000:]
        if code == 0:
            ended.append(workflow)
            workflow = fresh()
    assert start(workflow, *TARGETS).wait() == 0, (workflow.root / "said").read_text()[-3000:]
    for one in [*ended, workflow]:
        assert_as_undisturbed(one, undisturbed)


def undisturbed_training(workflow, name, *options):
    """The outputs of a training by hand, and the CPU seconds it took."""
    devnull = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(train_command(name, *options), cwd=workflow.root, **devnull)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return outputs_of(workflow.root / name / BY_HAND), usage.ru_utime + usage.ru_stime


def signalled(workflow, command, run, signum, count, moments, expected):
    """Trainings of one run, one after another, each sent a signal after so many CPU seconds: their exit codes.

    Each must end with 0 or one of these codes; whenever the run comes to its end, its outputs must be the expected
    ones, and it begins again.
    """
    codes, pipe = [], subprocess.PIPE
    allowed = {signal.SIGKILL: (-9,), signal.SIGTERM: (-15, 143)}[signum]
    sent = 0
    while sent < count or codes[-1] != 0:
        process = subprocess.Popen(command, cwd=workflow.root, stdout=subprocess.DEVNULL, stderr=pipe, text=True)
        if sent < count:
            moment = next(moments)
            while process.poll() is None and cpu_seconds(process.pid) < moment:
                time.sleep(0.002)
            if process.returncode is None:
                process.send_signal(signum)
                sent += 1
        _, err = process.communicate()
        codes.append(process.returncode)
        print(f"{run.parts[-6]}: {process.returncode}", flush=True)
        assert process.returncode in (0, *allowed), err
        assert "Traceback" not in err and "Fatal Python error" not in err, err
        if process.returncode == 0:
            assert outputs_of(run) == expected
            shutil.rmtree(run)
    return codes


@pytest.mark.representative
def test_a_training_killed_at_random_is_continued_to_the_same_results(fresh, dice):
    workflow = fresh()
    workflow.run(PARITY_DATA)
    expected, seconds = undisturbed_training(workflow, "alone", "--threads", "1")
    moments = iter(lambda: dice.uniform(0.4, 1.0) * seconds, None)
    command = train_command("killed", "--threads", "1")
    codes = signalled(
        workflow, command, workflow.root / "killed" / BY_HAND, signal.SIGKILL, TRAINING_KILLS, moments, expected
    )
    print(f"{codes.count(-9)} killed, {codes.count(0)} ended")
    assert codes.count(-9) >= TRAINING_KILLS - 2  # one may have ended just before it was to be killed


def test_a_training_ends_in_order_whenever_it_is_terminated(fresh, dice):
    """From its first instruction on: torch is imported, its threads started, the signals' handlers set.

    One that came amid that was once seen to corrupt memory: `Interruption` gives handlers a stack of their own.
    """
    workflow = fresh()
    workflow.run(PARITY_DATA)

    def lane(threads, seed):
        own, name = random.Random(seed), f"terminated{threads}"
        options = ["--threads", str(threads)]
        expected, seconds = undisturbed_training(workflow, f"alone{threads}", *options)
        moments = iter(lambda: own.uniform(0, 1.1) * seconds, None)
        run = workflow.root / name / BY_HAND
        command = train_command(name, *options)
        return signalled(workflow, command, run, signal.SIGTERM, TERMINATIONS // 2, moments, expected)

    with ThreadPoolExecutor(2) as pool:
        codes = sum(pool.map(lane, (1, 2), (dice.random(), dice.random())), [])
    print(f"{codes.count(-15)} by the signal itself, {codes.count(143)} in order, {codes.count(0)} at their end")
    assert codes.count(143) > 0 and codes.count(-15) > 0  # in the training, and before it
