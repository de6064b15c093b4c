"""What is asked of every task, at the scale of the demonstration: settings are checked; it learns and is measured."""

import functools
import json
import math
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import refused

from hidden_dynamics.configuration import load, merge, parse_settings
from hidden_dynamics.configuration.runs import Run, runs_on
from hidden_dynamics.training import optimisers
from hidden_dynamics.training.building import build
from hidden_dynamics.training.optimisers import learn

CPU = torch.device("cpu")
CONFIGURATION = load(parse_settings(json.dumps({"scale": "demo"})))
RUNS = {name: runs_on(CONFIGURATION, name, [0])[0] for name in CONFIGURATION.tasks}
WITH_SETTINGS = {run.spec["task_class"]: name for name, run in RUNS.items() if run.spec["task_settings"]}


@functools.cache
def prepared(dataset: str, settings: str) -> dict[str, np.ndarray]:
    module = import_module(CONFIGURATION.datasets[dataset].module)
    return module.prepare(Path("nowhere"), json.loads(settings))


def made(run: Run):
    return build(run, prepared(run.spec["dataset"], json.dumps(run.spec["data"])), CPU)


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
        measured = task.evaluate(network.eval())
    assert measured and set(measured) <= set(CONFIGURATION.metrics)
    assert (training["report"]["metric"] in measured) or training["report"]["metric"] == "train_loss"
