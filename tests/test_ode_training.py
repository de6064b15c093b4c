"""Trainings of an ACE-ODE-Net: their function evaluations, the test at their end, and solvers that fail."""

import json
import math

import numpy as np
import pytest
import torch
import train as script
from loops import CPU, assert_same, run_loop

from hidden_dynamics.configuration.runs import resolve
from hidden_dynamics.data import prepared
from hidden_dynamics.results import writing
from hidden_dynamics.training.building import build

TASK, MODEL = "svhn_images", "ace_ode_net"  # whose maps are 2x2 here
TRAIN, HELD_OUT, TEST, BATCH, EPOCHS = 35, 12, 20, 10, 3


def arrays():
    """Digits-like: noise whose bright corner tells the class."""
    rng, made = np.random.default_rng(0), {"levels": np.array(16, np.float32)}
    for split, size in (("train", TRAIN), ("test", TEST)):
        labels, images = rng.integers(0, 4, size), rng.integers(0, 9, (size, 8, 8))
        for image, label in zip(images, labels, strict=True):
            image[4 * (label // 2) :, 4 * (label % 2) :][:4, :4] += 8
        made[f"{split}_images"] = images.reshape(size, 64).astype(np.uint8)
        made[f"{split}_labels"] = labels.astype(np.uint8)
    return made


def settings_of(variant="published", max_steps=1000):
    solver = {"rtol": 0.2, "atol": 0.2, "adjoint": variant == "published", "max_steps": max_steps}
    every = (TRAIN - HELD_OUT * (variant == "published")) // BATCH  # after each epoch
    task = {
        "settings": {"crop": 8, "pad": 1, "validation": HELD_OUT},
        "sizes": {64: 4},
        "training": {"batch_size": BATCH, "epochs": EPOCHS, "evaluate_every": every, "rates": {"drops": [2]}},
        "models": {MODEL: {"hyperparameters": {"solver": solver}}},
    }
    return {"scale": "demo", "variants": {"default": variant}, "overrides": {"tasks": {TASK: task}}}


class Run:
    """A training of seed 1 that may be continued; it counts its batches and its tests."""

    def __init__(self, configured, directory, variant="published"):
        self.run = resolve(configured(**settings_of(variant)), TASK, MODEL, 64, 1)
        self.directory, self.batches, self.tests = directory, 0, 0
        self.task, self.network = build(self.run, arrays(), CPU)
        self.task.batch = self.counting(self.task.batch, "batches")
        if self.task.validated:
            self.task.evaluate_test = self.counting(self.task.evaluate_test, "tests")

    def counting(self, function, name):
        def counted(*arguments):
            setattr(self, name, getattr(self, name) + 1)
            return function(*arguments)

        return counted

    def train(self):
        return run_loop(self.directory, self.run.spec, self.task, self.network)[0]


# In each epoch, what fills no batch is left out.
@pytest.mark.parametrize(("variant", "iterations"), [("published", 6), ("released", 9)])
def test_evaluations_are_means_of_the_iterations_since_the_row_before(configured, tmp_path, variant, iterations):
    """Both turns count: forwards, and backwards for the adjoint. What is finished is not taken up again."""
    whole = Run(configured, tmp_path, variant)
    history, adjoint = whole.train(), variant == "published"
    assert history.iteration == iterations and len(history.metrics) == EPOCHS
    last = max(range(EPOCHS), key=lambda k: history.metrics[k].get("validation_accuracy", k)) == EPOCHS - 1
    assert history.diverged_at is None and whole.tests == adjoint * (1 if last else 2)  # of the last weights, for items
    again = Run(configured, tmp_path, variant)
    assert_same(again.train(), again.network, (history, whole.network))
    assert (again.batches, again.tests) == (0, 0)
    counts, every = np.array(history.function_evaluations), history.iteration // EPOCHS
    assert counts.shape == (history.iteration, 2) and np.all(counts[:, 0] > 0) and np.all((counts[:, 1] > 0) == adjoint)
    for k, row in enumerate(history.metrics):
        assert [row["nfe_forward"], row["nfe_backward"]] == counts[every * k : every * (k + 1)].mean(0).tolist()
        assert row["iteration"] == every * (k + 1)


def break_solver(run, during, batch):
    """f gives no numbers in the batch number `batch` (its gradient, "backward"), or in an evaluation or the test."""

    def broken(f, inputs, rate):
        if during == "evaluation":
            return rate * math.nan if not f.training and run.batches == batch and run.tests == 0 else None
        if during == "test":
            return rate * math.nan if run.tests else None
        if run.batches != batch or not f.training:
            return None
        if during == "forward":
            return rate * math.nan
        if rate.requires_grad:
            rate.register_hook(lambda gradient: gradient * math.nan)
        return None

    run.network.integral.dynamics.f.register_forward_hook(broken)


@pytest.mark.parametrize(
    ("during", "batch", "iterations", "diverged_at", "rows"),
    [("forward", 4, 3, 4, 1), ("backward", 4, 3, 4, 1), ("evaluation", 4, 4, 4, 1), ("test", None, 6, 6, 3)],
)
def test_a_solver_that_fails_ends_the_training_and_is_recorded(
    configured, tmp_path, during, batch, iterations, diverged_at, rows
):
    run = Run(configured, tmp_path)
    break_solver(run, during, batch)
    history = run.train()
    assert (history.iteration, history.diverged_at, len(history.metrics)) == (iterations, diverged_at, rows)
    assert len(history.losses) == len(history.function_evaluations) == iterations
    failure = history.failure
    assert (failure["during"], failure["cause"]) == (during, "state not finite") and failure["step"] >= 1
    assert 0 <= failure["time"] <= 1
    assert run.tests == 1 + (during == "test")  # on the best evaluation's weights; there, of the last, too
    assert sum("test_accuracy" in row for row in history.metrics) == (during != "test")
    assert all(torch.isfinite(weight).all() for weight in run.network.state_dict().values())

    spec = run.run.spec
    writing.write(tmp_path, {"spec": spec}, history, run.network, spec["training"])
    about = json.loads((tmp_path / "run.json").read_text())
    assert about["status"] == "diverged" and about["failure"] == failure
    assert (about["diverged_at"], about["iterations"]) == (diverged_at, iterations)
    assert about["reported"]["metric"] == "validation_accuracy"

    again = Run(configured, tmp_path)
    assert_same(again.train(), again.network, (history, run.network))
    assert (again.batches, again.tests) == (0, 0)


def test_the_script_ends_well_and_says_that_the_solver_failed(configured, tmp_path, ended):
    settings = settings_of(max_steps=1) | {
        "results": str(tmp_path / "results"),
        "data": {"directory": str(tmp_path / "data"), "mirror": None},
        "device": "cpu",
    }
    configuration = configured(**settings)
    run = resolve(configuration, TASK, MODEL, 64, 0)
    path = configuration.paths.prepared(run.spec["dataset"], run.spec["data"])
    about = {"dataset": run.spec["dataset"], "title": "Digits", "stand_in_for": None}
    prepared.save(tmp_path / path, arrays(), about)
    arguments = ["--task", TASK, "--model", run.sized_model, "--seed", "0", "--config", json.dumps(settings)]
    code, out, err = ended(script.main, *arguments, "--threads", "1")
    about = json.loads((tmp_path / run.directory / "run.json").read_text())
    assert (code, err) == (0, "")
    said = "diverged at iteration 1 (step budget exceeded at t = {time:.6g}, step 2, forward) after 0 iterations"
    assert f"{about['run']}: {said.format(**about['failure'])}" in out
