"""A run that was trained longer than is asked for: what is shown and judged is that of its first epochs."""

import json

import numpy as np
import pytest
from conftest import refused
from hypothesis import given
from hypothesis import strategies as st
from made import EVERY, evaluations_of, make_run

from hidden_dynamics.configuration.runs import all_runs, code_of
from hidden_dynamics.papers.deviations import deviations, first_part
from hidden_dynamics.results.record import RunRecord
from hidden_dynamics.results.run_files import RunFiles, is_finished

LONG, SHORT = 6, 4


def asked(configured, task, epochs):
    """A configuration with so many epochs, and the first of its runs: it trains alike whatever the model."""
    overrides = {"tasks": {task: {"training": {"epochs": epochs}}}}
    configuration = configured(scale="paper", only=[task], seeds=[0], overrides=overrides)
    return configuration, all_runs(configuration)[0]


@pytest.fixture
def both(configured, tmp_path):
    """Makes a run of the task with these values of its evaluations, and the same asked for SHORT epochs; with options
    of `make_run` for the long one. It gives the short run's configuration, and the short run."""

    def made(task, values, **about):
        (whole, run), (part, shorter) = (asked(configured, task, number) for number in (len(values), SHORT))
        evaluations = evaluations_of(run, values)
        for place, extra in about.pop("tested", {}).items():
            evaluations[place] |= extra
        make_run(tmp_path, whole, run, evaluations, code=code_of(run), **about)
        assert shorter.identity == run.identity
        return part, shorter

    return made


@given(values=st.lists(st.floats(0, 1), min_size=LONG, max_size=LONG), epochs=st.integers(1, LONG))
def test_the_first_epochs_of_a_run_are_those_of_a_shorter_one(configured, tmp_path_factory, values, epochs):
    norms, losses = np.float32(np.random.default_rng(0).random((LONG * EVERY, 4))), np.linspace(2, 1, LONG * EVERY)
    files, root = [], tmp_path_factory.mktemp("runs")
    for number in (LONG, epochs):
        configuration, run = asked(configured, "pmnist_gradients", number)
        recorded = norms[: -(-number * EVERY // run.spec["training"]["record_gradients"])]
        about = {"losses": losses[: number * EVERY], "clock": range(1, number + 1), "seconds": number}
        evaluations = evaluations_of(run, values[:number])
        made = make_run(root / str(number), configuration, run, evaluations, gradients=recorded, **about)
        files.append(RunFiles(made.directory, epochs))
    longer, shorter = files
    for read in (RunFiles.metrics, RunFiles.clock):
        assert read(longer) == read(shorter)
    for read in (RunFiles.train_loss, lambda files: files.gradients()[0], lambda files: files.gradients()[1]):
        np.testing.assert_array_equal(read(longer), read(shorter))
    apart = {"files": 0, "checksum": 0, "seconds": {"training": epochs}}
    own, other = longer.record(), shorter.record()
    assert own["seconds"]["training"] == epochs
    assert own | apart == other | apart


def test_a_run_that_is_longer_is_finished_and_one_that_is_shorter_is_not(configured, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lengths = [asked(configured, "pmnist", epochs) for epochs in (SHORT - 1, SHORT, LONG)]
    configuration, run = lengths[1]
    make_run(tmp_path, configuration, run, evaluations_of(run, [0.5] * SHORT), weights={}, code=code_of(run))
    assert [is_finished(*each) for each in lengths] == [True, True, False]


@pytest.mark.parametrize(("diverged_at", "status"), [(55, "finished"), (45, "finished"), (25, "diverged")])
def test_a_run_that_diverged_later_had_not_diverged(both, tmp_path, diverged_at, status):
    values = [0.1, 0.3, 0.2, 0.25, 0.9][: diverged_at // EVERY] + [0.0] * (LONG - min(5, diverged_at // EVERY))
    configuration, run = both("pmnist", values)
    whole = evaluations_of(run, values)[: diverged_at // EVERY]
    record = json.loads((tmp_path / run.directory / "run.json").read_text())
    make_run(tmp_path, configuration, run, whole, diverged_at=diverged_at, spec=record["spec"])
    found = RunFiles(tmp_path / run.directory, SHORT).record()
    assert (found["status"], found["diverged_at"]) == (status, None if status == "finished" else diverged_at)


def test_a_test_at_weights_that_are_gone_is_not_made_up(both, tmp_path):
    """Mortality is tested once, with the weights of the best validation."""
    configuration, run = both("physionet", [0.5, 0.6, 0.55, 0.5, 0.7, 0.6], tested={4: {"test_auc": 0.8}})
    path = tmp_path / run.directory / "run.json"
    with refused(str(LONG), file=path, key="training.epochs"):
        RunRecord.read(configuration, run, tmp_path)
    configuration, run = both("physionet", [0.5, 0.7, 0.55, 0.5, 0.6, 0.6], tested={1: {"test_auc": 0.8}})
    assert RunRecord.read(configuration, run, tmp_path).metrics["test_auc"] == 0.8
    RunFiles(tmp_path / run.directory, SHORT).check_weights()


def test_weights_of_a_later_epoch_are_not_taken_for_these(both, tmp_path):
    configuration, run = both("pmnist", [0.1, 0.9, 0.2, 0.25, 0.3, 0.8])
    with refused(file=tmp_path / run.directory / "run.json", key="training.epochs"):
        RunFiles(tmp_path / run.directory, SHORT).check_weights()


def test_the_first_part_of_the_papers_training_deviates_in_its_numbers_and_not_in_its_course(configured, tmp_path):
    configuration, run = asked(configured, "pmnist", 13)
    files = make_run(tmp_path, configuration, run, evaluations_of(run, [0.5] * 13))
    record = RunRecord.of(configuration, run, files.record(), files)
    assert first_part(configuration, "pmnist") == "after 13 of 150 epochs"
    assert deviations(configuration, [record]) == ["after 13 of 150 epochs"]
    assert deviations(configuration, [record], course=True) == deviations(configuration, [record], trained=False) == []
    changed = {"pmnist": {"training": {"epochs": 13, "batch_size": 64}}, "adding": {"training": {"epochs": 20}}}
    other = configured(scale="paper", overrides={"tasks": changed})
    assert first_part(other, "adding") == "after 2,000 of 120,000 iterations"
    assert first_part(other, "pmnist") == "" != deviations(other, [record], course=True)


def test_the_first_epochs_of_a_run_whose_test_failed_failed_theirs(both, tmp_path):
    failure = {"cause": "step size underflow", "time": 1.0, "step": 1, "during": "test"}
    values = [0.5, 0.7, 0.55, 0.5, 0.6, 0.6]
    configuration, run = both("physionet", values, failure=failure, diverged_at=LONG * EVERY)
    record = RunFiles(tmp_path / run.directory, SHORT).record()
    assert (record["status"], record["failure"]) == ("diverged", failure)
    configuration, run = both("physionet", [*values[:4], 0.9, 0.6], failure=failure, diverged_at=LONG * EVERY)
    with refused(file=tmp_path / run.directory / "run.json", key="training.epochs"):
        RunRecord.read(configuration, run, tmp_path)
