"""What has finished of the plan's runs goes from one machine to another, in a directory that git keeps."""

import argparse
import json
import runpy
import shlex
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, refused
from made import FAILED, make_run

from hidden_dynamics.configuration.runs import code_of, find
from hidden_dynamics.publication.restoring import METADATA
from hidden_dynamics.results.archives import KEPT, put_back
from hidden_dynamics.results.run_files import RECORD

TOOL: dict[str, Any] = runpy.run_path(str(ROOT / "tools" / "plan_runs.py"))
keep, take_up = TOOL["keep"], TOOL["take_up"]
RUN = "physionet_extrapolation/latent_ode-n20/seed{}"


@pytest.fixture
def made(configured, tmp_path):
    def make(machine: str, *seeds: int, epochs: int | None = None, **about: Any) -> Path:
        """Where the runs of a machine are; those of A8's Latent-ODE with these seeds have finished there."""
        changes = {"tasks": {"physionet_extrapolation": {"training": {"epochs": epochs}}}} if epochs else {}
        configuration = configured(scale="paper", overrides=changes)
        for seed in seeds:
            run = find(configuration, "physionet_extrapolation", "latent_ode-n20", seed)
            make_run(tmp_path / machine, configuration, run, **{"code": code_of(run), **about})
        return tmp_path / machine / "results" / "paper" / "runs"

    return make


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}


def test_the_plan_has_its_155_runs_and_two_controls_five_each():
    assert len(TOOL["planned"]()) == 75 + 10 + 10 + 25 + 25 + 10 + 5 + 5


def test_a_run_that_finished_is_not_trained_on_another_machine(made, configured, tmp_path, monkeypatch):
    first, kept = made("first", 0, 3), tmp_path / "begun"
    assert keep(first, kept) == ([RUN.format(0), RUN.format(3)], [])
    assert "| A8 | `physionet_extrapolation` | 2 of 10 | 0.0 |" in (kept / "README.md").read_text()

    second = made("second")
    assert take_up(kept, second) == [RUN.format(0), RUN.format(3)]
    assert take_up(kept, second) == []

    monkeypatch.chdir(tmp_path / "second")
    run = find(configured(scale="paper"), "physionet_extrapolation", "latent_ode-n20", 3)
    assert put_back(run, "digest of physionet2012")  # as the run's job does before it trains
    assert contents(second / RUN.format(3)) == contents(first / RUN.format(3))


def test_what_is_kept_stays_whatever_a_machine_has(made, tmp_path):
    """One that has nothing, one that took it up and has more, one whose run failed."""
    kept = tmp_path / "begun"
    keep(made("first", 0), kept)
    before = contents(kept / "records")
    assert keep(made("bare"), kept) == ([RUN.format(0)], [])
    assert contents(kept / "records") == before

    more = made("more", 1)
    take_up(kept, more)
    assert keep(more, kept) == ([RUN.format(0), RUN.format(1)], [])

    runs, (why,) = keep(made("failed", 2, **FAILED), kept)
    assert runs == [RUN.format(0), RUN.format(1)] and RUN.format(2) in why
    assert take_up(kept, made("third")) == runs


@pytest.mark.parametrize("first", [50, 100])
def test_of_two_records_the_longer_one_is_kept_and_taken_up(made, tmp_path, first):
    kept, other = tmp_path / "begun", 150 - first
    keep(made("first", 0, epochs=first), kept)
    second = made("second", 0, epochs=other)
    assert take_up(kept, second) == ([RUN.format(0)] if first > other else [])
    keep(made("third", 0, epochs=other), kept)
    third = made("fourth")
    take_up(kept, third)
    assert json.loads((third / RUN.format(0) / KEPT / RECORD).read_bytes())["spec"]["training"]["epochs"] == 100


def test_what_has_been_published_is_kept_no_longer(made, tmp_path):
    kept, published = tmp_path / "begun", tmp_path / "paper"
    keep(made("first", 0), kept)
    keep(made("first", 0), published)
    assert keep(made("first", 0), kept) == ([], []) and not contents(kept / "records")
    assert "| A8 | `physionet_extrapolation` | 1 of 10 |" in (kept / "README.md").read_text()


def test_a_publication_is_not_written_over(made, tmp_path):
    (tmp_path / METADATA).touch()
    with refused(file=tmp_path):
        keep(made("first", 0), tmp_path)
    assert not (tmp_path / "records").exists()


def test_what_is_published_is_taken_up_and_nothing_that_is_not_planned(tmp_path):
    for directory in (TOOL["BEGUN"], TOOL["PAPER"]):
        assert {*take_up(directory, tmp_path)} <= {*TOOL["planned"]()}


def test_without_snakemake_the_runs_that_are_left_are_trained_by_the_same_settings(made, monkeypatch, capsys, tmp_path):
    made("here", 0, 1)
    options = ["--results", str(tmp_path / "here"), "--device", "cuda", "--commands", "--only", "A8", "M9"]
    monkeypatch.setattr("sys.argv", ["", *options])
    for place in ("BEGUN", "PAPER"):  # nothing is kept
        monkeypatch.setitem(TOOL["main"].__globals__, place, tmp_path)
    assert TOOL["main"]() == 0
    lines = [shlex.split(line) for line in capsys.readouterr().out.splitlines()]
    left = [(model, str(seed)) for seed in range(5) for model in ("latent_ode-n20", "ace_latent_ode-n20")]
    commands, longest = lines[:8], lines[8:]
    assert [(one[5], one[7]) for one in commands] == [run for run in left if run not in {left[0], left[2]}]
    assert all(one[:4] == ["python", "scripts/train.py", "--task", "physionet_extrapolation"] for one in commands)
    assert len(longest) == 10
    assert {json.loads(one[9])["overrides"]["tasks"]["pmnist_dtriv"]["training"]["epochs"] for one in longest} == {50}
    given = json.loads(commands[0][9])
    assert (given["scale"], given["device"], given["overrides"]) == ("paper", "cuda", {"tasks": {}})


@pytest.mark.parametrize("name", ["A8", "M1", "M9", "other"])
def test_a_block_is_published_whole_and_beside_nothing_of_other_settings(name, made, tmp_path):
    """Nine runs of A8 in ten; none of M1 and M9; M1 to another epoch than that of the runs that are published."""
    made("here", *range(4))
    options = argparse.Namespace(results=tmp_path / "here", mirror=None, device="cpu", cores=1)
    blocks = {block.name: block for block in reversed(TOOL["BLOCKS"])}
    block = (blocks | {"other": blocks["M1"]._replace(epochs=14)})[name]
    first = f"{block.task}/{block.models[name == 'A8']}-n{block.size}/seed0"
    with refused(key="pmnist" if name == "other" else first):
        TOOL["publish"](block, made("here"), options)
