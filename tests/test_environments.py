"""The conda environments are what the lock says, and the lock is what runs here."""

import importlib.metadata
import re
import shutil
import tomllib

import environments
import pytest
import yaml
from conftest import ROOT
from packaging.markers import Marker
from packaging.requirements import Requirement
from steps import imports_of, steps

LOCK = (ROOT / "requirements.txt").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PIPELINE = PROJECT["project"]["optional-dependencies"]["pipeline"]
DIRECT = {Requirement(text).name for text in [*PROJECT["project"]["dependencies"], *PIPELINE]}
NAMES = list(PROJECT["tool"]["hidden-dynamics"]["environments"])
IMPORTED_AS = {"pillow": "PIL", "pyyaml": "yaml", "scikit-learn": "sklearn"}
BROUGHT = {"torch": {"triton"}, "pydantic": {"pydantic_core"}}  # by a package that is named


def requirements(name):
    """The pip section of an environment."""
    content = yaml.safe_load((ROOT / "envs" / f"{name}.yaml").read_text(encoding="utf-8"))
    return [Requirement(text) for text in content["dependencies"][-1]["pip"]]


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """The lock, the project's file and the environments, to change."""
    monkeypatch.setattr(environments, "ROOT", tmp_path)
    shutil.copytree(ROOT / "envs", tmp_path / "envs")
    for file in ("requirements.txt", "requirements-cpu.txt", "pyproject.toml"):
        shutil.copy(ROOT / file, tmp_path)
    return tmp_path


@pytest.mark.parametrize("file", ["requirements.txt", "envs/light.yaml", "requirements-cpu.txt"])
def test_a_changed_pin_is_found_until_the_environments_are_written_again(copy, ended, file):
    assert ended(environments.main, "--check").code == 0
    text = (copy / file).read_text(encoding="utf-8")
    changed = re.sub(r"\bnumpy==[\d.]+", "numpy==1.0.0", text)
    assert changed != text
    (copy / file).write_text(changed, encoding="utf-8")
    check = ended(environments.main, "--check")
    assert check.code == 1 and "requirements.txt says" in check.err
    assert ended(environments.main).code == ended(environments.main, "--check").code == 0
    assert ("numpy==1.0.0" in (copy / "envs/light.yaml").read_text()) == (file == "requirements.txt")


def test_a_package_that_is_not_locked_and_a_missing_environment_are_named(copy, ended):
    text = (copy / "pyproject.toml").read_text()
    (copy / "pyproject.toml").write_text(text.replace("torch = [", 'torch = ["nosuch", '))
    check = ended(environments.main, "--check")
    assert check.code == 1 and "requirements.txt has no nosuch" in check.err
    (copy / "pyproject.toml").write_text(text)
    (copy / "envs/torch.yaml").unlink()
    check = ended(environments.main, "--check")
    assert check.code == 1 and "torch.yaml" in check.err


@pytest.mark.parametrize("name", NAMES)
def test_every_pin_is_the_version_that_is_installed_here(name):
    assert len(requirements(name)) > 5
    for requirement in requirements(name):
        if requirement.marker is None or Marker(str(requirement.marker)).evaluate():
            assert str(requirement.specifier) == f"=={importlib.metadata.version(requirement.name)}", requirement.name


@pytest.mark.parametrize("name", NAMES)
def test_an_environment_holds_all_that_its_packages_need(name):
    held = {requirement.name for requirement in requirements(name)}
    for package in held:
        try:
            needed = importlib.metadata.requires(package) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # of another platform
        for requirement in map(Requirement, needed):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                exact = str(requirement.specifier).startswith("==")  # pinned by the package itself
                name_held = re.sub(r"[-_.]+", "-", requirement.name).lower() in held
                assert name_held or exact, f"{package} needs {requirement.name}"


def test_the_lock_names_no_index_and_no_local_path():
    for line in LOCK.splitlines():
        assert not re.search(r"https?://|file:|--index-url|--extra-index-url|--find-links|\s-e\s|/", line)
        assert line[:1] in ("#", " ") or "==" in line


def test_dependencies_are_what_environments_name_directly_and_what_runs_the_workflow():
    named = set().union(*PROJECT["tool"]["hidden-dynamics"]["environments"].values())
    assert named < DIRECT and DIRECT - named == {"snakemake", "snakemake-executor-plugin-slurm", "pygments", "rich"}


@pytest.mark.parametrize("name", NAMES)
def test_an_environment_names_just_the_packages_that_its_steps_import(name):
    direct = {IMPORTED_AS.get(package, package) for package in PROJECT["tool"]["hidden-dynamics"]["environments"][name]}
    needed = set().union(*(imports_of(step) for step in steps() if step.environment == name))
    assert needed - direct <= set().union(*(BROUGHT.get(package, set()) for package in direct))
    assert direct - needed == set()


def test_a_step_has_torch_only_where_it_imports_it():
    assert {step.environment for step in steps()} == set(NAMES) == {"light", "torch"}
    assert "torch" not in {requirement.name for requirement in requirements("light")}
    assert [step for step in steps() if (step.environment == "torch") != ("torch" in imports_of(step))] == []
