"""benchmarks/gpu.py: its dry run, its limits, and its parts on a GPU."""

import csv
import json
import os
import subprocess
import sys
import zipfile

import pytest
from conftest import ROOT

sys.path.append(str(ROOT / "benchmarks"))

import gpu as benchmark  # noqa: E402


def rows(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def called(monkeypatch, output, *arguments):
    monkeypatch.setattr(sys, "argv", ["gpu.py", "--output", str(output), *map(str, arguments)])
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))  # is put back
    return benchmark.main()


def test_it_starts_where_there_is_the_standard_library_alone():
    help_of = [sys.executable, "-I", "-S", ROOT / "benchmarks" / "gpu.py", "--help"]
    assert "--wheels" in subprocess.run(help_of, check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_every_part_runs_dry(monkeypatch, tmp_path):
    """Two as processes, the others here, as in theirs."""
    dry, apart = ("--device", "cpu", "--small"), ["cells", "side_by_side"]
    assert called(monkeypatch, tmp_path, *dry, "--parts", *apart) == 0
    assert [(row["part"], row["exit"]) for row in rows(tmp_path / "parts.jsonl")] == [(part, 0) for part in apart]
    for part in benchmark.LIMITS.keys() - {*apart, "tests"}:
        assert called(monkeypatch, tmp_path, *dry, "--within", part) == 0
    machine, *times = rows(tmp_path / "about.jsonl")
    assert machine["device"] == "cpu" and len({row["what"] for row in times if row["microseconds"] > 0}) == 5
    accurate = {(row["cell"], row["N"]) for row in rows(tmp_path / "accuracy.jsonl") if row["ok"]}
    assert {("nn.LSTM", 8), ("DTRIV", 12)} <= accurate
    groups = rows(tmp_path / "steps.jsonl")
    assert len({row["group"] for row in groups if row["repeats"] and row["seconds"] <= row["first_step"]}) >= 5
    with (tmp_path / "cells.csv").open(newline="", encoding="utf-8") as file:
        variants = {row["variant"] for row in csv.DictReader(file)}
    assert {"nn.LSTM", "AdamDTRIV"} <= variants and len(variants) >= 13
    assert {row["processes"] for row in rows(tmp_path / "side_by_side.jsonl") if row["steps_per_second"] > 0} == {1, 2}


def test_a_part_is_ended_at_its_limit_and_none_begins_that_could_end_after_the_whole(monkeypatch, tmp_path):
    monkeypatch.setattr(benchmark, "LIMITS", {"about": 0.1, "cells": 61})
    assert called(monkeypatch, tmp_path, "--device", "cpu", "--parts", "about", "cells", "--minutes", 1) == 1
    assert [row["exit"] for row in rows(tmp_path / "parts.jsonl")] == [124, None]


def test_a_part_that_an_interrupt_does_not_end_is_ended_at_its_limit_too(tmp_path):
    deaf = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(60)"
    assert benchmark.run([sys.executable, "-c", deaf], 1, tmp_path / "log.txt")["exit"] == 124
    killed = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert benchmark.run([sys.executable, "-c", killed], 60, tmp_path / "log.txt")["exit"] == -9


def test_packages_are_found_in_the_wheels_of_a_folder(monkeypatch, tmp_path):
    """A wheel whose `torch` cannot be imported comes before the installed one."""
    with zipfile.ZipFile(tmp_path / "mock_torch-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("torch.py", "raise SystemExit(3)\n")
        wheel.writestr("mock_torch-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: mock-torch\nVersion: 1\n")
        wheel.writestr("mock_torch-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        wheel.writestr("mock_torch-1.dist-info/RECORD", "")
    assert called(monkeypatch, tmp_path, "--device", "cpu", "--parts", "about", "--wheels", tmp_path) == 1
    assert [row["exit"] for row in rows(tmp_path / "parts.jsonl")] == [3]


@pytest.mark.gpu
@pytest.mark.parametrize("part", ["accuracy", "steps"])
def test_a_part_runs_on_a_gpu(part, monkeypatch, tmp_path):
    assert called(monkeypatch, tmp_path, "--small", "--within", part) == 0
    found = rows(tmp_path / f"{part}.jsonl")
    assert found and all(row.get("ok", row.get("repeats", False) is not False) for row in found)  # None: a slow machine
