"""A workflow that is killed, one on a full disk, two at once: nothing is lost, and the same command goes on.

After a kill of Snakemake, that is once its locks are removed.
"""

import contextlib
import json
import os
import random
import re
import secrets
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
import torch
from conftest import wait_until
from repository import PARITY, Workflow, add_what_a_user_adds, copy_repository

from hidden_dynamics.training.checkpoint import Checkpoint

pytestmark = [pytest.mark.faults, pytest.mark.representative]

KILLS = ["the whole group", "Snakemake alone", "a training"]
PAGE = os.sysconf("SC_PAGE_SIZE")
FULL = "No space left on device: the disk at "
TINY = {"sizes": {128: 4, 256: 6}, "training": {"epochs": 1, "batch_size": 360}}
OVERRIDES = {"tasks": {"mnist": TINY, "pmnist": TINY, "parity": {"training": {"epochs": 500}}}}
TARGETS = ["momentumrnn_table11", "momentumrnn_figure9", f"{PARITY}/run.json"]
RUN_FILES = ("metrics.csv", "train_loss.npy", "model.pt")


def new_workflow(root: Path) -> Workflow:
    """A copy of the repository with a user's additions; checkpoints are written more often than every minute."""
    root.mkdir(exist_ok=True)
    copy_repository(root)
    add_what_a_user_adds(root)
    workflow = Workflow(root)
    workflow.edit("hidden_dynamics/training/checkpoint.py", "SECONDS = 60.0", "SECONDS = 0.2")
    workflow.edit("hidden_dynamics/training/checkpoint.py", "AN_EVALUATION = 5.0", "AN_EVALUATION = 0.1")
    return workflow


def results_of(workflow: Workflow) -> dict[str, bytes]:
    """All that must be the same after any fault, by path: what holds no times.

    A step that was killed in a writing leaves a hidden file beside the table or figure, which is no result.
    """
    folder = workflow.root / "out/demo"
    found = [folder.glob(f"runs/*/*/*/{name}") for name in RUN_FILES]
    found += [folder.glob(f"{kind}/[!.]*") for kind in ("tables", "figures")]
    return {str(path.relative_to(folder)): path.read_bytes() for paths in found for path in paths}


def records_of(workflow: Workflow) -> dict[str, dict]:
    """run.json of every run, without its times and what depends on them."""
    records = {}
    for path in workflow.root.glob("out/demo/runs/*/*/*/run.json"):
        record = json.loads(path.read_text())
        del record["files"]["clock.csv"]
        for name in ("seconds", "checksum", "peak_memory_mb", "solver"):  # of times, too
            record.pop(name, None)
        records[str(path.relative_to(workflow.root))] = record
    return records


def start(workflow: Workflow, *targets: str) -> subprocess.Popen:
    """Snakemake, started as in a terminal."""
    return workflow.start(*targets, overrides=OVERRIDES)


def processes_in(root: Path, program: str = "") -> list[int]:
    """The processes at work in a directory whose command line has `program`."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (path / "cwd").resolve() == root and program in (path / "cmdline").read_bytes().decode(errors="replace"):
                found.append(int(path.name))
    return found


def trainings_in(root: Path) -> list[int]:
    """The processes that train, not the shells that started them."""
    found = []
    for pid in processes_in(root, "scripts/train.py"):
        with contextlib.suppress(OSError):
            if os.path.basename(Path(f"/proc/{pid}/exe").readlink()).startswith("python"):
                found.append(pid)
    return found


def outputs_of(run: Path) -> dict[str, bytes]:
    return {name: (run / name).read_bytes() for name in RUN_FILES}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A workflow that was left alone, not to be changed, and the seconds it took."""
    workflow, began = new_workflow(tmp_path_factory.mktemp("finished") / "repository"), time.monotonic()
    assert start(workflow, *TARGETS).wait() == 0, (workflow.root / "said").read_text()[-3000:]
    return workflow, time.monotonic() - began


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
    for pid in [pid for root in made for pid in processes_in(root)]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


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


def unlock(workflow):
    """What a killed Snakemake makes necessary."""
    assert start(workflow, "--unlock").wait() == 0, (workflow.root / "said").read_text()[-3000:]


def wait_for_a_training(process, root):
    """Or for the end of its workflow."""
    wait_until(lambda: trainings_in(root) or process.poll() is not None)


def assert_as_undisturbed(workflow, undisturbed):
    wait_until(lambda: not processes_in(workflow.root))  # a step that its Snakemake has left behind
    made, results = results_of(workflow), results_of(undisturbed)
    assert sorted(made) == sorted(results)
    assert [path for path in made if made[path] != results[path]] == []
    assert records_of(workflow) == records_of(undisturbed)
    assert not list((workflow.root / "out/demo/runs").glob("*/*/*/.*"))  # on the way to its final name, or a lock


def test_a_workflow_killed_at_random_is_continued_by_the_same_command_to_the_same_results(fresh, undisturbed):
    """Each kill hits what the one before left; where a workflow came to its end first, a fresh one goes on."""
    seed = secrets.randbits(32)
    print(f"the moments are those of random.Random({seed})")
    dice, (whole, seconds) = random.Random(seed), undisturbed
    kinds, workflow, ended = dice.sample(KILLS, len(KILLS)), fresh(), []
    while kinds:
        unlock(workflow)
        process, begun = start(workflow, *TARGETS), time.monotonic()
        moment = dice.uniform(0.1, 0.6) * seconds
        if kinds[-1] == "a training":  # a part of the time alone has one
            wait_for_a_training(process, workflow.root)
            moment = dice.uniform(0.0, 2.0)
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
            workflow, seconds = fresh(), min(seconds, time.monotonic() - begun)  # the first may have been a slow one
    unlock(workflow)
    assert start(workflow, *TARGETS).wait() == 0, (workflow.root / "said").read_text()[-3000:]
    for one in [*ended, workflow]:
        assert_as_undisturbed(one, whole)


def test_a_second_workflow_is_refused_and_one_after_a_kill_waits_for_what_was_left_at_work(fresh, undisturbed):
    workflow, target = fresh(), f"{PARITY}/run.json"
    first = start(workflow, target)
    training = wait_until(lambda: trainings_in(workflow.root))
    wait_until((workflow.root / PARITY / ".lock").exists)
    os.kill(training[0], signal.SIGSTOP)  # it is still at work, however slowly the second one starts

    assert start(workflow, target).wait() == 1
    said = (workflow.root / "said").read_text()
    assert "cannot be locked" in said and "no other Snakemake process" in said and "Traceback" not in said
    assert first.poll() is None

    first.kill()
    first.wait()
    unlock(workflow)
    third = start(workflow, target)
    log = workflow.root / "out/demo/logs/train-parity-0.log"
    wait_until(lambda: log.exists() and "another process is at it" in log.read_text())
    os.kill(training[0], signal.SIGCONT)
    assert third.wait() == 0
    assert outputs_of(workflow.root / PARITY) == outputs_of(undisturbed[0].root / PARITY)
    assert start(workflow, target).wait() == 0 and "Nothing to be done" in (workflow.root / "said").read_text()


@pytest.fixture
def disk(tmp_path):
    """A file system in memory; the test is skipped where it cannot be mounted."""
    point = tmp_path / "disk"
    point.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(point)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted here (that takes root)")
    yield point
    subprocess.run(["umount", "--lazy", str(point)], check=True)


@contextlib.contextmanager
def filled(disk, pages_left=0):
    """All but some pages of the disk taken."""
    filler = disk / "filler"
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    with open(filler, "wb") as handle:
        os.posix_fallocate(handle.fileno(), 0, max(free - pages_left * PAGE, 1))
    try:
        yield
    finally:
        filler.unlink()


def test_checkpoints_that_find_no_room_leave_the_last_good_one_however_often_they_fail(disk, capsys):
    checkpoint = Checkpoint(disk, "abc")
    for k in range(3):
        checkpoint.save({"x": torch.full((50_000,), k)})
    with filled(disk):
        for k in range(3, 8):
            checkpoint.save({"x": torch.full((60_000,), k)})  # larger: one as large finds the room of the oldest
            assert Checkpoint(disk, "abc").load()["x"][0] == 2
    warnings = capsys.readouterr().err.splitlines()
    assert len(warnings) == 1  # not one a minute, for days
    assert FULL + str(disk) in warnings[0] and "Make room" in warnings[0]
    checkpoint.drop_previous()  # it is all there is
    assert Checkpoint(disk, "abc").load()["x"][0] == 2
    checkpoint.save({"x": torch.full((50_000,), 8)})
    assert Checkpoint(disk, "abc").load()["x"][0] == 8
    with filled(disk):
        checkpoint.save({"x": torch.full((60_000,), 9)})
    assert FULL in capsys.readouterr().err  # a new warning
    assert sorted(path.name for path in disk.iterdir()) == ["checkpoint.previous.pt"]


def test_a_workflow_on_a_full_or_read_only_disk_says_so_and_goes_on_when_it_is_mended(undisturbed, disk, tmp_path):
    (finished, _), root = undisturbed, tmp_path / "repository"
    shutil.copytree(finished.root, root, ignore=shutil.ignore_patterns("out", ".snakemake"))
    (root / "out").symlink_to(disk)
    workflow, target = Workflow(root), f"{PARITY}/run.json"

    def said():
        code = start(workflow, target).wait()
        return code, (root / "said").read_text()

    with filled(disk, 4):  # the directories and the job's log
        code, text = said()
    assert code == 1 and f"{FULL}{disk}" in text and "Check that the disk has room" in text, text
    assert "Traceback" not in text, text
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    code, text = said()
    assert code == 1 and re.search(r"Read-only file system: '?out/demo/", text), text  # Snakemake's own message
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    assert said()[0] == 0
    assert outputs_of(root / PARITY) == outputs_of(finished.root / PARITY)
