"""benchmarks/train_step.py: its steps at small sizes, and its table."""

import sys

from conftest import ROOT

sys.path.append(str(ROOT / "benchmarks"))

import train_step  # noqa: E402

SMALL = ["--sizes", "8", "--steps", "5", "--batch", "2", "--rounds", "1", "--threads", "1", "--device", "cpu"]


def test_every_cell_is_timed(monkeypatch, tmp_path):
    monkeypatch.setattr(train_step, "peak_of_fresh_process", lambda *_, **__: 1.0)
    monkeypatch.setattr(sys, "argv", ["train_step.py", *SMALL, "--output", str(tmp_path / "cells.csv")])
    train_step.main()
    assert len((tmp_path / "cells.csv").read_text(encoding="utf-8").splitlines()) > len(train_step.FILTERS)
