"""Full and read-only disks: what is there stays whole, the message names the disk, and the same command goes on."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import torch
import train as script
from places import PARITY, SETTINGS, finished_workflow, outputs_of, small_disk, start
from test_training import Workplace

from hidden_dynamics.configuration.runs import OUTPUTS
from hidden_dynamics.errors import run_main
from hidden_dynamics.system.files import atomic
from hidden_dynamics.training import checkpoint as checkpoints
from hidden_dynamics.training.checkpoint import Checkpoint

pytestmark = pytest.mark.faults

PAGE = os.sysconf("SC_PAGE_SIZE")
FULL = "No space left on device: the disk at "


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "disk", "2m") as point:
        yield point


@contextmanager
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


def call(main, *arguments):
    """A script's exit code."""
    sys.argv = ["script", *map(str, arguments)]
    with pytest.raises(SystemExit) as end:
        run_main(main)
    return end.value.code


@pytest.fixture(autouse=True)
def arguments_put_back(monkeypatch):
    monkeypatch.setattr(sys, "argv", list(sys.argv))


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


def test_a_training_finds_a_full_disk_at_each_of_its_writings_and_goes_on(tmp_path, disk, capsys, monkeypatch):
    """First at a checkpoint, then at each output in turn; at last there is room."""
    monkeypatch.setattr(checkpoints, "SECONDS", -1)
    monkeypatch.setattr(checkpoints, "SECONDS_AFTER_AN_EVALUATION", -1)
    monkeypatch.setattr(checkpoints, "TIMES_A_SAVING", 0)
    alone, tried = Workplace(tmp_path / "alone"), Workplace(tmp_path / "tried")
    assert call(script.main, *alone.arguments()) == 0
    expected = {name: (alone.run / name).read_bytes() for name in OUTPUTS if name not in ("clock.csv", "run.json")}
    run = disk / tried.run.relative_to(tried.root)
    arguments = tried.arguments(tried.config(results=disk / "results"))

    def attempt():
        """The file at which it failed, or None."""
        for name in OUTPUTS:  # as Snakemake does before each attempt
            (run / name).unlink(missing_ok=True)
        capsys.readouterr()
        code, err = call(script.main, *arguments), capsys.readouterr().err
        there = {path.name: path.read_bytes() for path in run.glob("*")}
        assert {name for name in there if name in expected and there[name] != expected[name]} == set()
        if code == 0:
            return None
        assert code == 1 and "run.json" not in there and "Traceback" not in err
        refusal = re.search(r"^error: (.*) \((.*)\)\. Check that the disk has room and can be written\.$", err, re.M)
        problem, file = refusal.groups()
        assert problem == FULL + str(disk)
        return Path(file).name

    with filled(disk):  # from the beginning: the checkpoints of the training are missed, and it goes on
        assert attempt() == "metrics.csv"
    assert not (run / "checkpoint.pt").exists()
    for name in sorted(OUTPUTS):
        with ExitStack() as stack, monkeypatch.context() as patch:

            def filling(path, mode="w", stack=stack, name=name):
                if path.name == name:
                    stack.enter_context(filled(disk))
                return atomic(path, mode)

            patch.setattr(script.writing, "atomic", filling)
            assert attempt() == name
    assert attempt() is None
    assert {name: (run / name).read_bytes() for name in expected} == expected
    assert [path.name for path in run.glob(".*")] == []


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return finished_workflow(tmp_path_factory)[0]


def test_summaries_and_renderings_that_find_no_room_leave_nothing_half_written(finished, disk, tmp_path):
    """Each step of the table and the figure with more and more room, until it comes through."""
    table, figure = "momentumrnn_table11", "momentumrnn_figure9"
    steps = [("summarise", figure, "summary"), ("render", table, "tables"), ("render", figure, "figures")]
    failures = 0
    for name, artifact, folder in steps:
        expected = {
            path.name: path.read_bytes() for path in (finished.root / f"out/demo/{folder}").glob(f"{artifact}.*")
        }
        assert expected
        root = tmp_path / artifact / folder
        shutil.copytree(finished.root / "out", root / "out")
        shutil.rmtree(root / "out/demo" / folder)
        (root / "out/demo" / folder).symlink_to(disk)
        for pages in (0, 1, 4, 400):
            command = [sys.executable, f"scripts/{name}.py", "--artifact", artifact, "--root", str(root)]
            with filled(disk, pages):
                done = subprocess.run(
                    [*command, "--config", json.dumps(SETTINGS)], cwd=finished.root, capture_output=True, text=True
                )
            there = {path.name: path.read_bytes() for path in disk.glob("[!.]*")}
            assert {name: there[name] == expected[name] for name in there} == {name: True for name in there}
            if done.returncode:
                failures += 1
                assert done.stderr.startswith(f"error: {FULL}{disk} ("), done.stderr
                assert done.stderr.count("\n") == 1
            else:
                assert there == expected
                break
        assert done.returncode == 0
        for path in disk.iterdir():
            path.unlink()
    print(f"{failures} failures")
    assert failures >= len(steps)


@pytest.mark.representative
def test_a_workflow_on_a_full_or_read_only_disk_says_so_and_goes_on_when_it_is_mended(finished, disk, tmp_path):
    root = tmp_path / "repository"
    shutil.copytree(finished.root, root, ignore=shutil.ignore_patterns("out", ".snakemake"))
    (root / "out").symlink_to(disk)
    workflow, target = type(finished)(root), f"{PARITY}/run.json"

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


def test_a_training_on_a_read_only_disk_is_refused_before_it_begins(tmp_path, disk, capsys, monkeypatch):
    workplace = Workplace(tmp_path)
    (disk / "results").mkdir()
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    monkeypatch.setattr(script.loop, "train", lambda *arguments: pytest.fail("it trains"))
    assert call(script.main, *workplace.arguments(workplace.config(results=disk / "results"))) == 1
    err = capsys.readouterr().err
    assert err.startswith("error: Read-only file system") and str(disk) in err and err.count("\n") == 1, err
