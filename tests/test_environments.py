"""The conda environments are what the lock says, and the lock is what runs here."""

import importlib.metadata
import re
import tomllib

import environments
import pytest
import yaml
from conftest import ROOT, refused
from packaging.markers import Marker
from packaging.requirements import Requirement
from steps import imports_of, steps

LOCK = (ROOT / "requirements.txt").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PIPELINE = PROJECT["project"]["optional-dependencies"]["pipeline"]
DIRECT = {Requirement(text).name for text in [*PROJECT["project"]["dependencies"], *PIPELINE]}
NAMES = list(PROJECT["tool"]["hidden-dynamics"]["environments"])
IMPORTED_AS = {"pillow": "PIL", "pydantic-core": "pydantic_core", "pyyaml": "yaml", "scikit-learn": "sklearn"}
BROUGHT = {"torch": {"triton"}, "pydantic": {"pydantic_core"}}  # by a package that is named


def requirements(name):
    """The pip section of an environment."""
    content = yaml.safe_load((ROOT / "envs" / f"{name}.yaml").read_text(encoding="utf-8"))
    return [Requirement(text) for text in content["dependencies"][-1]["pip"]]


@pytest.fixture
def copy(tmp_path):
    """The lock, the project's file and the environments, to change."""
    (tmp_path / "envs").mkdir()
    environments = [f"envs/{name}.yaml" for name in NAMES]
    for file in ("requirements.txt", "requirements-cpu.txt", "pyproject.toml", *environments):
        (tmp_path / file).write_text((ROOT / file).read_text(encoding="utf-8"), encoding="utf-8")
    return tmp_path


def check(root, monkeypatch, *options):
    monkeypatch.setattr(environments, "ROOT", root)
    monkeypatch.setattr("sys.argv", ["environments.py", *options])
    environments.main()


@pytest.mark.parametrize("file", ["requirements.txt", "envs/light.yaml", "requirements-cpu.txt"])
def test_a_changed_pin_is_found_until_the_environments_are_written_again(copy, monkeypatch, file):
    check(copy, monkeypatch, "--check")
    text = (copy / file).read_text(encoding="utf-8")
    changed = re.sub(r"\bnumpy==[\d.]+", "numpy==1.0.0", text)
    assert changed != text
    (copy / file).write_text(changed, encoding="utf-8")
    with refused("requirements.txt says"):
        check(copy, monkeypatch, "--check")
    check(copy, monkeypatch)
    check(copy, monkeypatch, "--check")
    assert ("numpy==1.0.0" in (copy / "envs/light.yaml").read_text()) == (file == "requirements.txt")


def test_a_package_that_is_not_locked_and_a_missing_environment_are_named(copy, monkeypatch):
    text = (copy / "pyproject.toml").read_text()
    (copy / "pyproject.toml").write_text(text.replace("torch = [", 'torch = ["nosuch", '))
    with refused("requirements.txt has no nosuch"):
        check(copy, monkeypatch, "--check")
    (copy / "pyproject.toml").write_text(text)
    (copy / "envs/torch.yaml").unlink()
    with refused("torch.yaml"):
        check(copy, monkeypatch, "--check")


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


def needed_by(environment):
    """The installed packages that the steps of an environment import."""
    return set().union(*(imports_of(step) for step in steps() if step.environment == environment))


@pytest.mark.parametrize("name", NAMES)
def test_an_environment_names_just_the_packages_that_its_steps_import(name):
    direct = {IMPORTED_AS.get(package, package) for package in PROJECT["tool"]["hidden-dynamics"]["environments"][name]}
    assert needed_by(name) - direct <= set().union(*(BROUGHT.get(package, set()) for package in direct))
    assert direct - needed_by(name) == set()


def test_a_step_has_torch_only_where_it_imports_it():
    assert {step.environment for step in steps()} == set(NAMES) == {"light", "torch"}
    assert "torch" not in {requirement.name for requirement in requirements("light")}
    assert [step for step in steps() if (step.environment == "torch") != ("torch" in imports_of(step))] == []
