"""benchmarks/gpu.py: every part's program on the CPU at small sizes, and one that fails or takes too long; and
benchmarks/train_step.py's table."""

import csv
import re
import runpy
import subprocess
import sys
from types import SimpleNamespace

import pytest
from conftest import ROOT

sys.path.append(str(ROOT / "benchmarks"))

import gpu  # noqa: E402
import shared  # noqa: E402
import train_step  # noqa: E402


@pytest.fixture
def taken(monkeypatch, tmp_path):
    """Runs gpu.py on the CPU: its exit status, and the rows of its CSV."""
    table = tmp_path / "gpu.csv"

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["gpu.py", "--device", "cpu", "--small", "--output", str(table), *arguments])
        status = gpu.main()
        return status, list(csv.DictReader(table.open(newline="", encoding="utf-8")))

    return run


@pytest.fixture
def in_this_process(monkeypatch):
    """Programs run here, and no process is started for a peak of memory."""

    def run(command, **_):
        monkeypatch.setattr(sys, "argv", command[1:])
        runpy.run_path(str(ROOT / command[1]), run_name="__main__")
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(shared, "peak_of_fresh_process", lambda *_, **__: 1.0)
    monkeypatch.setattr(gpu.subprocess, "run", run)


@pytest.mark.parametrize("part", ["cells", "language", "ode"])
def test_the_program_of_a_part_runs(taken, in_this_process, tmp_path, part):
    status, (row,) = taken("--parts", part)
    assert (status, row["part"], row["ended"]) == (0, part, "0")
    assert (tmp_path / f"{part}-cpu.csv").stat().st_size > 100


@pytest.mark.slow
def test_without_a_gpu_the_part_of_the_tests_is_no_failure(taken, capfd):
    status, (row,) = taken("--parts", "tests")
    assert (status, row["ended"]) == (0, "0")
    skipped = re.search(r"^(\d+) (skipped|passed)", capfd.readouterr().out, flags=re.MULTILINE)
    assert skipped is not None and int(skipped[1]) >= 78


def test_all_parts_end_in_ten_minutes():
    assert sum(limit for limit, *_ in gpu.PARTS.values()) <= 600


@pytest.mark.slow
def test_the_calibration_runs(taken, tmp_path):
    status, (row,) = taken("--parts", "calibration")
    assert (status, row["ended"]) == (0, "0")
    assert (tmp_path / "gpu-calibration.json").stat().st_size > 100


def test_a_part_that_fails_or_takes_too_long_leaves_the_others_alone(taken, monkeypatch):
    programs = {
        "fails": (60, ["-c", "raise SystemExit(3)", "--"]),
        "long": (0.2, ["-c", "import time; time.sleep(60)", "--"]),
        "well": (60, ["-c", "pass", "--"]),
    }
    monkeypatch.setattr(gpu, "PARTS", {name: (*part, [], []) for name, part in programs.items()})
    status, rows = taken("--parts", *programs)
    assert status == 1
    assert [row["ended"] for row in rows] == ["3", "stopped after 1.0 s", "0"]


def test_the_table_of_cells_lacks_what_did_not_end_in_time_and_is_asked_for_in_full(monkeypatch, tmp_path, capsys):
    def late(*_, **__):
        raise subprocess.TimeoutExpired("a process before its first size", 1)

    monkeypatch.setattr(subprocess, "run", late)
    monkeypatch.setattr(sys, "argv", ["train_step.py", "--table", "--output", str(tmp_path / "any.csv")])
    train_step.main()
    assert f"| {train_step.STOCK} |  |  |  |  |" in capsys.readouterr().out.splitlines()
    monkeypatch.setattr(sys, "argv", ["train_step.py", "--tab"])
    with pytest.raises(SystemExit):
        train_step.parse_arguments()
