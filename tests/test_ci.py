"""The workflow for GitHub, which no test can run there: it reads as one, and runs what .ci/run runs."""

import tomllib

import yaml
from conftest import ROOT
from packaging.specifiers import SpecifierSet

WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
JOB = WORKFLOW["jobs"]["check"]
PARTS = JOB["strategy"]["matrix"]["include"]
LABORATORIES = "pytest -n 0 -m representative"  # they need root and Debian packages


def test_it_runs_what_ci_runs_but_for_the_laboratories():
    _, _, own = (ROOT / ".ci/run").read_text(encoding="utf-8").partition(". .venv/bin/activate\n")
    assert LABORATORIES in own
    steps = [step["run"] for step in JOB["steps"] if "run" in step]
    assert steps.pop() == "${{ matrix.commands }}"
    runs = [line for text in [*steps, *(part["commands"] for part in PARTS)] for line in text.splitlines()]
    assert runs == [line for line in own.splitlines() if line and line != LABORATORIES]


def test_its_python_is_one_that_the_package_allows():
    allowed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    (python,) = [step["with"] for step in JOB["steps"] if "python-version" in step.get("with", {})]
    assert isinstance(python["python-version"], str)  # 3.10 would be the number 3.1
    assert python["python-version"] in SpecifierSet(allowed)
    assert (ROOT / python["cache-dependency-path"]).is_file()
