"""benchmarks/gpu.py: its parts on the CPU at small sizes, what it keeps, what fails."""

import contextlib
import csv
import fcntl
import importlib
import json
import math
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from conftest import ROOT, wait_until

sys.path.append(str(ROOT / "benchmarks"))

import gpu  # noqa: E402
import gpu_parts  # noqa: E402
from gpu_parts import Failed, Figure, Part, Session, at_least, at_most  # noqa: E402
from test_forecast import made_up  # noqa: E402

from hidden_dynamics.measurements.forecast.calibrating import Calibrator  # noqa: E402

SKIPPED = "skipped: needs a GPU"


@pytest.fixture
def measured(ended, tmp_path):
    """Runs gpu.py on the CPU; how it ended, and the rows of its CSV."""
    table = tmp_path / "gpu.csv"

    def run(*arguments, device="cpu"):
        end = ended(gpu.main, "--device", device, "--output", table, *arguments)
        return end, list(csv.DictReader(table.open(newline="", encoding="utf-8"))) if table.exists() else []

    return run


@pytest.fixture
def in_one_process(monkeypatch):
    """Benchmarks and scripts run in this process, and name themselves in the list."""
    ran = []

    def run(self, script, *arguments, settings=None):
        ran.append(script)
        self.place.mkdir(exist_ok=True)
        if settings is not None:
            monkeypatch.setenv("HIDDEN_DYNAMICS_CONFIG", json.dumps(settings))
        if script == "scripts/train_job.py":  # which becomes, or starts, processes of this:
            script, arguments = "scripts/train.py", arguments[: arguments.index("--threads")]
        module = importlib.import_module(script.removesuffix(".py").replace("/", "."))
        for measuring in filter(None, (module, sys.modules.get("shared"))):  # most ask through benchmarks/shared.py
            monkeypatch.setattr(measuring, "peak_of_fresh_process", lambda *_, **__: 1.0, raising=False)
        monkeypatch.setattr(sys, "argv", [script, *map(str, arguments)])
        if module.main():
            raise Failed(script)

    monkeypatch.setattr(Session, "run", run)
    monkeypatch.setattr(Calibrator, "calibrate", lambda self, runs: made_up(runs))  # else in processes of its own
    return ran


@pytest.fixture
def parts(monkeypatch):
    """Parts of a test's own, by name; each counts how often it was taken."""
    taken = []

    def give(**functions):
        def counted(name, function):
            def take(session):
                taken.append(name)
                yield from function(session)

            return take

        made = {name: Part(counted(name, function), 60) for name, function in functions.items()}
        for name in [*gpu_parts.PARTS]:
            monkeypatch.delitem(gpu_parts.PARTS, name)
        for name, part in made.items():
            monkeypatch.setitem(gpu_parts.PARTS, name, part)
        return taken

    return give


@pytest.fixture
def a_gpu(monkeypatch):
    """A machine that says it has one, for parts that run nothing."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(gpu, "machine", lambda _: {"device": "a GPU", "torch": torch.__version__, "date": "today"})


def session(tmp_path):
    return Session("part", "cpu", True, None, tmp_path / "gpu.csv", time.monotonic() + 600)


@pytest.mark.slow
def test_every_part_is_taken_on_the_cpu_and_then_kept(measured, in_one_process):
    end, rows = measured("--small")
    assert end.code == 0, end.err
    for name in gpu.PARTS:
        *figures, last = [row for row in rows if row["part"] == name]
        assert last["what"] == (SKIPPED if name == "tests" else gpu.WHOLE)
        assert bool(figures) == (name != "tests")
        assert all(float(row["value"]) >= 0 and row["device"] and row["code"] for row in figures)
        assert not any(row["met"] or row["target"] for row in figures)  # of small sizes, and of a CPU, there is none
    assert SKIPPED in end.out and "random images" in end.out
    ran = [*in_one_process]
    end, again = measured("--small")
    assert (end.code, in_one_process, again) == (0, ran, rows)


def test_without_a_gpu_nothing_is_run(measured, parts):
    taken = parts(one=lambda _: iter([Figure("a", 1.0)]))
    end, rows = measured(device="cuda")
    assert (end.code, taken, rows) == (1, [], []) and "GPU" in end.err and end.err.count("\n") == 1


def test_a_part_that_fails_is_named_and_the_others_are_taken(measured, parts, a_gpu):
    def failing(_):
        yield Figure("half", 0.5)
        raise Failed("no luck")

    def unreadable(_):
        yield Figure("found", float({}["nothing"]))

    taken = parts(one=failing, two=unreadable, three=lambda _: iter([Figure("b", 2.0, at_most(1))]))
    end, rows = measured(device="cuda")
    assert end.code == 1 and [line.split(":")[1].strip() for line in end.err.splitlines()] == ["one", "two"]
    assert [(row["part"], row["what"]) for row in rows] == [("one", "half"), ("three", "b"), ("three", gpu.WHOLE)]
    assert taken == ["one", "two", "three"] and "MISSED" in end.out and "0 of 1 targets" in end.out
    end, rows = measured(device="cuda")
    assert taken[3:] == ["one", "two"] and [row["what"] for row in rows].count("half") == 1


def test_what_was_taken_elsewhere_or_with_other_code_is_taken_again(measured, parts, monkeypatch):
    taken = parts(one=lambda _: iter([Figure("a", 1.0)]), two=lambda _: iter([Figure("b", 2.0)]))
    measured()
    monkeypatch.setattr(gpu, "digest_of", lambda name, *_: "other" if name == "one" else gpu_parts.digest_of(name, *_))
    measured()
    assert taken == ["one", "two", "one"]
    monkeypatch.setattr(gpu, "machine", lambda _: {"device": "another", "torch": torch.__version__, "date": "today"})
    _, rows = measured("--parts", "two")
    assert taken[3:] == ["two"] and {row["part"]: row["device"] for row in rows}["two"] == "another"
    assert [row["part"] for row in rows] == ["one", "one", "two", "two"]


def test_sizes_and_a_mirror_are_part_of_what_is_kept():
    assert len({gpu_parts.digest_of("epoch", small, mirror) for small in (0, 1) for mirror in (0, 1)}) == 4
    assert gpu_parts.digest_of("lstm", False, False) != gpu_parts.digest_of("orthogonal", False, False)


def test_all_parts_have_twenty_minutes_together():
    assert sum(part.seconds for part in gpu_parts.PARTS.values()) <= 20 * 60


@pytest.mark.parametrize(
    ("target", "value", "met"),
    [(at_most(1.25), 1.25, "yes"), (at_most(1.25), 1.26, "no"), (at_least(8), 8.0, "yes"), (None, 8.0, "")],
)
def test_a_figure_meets_its_target_or_not(target, value, met):
    columns = Figure("what", value, target).columns()
    assert (columns["met"], columns["target"]) == (met, str(target or ""))


def test_a_program_that_fails_is_said_in_its_own_last_line(tmp_path):
    here = session(tmp_path)
    with pytest.raises(Failed, match="code 1: no memory"):
        here.run("-c", "print('begun'); raise SystemExit('no memory')")
    assert "begun" in here.log.read_text()
    here.run("-c", "import os; assert 'scale' in os.environ['HIDDEN_DYNAMICS_CONFIG']", settings={"scale": "demo"})


HOLDER = """
import fcntl, sys, time
file = open(sys.argv[1], "w")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", file=file, flush=True)
time.sleep(600)
"""


def test_a_program_is_ended_with_what_it_started_when_its_time_is_over(tmp_path, monkeypatch):
    """Which is as soon as its child is at work. That holds a lock as long as it lives."""
    path = tmp_path / "lock"
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HOLDER!r}, {str(path)!r}])"
    clock = SimpleNamespace(monotonic=lambda: wait_until(lambda: path.exists() and path.read_text()) and math.inf)
    monkeypatch.setattr(gpu_parts, "time", clock)
    with pytest.raises(Failed, match="time is over"):
        session(tmp_path).run("-c", program)

    def free():
        with path.open() as file, contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True

    wait_until(free, seconds=300)


def test_what_a_benchmark_has_written_is_read_although_it_failed(tmp_path, monkeypatch):
    table = tmp_path / "some-cpu.csv"

    def ended_half_way(self, *_):
        table.write_text("a\n1\n")
        raise Failed("its time is over")

    def failing_at_once(self, *_):
        raise Failed("at once")

    monkeypatch.setattr(Session, "run", ended_half_way)
    rows = session(tmp_path).benchmark("some")
    assert next(rows) == {"a": "1"}
    with pytest.raises(Failed, match="time"):
        next(rows)
    monkeypatch.setattr(Session, "run", failing_at_once)
    with pytest.raises(Failed, match="at once"):  # the table of before is not taken for its own
        next(session(tmp_path).benchmark("some"))


def test_an_epoch_that_several_share_the_gpu_in_is_their_second(tmp_path):
    (tmp_path / "clock.csv").write_text("iteration,training_seconds,evaluation_seconds\n100,9,1\n200,13,1.5\n")
    assert gpu_parts.second_epoch(tmp_path) == 4.5


def test_failing_tests_fail_their_part_and_are_named(tmp_path, monkeypatch):
    ends = {"good": "", "bad": "<failure/>", "left": "<skipped/>"}
    cases = "".join(f'<testcase name="{name}">{end}</testcase>' for name, end in ends.items())

    def run(self, *arguments):
        Path(arguments[-1]).write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
        raise Failed("exit code 1")

    monkeypatch.setattr(Session, "run", run)
    figures = gpu_parts.tests(session(tmp_path))
    assert [next(figures).value for _ in range(3)] == [1, 1, 1]
    with pytest.raises(Failed, match="bad"):
        next(figures)
