"""NT-ASGD, and the test that is made once on the best weights."""

import json
import math
import signal

import loops
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from hidden_dynamics.errors import UserError
from hidden_dynamics.results import writing
from hidden_dynamics.tasks.task import ValidatedTask
from hidden_dynamics.training import optimisers
from hidden_dynamics.training.interruption import Interrupted
from hidden_dynamics.training.reported import averaging_is_due

LOSSES = [3.0, 2.0, 2.5, 2.6, 1.5, 1.8]  # with n = 1, averaging begins after the fourth: 2.6 > min(3.0, 2.0)


class Scripted(loops.Regression, ValidatedTask):
    """The validation losses are those of the script, which it uses up; the test is a fact of the weights."""

    def __init__(self, script):
        super().__init__()
        self.script, self.evaluated, self.tests = script, [], 0

    def evaluate(self, network):
        assert not network.training
        self.evaluated.append(network.weight.detach().clone())
        return {"validation_loss": self.script.pop(0)}

    def measure(self, part, network):
        assert not network.training and part == "test"
        self.tests += 1
        return {"test_loss": network.weight.detach().sum().item()}


def spec_of(nonmonotone=1, **training):
    averaging = None if nonmonotone is None else {"metric": "validation_loss", "nonmonotone": nonmonotone}
    sgd = {"main": {"name": "SGD", "lr": 0.05, "weight_decay": 0.01}}
    given = {"averaging": averaging, "report": {"metric": "validation_loss", "rule": "min"}, "optimisers": sgd}
    return loops.spec_of(epochs=6, clip_norm=None, seed=3, **given | training)


def run_loop(directory, task, spec=None, groups=("main",)):
    return loops.run_loop(directory, spec or spec_of(), task, loops.Linear(groups, noise=0.1))


@pytest.fixture
def steps(monkeypatch):
    """The weights after each step of the training."""
    weights, update = [], optimisers.update

    def noting(loss, network, *arguments):
        update(loss, network, *arguments)
        weights.append(network.weight.detach().clone())

    monkeypatch.setattr(optimisers, "update", noting)
    return weights


@given(st.lists(st.integers(0, 30), min_size=1, max_size=25), st.integers(1, 6))
def test_averaging_is_due_where_the_algorithm_says_so(losses, n):
    """Merity, Keskar and Socher 2018, Algorithm 1, with t evaluations in the logs and v the new one."""
    logs, due = [], []
    for v in losses:
        t = len(logs)
        due.append(t > n and v > min(logs[i] for i in range(t - n)))
        logs.append(v)
    assert [averaging_is_due(losses[: k + 1], n) for k in range(len(losses))] == due


def test_what_is_evaluated_is_the_mean_over_the_steps_since(tmp_path, steps):
    task = Scripted(list(LOSSES))
    run_loop(tmp_path, task)
    for evaluation, weights in enumerate(task.evaluated, start=1):
        done = 3 * evaluation
        expected = torch.stack(steps[12:done]).double().mean(0) if done > 12 else steps[done - 1].double()
        torch.testing.assert_close(weights.double(), expected, rtol=1e-6, atol=0)


def test_the_steps_go_on_as_without_averaging(tmp_path, steps):
    run_loop(tmp_path / "with", Scripted(list(LOSSES)))
    with_averaging = [*steps]
    steps.clear()
    history, _ = run_loop(tmp_path / "without", Scripted(list(LOSSES)), spec_of(nonmonotone=None))
    assert len(steps) == 18 and all(map(torch.equal, steps, with_averaging))
    assert history.averaged_since is None


@pytest.mark.parametrize(
    ("losses", "since"), [(LOSSES, 12), ([6, 5, 4, 3, 2, 1], None), ([1, 2, 3, 4, 5, 6], 9), ([5, 4, 3, 2, 1, 9], 18)]
)
def test_it_is_averaged_where_that_is_due_and_tested_once_where_it_was_best(tmp_path, losses, since):
    task = Scripted(list(losses))
    history, network = run_loop(tmp_path, task)
    assert history.averaged_since == since
    best = losses.index(min(losses))
    assert [("test_loss" in row) for row in history.metrics] == [k == best for k in range(6)]
    assert history.metrics[best]["test_loss"] == task.evaluated[best].sum().item()
    assert torch.equal(network.weight.detach(), task.evaluated[best])
    assert task.tests == 1


@pytest.mark.parametrize("losses", [[math.nan] * 6, [math.inf] * 6])
def test_where_no_validation_loss_is_a_number_there_is_no_test(tmp_path, losses):
    task = Scripted(list(losses))
    history, _ = run_loop(tmp_path, task)
    assert task.tests == 0 and not any("test_loss" in row for row in history.metrics)


@pytest.mark.parametrize(("at", "best"), [(11, 1), (17, 4)])  # the fifth evaluation is of averaged weights
def test_a_training_that_diverges_is_tested_where_it_was_best(tmp_path, at, best):
    task = Scripted(list(LOSSES))
    loss, count = task.loss, iter(range(1, 100))
    task.loss = lambda network, batch: loss(network, batch) * (math.inf if next(count) == at else 1)
    history, network = run_loop(tmp_path, task)
    assert history.diverged_at == at and len(history.metrics) == (at - 1) // 3
    assert history.metrics[best]["test_loss"] == task.evaluated[best].sum().item()
    assert torch.equal(network.weight.detach(), task.evaluated[best])


def test_without_a_test_the_network_is_left_with_the_weights_of_the_last_evaluation(tmp_path):
    task = Scripted(list(LOSSES))
    task.validated = False
    for _ in range(2):  # the second time it is finished already
        history, network = run_loop(tmp_path, task)
        assert history.averaged_since == 12 and torch.equal(network.weight.detach(), task.evaluated[-1])


def test_weights_that_are_no_flat_space_are_not_averaged(tmp_path):
    spec = spec_of(optimisers={"orthogonal": {"name": "SGD", "lr": 0.05}})
    with pytest.raises(UserError, match="training.averaging: my.DTRIV has weights that cannot be averaged"):
        run_loop(tmp_path, Scripted(list(LOSSES)), spec | {"core": "my.DTRIV"}, ("orthogonal",))


def test_the_files_of_the_run_have_the_test_where_it_belongs(tmp_path):
    history, network = run_loop(tmp_path, Scripted(list(LOSSES)))
    writing.write(tmp_path, {}, history, network, spec_of()["training"])
    header, *rows = (line.split(",") for line in (tmp_path / "metrics.csv").read_text().splitlines())
    assert header == ["iteration", "epoch", "train_loss", "validation_loss", "test_loss"]
    assert [row[-1] == "" for row in rows] == [True, True, True, True, False, True]
    about = json.loads((tmp_path / "run.json").read_text())
    assert about["averaged_since"] == 12 and about["reported"]["metrics"]["test_loss"] == float(rows[4][-1])
    assert torch.load(tmp_path / "model.pt")["weight"].sum().item() == float(rows[4][-1])


class Saying(Scripted):
    """Of each of three items its test says the same as of the network."""

    items = {}

    def evaluate_test(self, network):
        measured = super().evaluate_test(network)
        self.items = {"said": np.full(3, measured["test_loss"] + 0 * torch.rand(()).item(), np.float32)}
        return measured


@pytest.mark.parametrize(("losses", "best"), [(LOSSES, 4), ([6.0, 5.0, 4.0, 3.0, 2.0, 1.0], 5), ([1.0, *[2.0] * 5], 0)])
def test_items_are_of_the_reported_evaluation_and_of_the_last_and_change_nothing(tmp_path, losses, best):
    plain, saying = Scripted(list(losses)), Saying(list(losses))
    whole, network = run_loop(tmp_path / "plain", plain), run_loop(tmp_path / "saying", saying)
    loops.assert_same(*network, whole)
    kept = {at: items["said"].tolist() for at, items in network[0].items.items()}
    assert kept == {3 * (k + 1): pytest.approx([saying.evaluated[k].sum().item()] * 3) for k in {best, 5}}
    assert saying.tests == len({best, 5})
    finished = Saying([])
    again, same = run_loop(tmp_path / "saying", finished)
    assert {at: items["said"].tolist() for at, items in again.items.items()} == kept
    assert finished.tests == 0 and again.metrics == network[0].metrics
    assert torch.equal(same.weight, network[1].weight)


@pytest.mark.parametrize("at", [1, 2])
def test_a_training_stopped_in_either_of_its_tests_has_the_items_of_one_that_was_not(tmp_path, at):
    whole, expected = run_loop(tmp_path / "whole", Saying(list(LOSSES)))
    task = Saying(list(LOSSES))
    test, count = task.evaluate_test, iter(range(1, 3))
    task.evaluate_test = lambda network: signal.raise_signal(signal.SIGTERM) if next(count) == at else test(network)
    with pytest.raises(Interrupted):
        run_loop(tmp_path / "stopped", task)
    rest = Saying([])
    history, network = run_loop(tmp_path / "stopped", rest)
    said, expected_said = ({at: items["said"].tolist() for at, items in of.items.items()} for of in (history, whole))
    assert said == expected_said and rest.tests == 3 - at
    assert history.metrics == whole.metrics and torch.equal(network.weight, expected.weight)
