"""Mistakes that a class would meet when its job runs, hours into a workflow: they are met when it is read. What the
source of a class does not tell by plain types (a solver's own settings) is met by its job.

Each is a change of config.yaml, of a user's own tasks and models here, and refused by file and key.
"""

import functools
from typing import Any, Literal

import pytest
from conftest import refused

from hidden_dynamics.configuration import loading
from hidden_dynamics.configuration.checks import check_runs
from hidden_dynamics.configuration.constructors import arguments_of, line_of

HYPERPARAMETERS = {  # of a model on a task, values that are refused
    ("mnist", "momentum_lstm"): {"muu": [0.6], "mu": ["x", True, 1.5, None], "s": [-1.0]},
    ("mnist", "adam_lstm"): {"beta": [1.0], "eps": [0]},
    ("mnist", "lstm"): {
        **{"mu": [0.6], "hidden_size": [-1, 10**12, "many"], "forget_bias": ["x"], "forget_fill": ["twice"]},
        **{"readout": ["kaimin"], "backend": ["fast"]},
    },
    ("mnist", "sr_lstm"): {"restart": [1.5, 0, float("nan")]},
    ("pmnist_dtriv", "dtriv"): {"initialisation": [3]},
    ("ptb", "lstm"): {"layers": [0], "embedding": [400], "initialisation": ["orthogonl"]},
    ("mnist_images", "ode_net"): {"padding": ["one"], "solvr": [{"method": "rk4"}]},
    ("mnist_images", "resnet"): {"solver": [{"method": "rk4"}]},
    ("ushcn", "gru_ode_bayes"): {"solver": ["eulr"], "delta": [0]},
    ("ushcn", "gru_simple"): {"dropout": [2]},
    ("physionet", "latent_ode"): {"encoder": ["gru"], "samples": [0]},
    ("physionet", "ode_rnn"): {"unit": [50]},
}
OPTIMISER, MODEL = "training.optimisers.main", "models.momentum_lstm"
CASES = [  # the task, the key that is set and its value; the key that is named, if that is another
    *(
        (task, f"models.{model}.hyperparameters.{key}", value)
        for (task, model), refusals in HYPERPARAMETERS.items()
        for key, values in refusals.items()
        for value in values
    ),
    *(("mnist", "settings.permutation", "x"), ("mnist", "settings.permutaton", "none")),
    *(("ptb", "settings.bptt", 0), ("ushcn", "settings.until", "late"), ("physionet", "settings.validation", 1.5)),
    *(("copying_1k", "settings.length", 3), ("copying_1k", "data.blank", 5), ("copying_1k", "data.blanks", "x")),
    *(("mnist", "data.enlarge", "x"), ("physionet", "data.stays", 0)),
    *(("mnist", f"{OPTIMISER}.alpha", "x"), ("mnist", f"{OPTIMISER}.momentum", -1)),
    *(("mnist", f"{OPTIMISER}.aplha", 0.9, OPTIMISER), ("mnist", f"{OPTIMISER}.betas", [0.9, 0.99], OPTIMISER)),
    ("mnist", "training.rates.drops", [2], "training.rates"),
    ("mnist_ablation", f"{MODEL}.grid.muu", [0.1], f"{MODEL}.hyperparameters.muu"),
    ("pmnist", "models.sr_lstm.by_size.128.hyperparameters.phase", 0),  # which a variant decides
]
read_once = functools.cache(loading.read_yaml)


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case[:3])))
def test_what_a_job_would_refuse_is_refused_before_the_first(configured, monkeypatch, case):
    monkeypatch.setattr(loading, "read_yaml", read_once)
    task, key, value, named = (*case, case[1])[:4]
    for part in reversed(key.split(".")):
        value = {part: value}
    with refused(file="config.yaml", key=f"overrides.tasks.{task}.{named}"):
        check_runs(configured(overrides={"tasks": {task: value}}, only=[task]))


@pytest.mark.parametrize("name", ["mu", "s"])
def test_what_a_constructor_needs_is_missed_before_the_first_job(configured, name):
    configuration = configured(only=["mnist"])
    del configuration.tasks["mnist"].models["momentum_lstm"].hyperparameters[name]
    with refused(file="config/models.yaml", key=f"momentum_lstm.hyperparameters.{name}"):
        check_runs(configuration)


# Of a user's own: what is not known is passed over, and nothing is refused for that.
WAY = Literal["in", "out"]
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
    ("name", "taken"),
    [
        ("Base", {"size": (int, True), "scale": (float, False), "way": (WAY, False), "start": (Any, True)}),
        ("Own", {"size": (Any, True), "gain": (Any, False), "scale": (float, False), "way": (WAY, False)}),
        ("Taking", None),
        ("Opaque", None),
        ("Missing", None),
        ("Shapes", {"widths": (Any, True), "kinds": (Any, False)}),  # a file has lists alone
    ],
)
def test_what_is_not_known_of_a_class_is_passed_over(tmp_path, monkeypatch, name, taken):
    module = f"own_{tmp_path.name}"
    (tmp_path / f"{module}.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    assert arguments_of(line_of(f"{module}.{name}")) == taken
