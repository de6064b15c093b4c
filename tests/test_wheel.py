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

USE = """
import importlib.util, json, sys
import torch
import hidden_dynamics.nn as hd

output, (h, c) = hd.MomentumLSTM(1, 24, mu=0.6, s=0.6)(torch.randn(20, 64, 1))
state = torch.randn(2, 4, 5, 5, requires_grad=True)
pair = hd.CoEvolving(hd.ConvolutionalDynamics(4), hd.ConvolutionalDynamics(4))
integral = hd.Integral(pair, hd.Solver("rk4", step_size=0.5))
(integral((state, torch.zeros_like(state)))[0].square().sum() + output.sum()).backward()
print(json.dumps({
    "gradient of an ODE": state.grad.isfinite().all().item() and integral.evaluations.backward > 0,
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


def test_an_example_trains_with_nothing_but_the_library_installed(environment, tmp_path):
    """An irregular series is told at other times better than by its mean."""

    def said(*arguments):
        done = subprocess.run([environment, "-I", *arguments], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr, done.stderr
        return done.stdout

    names = ["snakemake", "pandas", "matplotlib", "pydantic", "yaml", "sklearn", "requests", "pytest"]
    found = json.loads(said("-c", USE, *names, "hidden_dynamics", "torch"))
    assert Path(found["file"]).is_relative_to(environment.parents[1])
    assert found["importable"] == ["hidden_dynamics", "torch"]
    assert {"numpy", "torch", "torchdiffeq"} <= set(found["imported"])
    assert found["gradient of an ODE"]
    assert float(said(ROOT / "docs/examples/ace_node.py", "--iterations", "60").removeprefix("error: ")) < 0.8
