"""What is asked of every task, at the scale of the demonstration: settings are checked; it learns and is measured."""

import functools
import json
import math
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from conftest import ROOT, refused
from torch import nn

from hidden_dynamics.configuration import load, merge, parse_settings
from hidden_dynamics.configuration.runs import Run, runs_on
from hidden_dynamics.configuration.schema import Training
from hidden_dynamics.configuration.spec import Spec
from hidden_dynamics.configuration.spec import Training as TrainingSpec
from hidden_dynamics.tasks.scoring import area_under_roc
from hidden_dynamics.tasks.task import Task, as_validated
from hidden_dynamics.training import optimisers
from hidden_dynamics.training.building import build
from hidden_dynamics.training.optimisers import learn

CPU = torch.device("cpu")
SPORADIC = {"mse": "squared_error", "negll": "negll"}
CONFIGURATION = load(parse_settings(json.dumps({"scale": "demo"})))
RUNS = {name: runs_on(CONFIGURATION, name, [0])[0] for name in CONFIGURATION.tasks}
WITH_SETTINGS = {run.spec["task_class"]: name for name, run in RUNS.items() if run.spec["task_settings"]}


@functools.cache
def prepared(dataset: str, settings: str) -> dict[str, np.ndarray]:
    module = import_module(CONFIGURATION.datasets[dataset].module)
    return module.prepare(Path("nowhere"), json.loads(settings))


def made(run: Run, device: torch.device = CPU):
    return build(run, prepared(run.spec["dataset"], json.dumps(run.spec["data"])), device)


def with_settings(run: Run, settings: dict) -> Run:
    return replace(run, spec=run.spec | {"task_settings": settings})


@pytest.mark.parametrize("name", WITH_SETTINGS.values())
def test_its_settings_are_checked(name: str):
    run = RUNS[name]
    settings = run.spec["task_settings"]
    with refused("nonsense"):
        made(with_settings(run, settings | {"nonsense": 1}))
    for key in settings:
        with refused(key):
            made(with_settings(run, merge(settings, {key: "nonsense"})))


@pytest.mark.parametrize("name", RUNS)
def test_it_learns_and_is_measured(name: str):
    run = RUNS[name]
    task, network = made(run)
    training = run.spec["training"]
    updating = optimisers.build(network, training["optimisers"])
    batch = task.batch(*task.schedule(training, 0).indices(0))
    assert math.isfinite(learn(task, network, updating, batch, training))
    with torch.no_grad():
        measured = tested = task.evaluate(network.eval())
        if validating := as_validated(task):
            tested = validating.evaluate_test(network)
    if run.spec["task_settings"].get("scores") != "pooled":  # a patient's samples are one item
        expected = of_items(task, task.items)
        exact = 1 / 16 if "class" in task.items else 1e-4
        assert {name: tested[name] for name in expected} == pytest.approx(expected, rel=exact)
    assert len({len(array) for array in task.items.values()}) == 1
    assert measured and set(measured) <= set(CONFIGURATION.metrics)
    assert (training["report"]["metric"] in measured) or training["report"]["metric"] == "train_loss"


def of_items(task, items):
    """What a test measured, of what it said of each item."""
    means = {name: np.mean(array, dtype=np.float64) for name, array in items.items()}
    match type(task).__name__:
        case "Adding":
            return {"test_loss": means["squared_error"]}
        case "Copying":
            return {"test_loss": means["loss"] / (task.blanks + 2 * task.letters)}
        case "PixelClassification" | "ImageClassification":
            labels = task.test_labels if hasattr(task, "test_labels") else task.labels["test"]
            return {"test_loss": means["loss"], "test_accuracy": np.mean(items["class"] == labels.numpy())}
        case "LanguageModelling":
            return {"test_loss": items["loss"].sum() / task.test_set["size"]}
        case "SpeechPrediction":
            return {"test_loss": np.average(items["squared_error"], weights=task.test.lengths)}
        case "SporadicForecasting":
            return {f"test_{name}": means[key] / means["observed"] for name, key in SPORADIC.items()}
        case "Mortality":
            auc = area_under_roc(task.died[task.parts["test"]], items["probability"])
            return {"test_auc": auc, "test_interpolation_mse": means["squared_error"]}
        case "SeriesRegression":
            return {f"test_{task.settings.targets}_mse": means["squared_error"]}
        case "ActivityRecognition":
            return {"test_time_point_accuracy": means["right"] / means["labelled"]}
    raise AssertionError(task)


class Plain:
    """It has what a task has, and is none."""


class Half(Task[nn.Module, torch.Tensor]):
    def __init__(self, arrays, settings, seed, device): ...

    def loss(self, network, batch): ...


@pytest.mark.parametrize(("name", "missing"), [("Plain", "tasks.task.Task"), ("Half", "batch, evaluate")])
def test_a_class_that_is_no_whole_task_is_told_what_is_missing(name, missing):
    run = replace(RUNS["mnist"], classes=RUNS["mnist"].classes | {"task_class": f"{__name__}.{name}"})
    with refused(missing, key="class"):
        build(run, {}, CPU)


def test_the_smallest_task_of_the_documentation_learns(monkeypatch):
    text = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
    (block,) = (each for each in text.split("```python\n") if "Task[" in each)
    (own := ModuleType("my_tasks")).__dict__.update(__name__="my_tasks")
    exec(block.split("```")[0], own.__dict__)
    monkeypatch.setitem(sys.modules, "my_tasks", own)
    run = replace(RUNS["adding"], classes=RUNS["adding"].classes | {"task_class": "my_tasks.Sums"})
    x = np.random.default_rng(0).normal(size=(5, 20, 1))
    task, network = build(run, {"x": x, "y": x.sum((0, 2))}, CPU)
    steppers, batch = optimisers.build(network, run.spec["training"]["optimisers"]), task.batch(0, np.arange(8))
    losses = [learn(task, network, steppers, batch, {}) for _ in range(30)]
    assert losses[-1] < losses[0] and math.isfinite(task.evaluate(network)["test_loss"])
    assert (task.naive, task.test_set, task.split, task.limits) == ({}, None, None, None)


def test_the_types_of_a_specification_name_what_it_may_hold():
    assert set(TrainingSpec.__annotations__) == set(Training.model_fields)
    assert all(list(run.spec) == list(Spec.__annotations__) for run in RUNS.values())
