"""What a training tells of itself while it goes on, and what scripts/watch.py makes of it."""

import json
import os
import re
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import watch
from loops import Linear
from made import evaluations_of, make_run, record_of

from hidden_dynamics.configuration.runs import all_runs, code_of
from hidden_dynamics.results import writing
from hidden_dynamics.results.run_files import UNDERWAY
from hidden_dynamics.training.loop import History

ONLY = {"only": ["mnist/lstm/128", "mnist/momentum_lstm/128"], "seeds": [0, 1, 2]}


def test_a_run_under_way_is_written_every_twenty_seconds(tmp_path, monkeypatch):
    now, written = [100.0], []
    monkeypatch.setattr(writing, "time", SimpleNamespace(monotonic=lambda: now[0]))
    writer = writing.UnderWayWriter(tmp_path, {}, Linear(), {})
    monkeypatch.setattr(writer, "_write", lambda *given: written.append(now[0]))
    for _ in range(20):
        now[0] += 7.0
        writer(History(), None)
    assert written == [121.0, 142.0, 163.0, 184.0, 205.0, 226.0] and writer.longest_pause == 21.0


@pytest.fixture
def results(configured, tmp_path):
    """Makes the results of a scale, and gives their directory: of six runs one has finished, one is of other code, one
    failed, two are under way, of which one has been silent for an hour, and one waits."""

    def make(scale="demo"):
        configuration = configured(scale=scale, results=str(tmp_path / "results"), **ONLY)
        _, two, three, four, five, six = all_runs(configuration)
        make_run(tmp_path, configuration, six, seconds=1000.0, code=code_of(six))
        make_run(tmp_path, configuration, four, code="of other code")
        make_run(tmp_path, configuration, two, status="failed", failure={"error": "ValueError: <b>no[/]"})
        under_way(configuration, three, [0.25, 0.5])
        under_way(configuration, five, [], silent=3600.0)
        return tmp_path / "results" / scale

    return make


def under_way(configuration, run, accuracies, silent=0.0):
    """A run half of whose hundred iterations, ten an epoch, are done, in as many seconds."""
    rows = [row | {"test_loss": 1.75, "train_loss": 2.0} for row in evaluations_of(run, accuracies)]
    about = {"iterations": 100, "epochs": 10.0, "epoch": 5.0, "losses": [0.5, 1.5], "pace": 1.0, "longest_pause": 9.0}
    about["evaluations"] = rows
    naive = {"test_accuracy": {"majority class": 0.1135}}
    record = record_of(configuration, run, rows, status="running", naive=naive) | {"iterations": 50, "under_way": about}
    Path(run.directory).mkdir(parents=True)
    Path(run.directory, UNDERWAY).write_text(json.dumps(record))
    os.utime(Path(run.directory, UNDERWAY), 2 * (time.time() - silent,))


def test_a_look_shows_each_run_under_way_and_counts_the_others_as_does_the_page(results, ended, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "200")
    page = tmp_path / "page.html"
    said = ended(watch.main, results(), "--once", "--page", page, "--config", json.dumps(ONLY))
    assert (said.code, said.err) == (0, "")
    summary, left, *shown = said.out.splitlines()
    other = "(1 of them there, of other code or settings)"
    assert summary == f"6 runs: 1 finished, 1 failed, 1 running, 1 standing still, 2 waiting {other}"
    # 50 s of each that is under way; 100 s of one that waits, as another of its model takes; 600 s, the mean of two
    assert left == "Left: 13.3 min of training"
    text = " ".join(shown)
    for expected in ("50 of 100", "epoch 5 of 10", "███████░", "██▁", "Test accuracy: 50.00 %", "class: 11.35 %"):
        assert expected in text
    assert "no sign for 60 min" in text and "seed1 failed: ValueError: <b>no[/]" in text
    assert "authors" not in text  # they logged no such size
    text = page.read_text(encoding="utf-8")
    assert 'http-equiv="refresh" content="5"' in text and not re.search(r"https?://|src=|href=|<script", text)
    assert text.count('<progress max="1" value="0.5">') == 2 and text.count("<polyline") == 1
    assert "ValueError: &lt;b&gt;no[/]" in text and "no sign for 60 min" in text


def test_the_authors_loss_stands_beside_that_of_a_run_with_their_settings(results, ended, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    said = ended(watch.main, results("paper"), "--once", "--config", json.dumps(ONLY)).out
    assert "test loss after epoch 2: 1.75, the authors': 2.244 ± 0.05 (n = 5)" in said


def test_files_that_go_and_come_while_they_are_read_are_waited_for(results, configured, tmp_path):
    results()
    looking = watch.Watch(configured(scale="demo", results=str(tmp_path / "results"), **ONLY))
    looking.look()
    running = Path(next(run for run in looking.runs if run.id == looking.rows[0].name[1]).directory)
    for content in ("", "{"):  # of a machine that lost its power
        (running / UNDERWAY).write_text(content)
        looking.look()
        assert len(looking.rows) == 1
    (running / UNDERWAY).unlink()
    looking.look()
    assert len(looking.rows) == 1


@pytest.mark.parametrize(("terminal", "looks"), [(False, 2), (True, 3)])
def test_ctrl_c_ends_it_without_a_word(results, ended, monkeypatch, terminal, looks):
    monkeypatch.setattr(watch.time, "sleep", Mock(side_effect=[None, KeyboardInterrupt]))
    monkeypatch.setattr(watch, "Console", partial(watch.Console, force_terminal=terminal))
    said = ended(watch.main, results(), "--config", json.dumps(ONLY))
    assert (said.code, said.err, said.out.count("6 runs:")) == (0, "", looks)
