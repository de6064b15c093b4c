"""The library as its wheel gives it: built, installed into an environment of its own, used there in a few lines."""

import importlib.metadata
import json
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
import uv
from conftest import ROOT
from packaging.requirements import Requirement

BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"

# Tells by the last hidden state whether 20 numbers add up to more than 0. One thread: others wait where cores are busy.
TRAINING = """
import importlib.util, json, sys
from pathlib import Path

import torch
from torch import nn
import hidden_dynamics.nn as hd


class Network(nn.Module):
    def __init__(self, rnn):
        super().__init__()
        self.rnn, self.readout = rnn, nn.Linear(rnn.hidden_size, 2)

    def forward(self, x):
        output, (h, c) = self.rnn(x)
        return self.readout(h[-1])


def losses(rnn):
    torch.manual_seed(0)
    network, found = Network(rnn), []
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(60):
        x = torch.randn(20, 64, 1)
        loss = nn.functional.cross_entropy(network(x), (x.sum((0, 2)) > 0).long())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        found.append(loss.item())
    return found


def gradient_of_an_ode():
    state = torch.randn(2, 4, 5, 5, requires_grad=True)
    pair = hd.CoEvolving(hd.ConvolutionalDynamics(4), hd.ConvolutionalDynamics(4))
    integral = hd.Integral(pair, hd.Solver("rk4", step_size=0.5))
    h, a = integral((state, torch.zeros_like(state)))
    h.square().sum().backward()
    return state.grad.isfinite().all().item() and integral.evaluations.backward > 0


torch.set_num_threads(1)
torch.manual_seed(0)
print(json.dumps({
    "losses": {
        "nn.LSTM": losses(nn.LSTM(1, 24)),
        "MomentumLSTM": losses(hd.MomentumLSTM(1, 24, mu=0.6, s=0.6)),
    },
    "gradient of an ODE": gradient_of_an_ode(),
    "file": hd.__file__,
    "imported": sorted({name.partition(".")[0] for name in sys.modules}),
    "importable": [name for name in sys.argv[1:] if importlib.util.find_spec(name)],
}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built by the backend that pyproject.toml names, from a copy: it leaves files beside its sources."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, source)
    shutil.copytree(ROOT / "hidden_dynamics", source / "hidden_dynamics", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run([sys.executable, "-c", BUILD, str(made)], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (path,) = made.iterdir()
    return path


def needed(wheel):
    """What the wheel's metadata say that it needs, its extras apart."""
    (distribution,) = importlib.metadata.distributions(name="hidden-dynamics", path=[str(wheel)])
    return [text for text in distribution.requires if "extra ==" not in text]


def closure(requirements):
    """The installed distributions that meet these requirements and, in turn, their own."""
    found, waiting = {}, [Requirement(text) for text in requirements]
    while waiting:
        requirement = waiting.pop()
        for extra in ("", *requirement.extras):
            if (requirement.name, extra) in found:
                continue
            found[requirement.name, extra] = distribution = importlib.metadata.distribution(requirement.name)
            more = map(Requirement, distribution.requires or [])
            waiting += [one for one in more if one.marker is None or one.marker.evaluate({"extra": extra})]
    return found.values()


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """The Python of an environment that holds the wheel and what its metadata say that it needs, and nothing else.

    What it needs is linked, not copied: torch has gigabytes.
    """
    root = tmp_path_factory.mktemp("environment")
    venv.create(root, symlinks=True, with_pip=False)
    python = root / "bin" / "python"
    install = [uv.find_uv_bin(), "pip", "install", "--offline", "--no-deps", "--no-cache", "--python", python, wheel]
    done = subprocess.run(install, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (packages,) = root.glob("lib/python*/site-packages")
    for distribution in closure(needed(wheel)):
        for top in {file.parts[0] for file in distribution.files} - {"..", "__pycache__"}:
            if not (packages / top).exists():  # nvidia/ is of several
                (packages / top).symlink_to(distribution.locate_file(top))
    return python


def test_the_wheel_holds_the_whole_package_and_nothing_else_and_asks_for_little(wheel):
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "hidden_dynamics"]
    listed = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    files = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert files == set(listed)
    assert {Requirement(text).name for text in needed(wheel)} == {"numpy", "torch", "torchdiffeq"}
    assert {"hidden_dynamics/py.typed", "hidden_dynamics/pages/templates/index.html.j2"} <= files


def test_a_momentum_lstm_trains_in_the_place_of_torchs_with_nothing_but_the_library_installed(environment, tmp_path):
    names = ["snakemake", "pandas", "matplotlib", "pydantic", "yaml", "sklearn", "requests", "pytest"]
    command = [environment, "-I", "-c", TRAINING, *names, "hidden_dynamics", "torch"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert Path(found["file"]).is_relative_to(environment.parents[1])
    assert found["importable"] == ["hidden_dynamics", "torch"]
    assert {"numpy", "torch", "torchdiffeq"} <= set(found["imported"])
    for name, losses in found["losses"].items():
        assert len(losses) == 60 and sum(losses[-5:]) < sum(losses[:5]) / 2, (name, losses)
    assert found["gradient of an ODE"]
