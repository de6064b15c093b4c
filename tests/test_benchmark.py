"""benchmarks/train_step.py: its steps at small sizes, and its table."""

import subprocess
import sys

import pytest
from conftest import ROOT

sys.path.append(str(ROOT / "benchmarks"))

import train_step  # noqa: E402

SMALL = ["--sizes", "8", "--steps", "5", "--batch", "2", "--rounds", "1", "--threads", "1", "--device", "cpu"]


def test_every_cell_is_timed(monkeypatch, tmp_path):
    monkeypatch.setattr(train_step, "peak_of_fresh_process", lambda *_, **__: 1.0)
    monkeypatch.setattr(sys, "argv", ["train_step.py", *SMALL, "--output", str(tmp_path / "cells.csv")])
    train_step.main()
    assert len((tmp_path / "cells.csv").read_text(encoding="utf-8").splitlines()) > len(train_step.FILTERS)


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
