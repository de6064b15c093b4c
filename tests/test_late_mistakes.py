"""Mistakes that a class would meet when its job runs, hours into a workflow: they are met when it is read.

Each is a change of config.yaml, of a user's own tasks and models here, and refused by file and key.
"""

import functools
from contextlib import nullcontext

import pytest
from conftest import refused

from hidden_dynamics.configuration import loading
from hidden_dynamics.configuration.checks import check_runs
from hidden_dynamics.configuration.constructors import arguments_of
from hidden_dynamics.configuration.entries import typed

OPTIMISERS = "training.optimisers.main"


def of_model(task, model, **hyperparameters):
    return {task: {"models": {model: {"hyperparameters": hyperparameters}}}}


def of_training(task, **training):
    return {task: {"training": training}}


def of_optimiser(task, **arguments):
    return of_training(task, optimisers={"main": arguments})


def of_settings(task, **settings):
    return {task: {"settings": settings}}


def of_data(task, **data):
    return {task: {"data": data}}


# the change of tasks, and the key of the task that is named, without the model's
HYPERPARAMETERS = [
    (of_model("mnist", "momentum_lstm", muu=0.6), "muu"),
    (of_model("mnist", "momentum_lstm", mu="x"), "mu"),
    (of_model("mnist", "momentum_lstm", mu=1.5), "mu"),
    (of_model("mnist", "momentum_lstm", mu=None), "mu"),
    (of_model("mnist", "momentum_lstm", s=-1.0), "s"),
    (of_model("mnist", "adam_lstm", beta=1.0), "beta"),
    (of_model("mnist", "adam_lstm", eps=0), "eps"),
    (of_model("mnist", "lstm", mu=0.6), "mu"),
    (of_model("mnist", "lstm", hidden_size=-1), "hidden_size"),
    (of_model("mnist", "lstm", hidden_size=10**12), "hidden_size"),
    (of_model("mnist", "lstm", hidden_size="many"), "hidden_size"),
    (of_model("mnist", "lstm", forget_bias="x"), "forget_bias"),
    (of_model("mnist", "lstm", forget_fill="twice"), "forget_fill"),
    (of_model("mnist", "lstm", readout="kaimin"), "readout"),
    (of_model("mnist", "lstm", backend="fast"), "backend"),
    (of_model("mnist", "sr_lstm", restart=1.5), "restart"),
    (of_model("mnist", "sr_lstm", restart=0), "restart"),
    (of_model("mnist", "sr_lstm", restart=float("nan")), "restart"),
    (of_model("pmnist_dtriv", "dtriv", initialisation=3), "initialisation"),
    (of_model("ptb", "lstm", layers=0), "layers"),
    (of_model("ptb", "lstm", embedding=400), "embedding"),
    (of_model("ptb", "lstm", dropouts={"wight": 0.5}), "dropouts.wight"),
    (of_model("ptb", "lstm", dropouts={"weight": 1.5}), "dropouts.weight"),
    (of_model("ptb", "lstm", initialisation="orthogonl"), "initialisation"),
    (of_model("mnist_images", "ode_net", padding="one"), "padding"),
    (of_model("mnist_images", "ode_net", solver={"methd": "rk4"}), "solver.methd"),
    (of_model("mnist_images", "ode_net", solver={"method": "rk5"}), "solver.method"),
    (of_model("mnist_images", "ode_net", solver={"rtol": -1.0}), "solver.rtol"),
    (of_model("mnist_images", "ode_net", solver="rk4"), "solver"),
    (of_model("mnist_images", "ace_ode_net", penalty={"norm": 3}), "penalty.norm"),
    (of_model("mnist_images", "resnet", solver={"method": "rk4"}), "solver"),
    (of_model("ushcn", "gru_ode_bayes", solver="eulr"), "solver"),
    (of_model("ushcn", "gru_ode_bayes", delta=0), "delta"),
    (of_model("ushcn", "gru_simple", dropout=2), "dropout"),
    (of_model("physionet", "latent_ode", encoder="gru"), "encoder"),
    (of_model("physionet", "latent_ode", samples=0), "samples"),
    (of_model("physionet", "ode_rnn", unit=50), "unit"),
    ({"mnist_ablation": {"models": {"momentum_lstm": {"grid": {"muu": [0.1]}}}}}, "muu"),
]
OTHERS = [
    (of_settings("mnist", permutation="x"), "settings.permutation"),
    (of_settings("mnist", permutaton="none"), "settings"),
    (of_settings("ptb", bptt=0), "settings.bptt"),
    (of_settings("ushcn", until="late"), "settings.until"),
    (of_settings("physionet", validation=1.5), "settings.validation"),
    (of_settings("copying_1k", length=3), "settings"),
    (of_data("mnist", enlarge="x"), "data.enlarge"),
    (of_data("copying_1k", blank=5), "data"),
    (of_data("physionet", stays=0), "data.stays"),
    (of_optimiser("mnist", alpha="x"), f"{OPTIMISERS}.alpha"),
    (of_optimiser("mnist", aplha=0.9), OPTIMISERS),
    (of_optimiser("mnist", betas=[0.9, 0.99]), OPTIMISERS),
    (of_optimiser("mnist", momentum=-1), f"{OPTIMISERS}.momentum"),
    (of_training("mnist", iterations_per_epoch=7), "training.iterations_per_epoch"),
    (of_training("mnist", rates={"drops": [2]}), "training.rates"),
    (of_training("ptb", rates={"scale": 2}), "training.rates"),
    (of_training("mnist", alternating=True), "training.alternating"),
    (of_training("mnist", record_predictions=True), "training.record_predictions"),
]


read_once = functools.cache(loading.read_yaml)


@pytest.mark.parametrize(
    ("tasks", "key"),
    [*HYPERPARAMETERS, *OTHERS],
    ids=lambda given: given if isinstance(given, str) else "-".join(given),
)
def test_what_a_job_would_refuse_is_refused_before_the_first(configured, monkeypatch, tasks, key):
    monkeypatch.setattr(loading, "read_yaml", read_once)
    (task,) = tasks
    prefix = f"overrides.tasks.{task}."
    if (tasks, key) in HYPERPARAMETERS:
        prefix += f"models.{next(iter(tasks[task]['models']))}.hyperparameters."
    with refused(file="config.yaml", key=prefix + key):
        check_runs(configured(overrides={"tasks": tasks}, only=[task]))


# Of a user's own: what is not known is passed over, and nothing is refused for that.
OWN = """
import torch
from torch import nn
from typing import Literal

class Base(nn.Module):
    def __init__(self, task, size: int, scale: float = 1.0, way: Literal["in", "out"] = "in", *, start: torch.Tensor):
        super().__init__()

class Own(Base):
    def __init__(self, task, size, *others, gain=1.0, **options):
        super().__init__(task, size + 1, *others, start=torch.zeros(()), **options)

class Taking(Own):
    def __init__(self, *given, **options):
        rate = options.pop("rate", 2)
        super().__init__(*given, **options)

class Opaque(Own):
    def __init__(self, *given, **options):
        super().__init__(*given, **make(options))


class Shapes(nn.Module):
    def __init__(self, task, widths: tuple[int, ...], kinds: set[str] | None = None):
        super().__init__()
"""


@pytest.mark.parametrize(
    ("name", "given", "key"),
    [
        ("Own", {"size": 1, "gain": "any", "scale": 2}, None),
        ("Own", {"size": 1, "scale": "x"}, "scale"),
        ("Own", {"size": 1, "way": "on"}, "way"),
        ("Own", {"scale": 1.0}, "size"),
        ("Own", {"size": 1, "start": 0}, ""),
        ("Base", {"size": 1, "start": 0, "scael": 1.0}, ""),
        ("Taking", {"size": 1, "rate": 1}, None),
        ("Opaque", {"anything": 1}, None),
        ("Missing", {"anything": 1}, None),
        ("Shapes", {"widths": [3, 3], "kinds": ["a"]}, None),  # a file has lists alone
    ],
)
def test_what_is_not_known_of_a_class_is_passed_over(tmp_path, monkeypatch, name, given, key):
    module = f"own_{tmp_path.name}"
    (tmp_path / f"{module}.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    with nullcontext() if key is None else refused(key=key):
        typed(arguments_of(f"{module}.{name}"), given, "file")
