"""The order of the house: a package uses those before it and `system`, and a file's name says what it is about."""

import ast
from pathlib import Path

import pytest
from conftest import ROOT

HOUSE = ROOT / "hidden_dynamics"
ORDER = [
    "configuration",
    "data",
    "models",
    "tasks",
    "training",
    "floors",
    "results",
    "measurements",
    "papers",
    "claims",
    "artifacts",
    "pages",
    "publication",
]


def imported(path: Path) -> set[str]:
    """The project's packages and modules that a file imports anywhere, functions included; by dotted name."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: imports are absolute"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in found if name.split(".")[0] == "hidden_dynamics"}


def test_the_packages_are_those_of_the_order():
    packages = {path.name for path in HOUSE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert packages == {*ORDER, "system"}
    assert {path.name for path in HOUSE.glob("*.py")} == {"__init__.py", "errors.py", "nn.py"}


@pytest.mark.parametrize("package", [*ORDER, "system"])
def test_a_package_imports_none_that_comes_after_it(package):
    allowed = {*ORDER[: ORDER.index(package) + 1]} if package in ORDER else set()
    upward = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sorted((HOUSE / package).rglob("*.py"))
        for name in sorted(imported(path))
        if name.split(".")[1] not in {*allowed, "system", "errors"}
    ]
    assert not upward, "\n".join(upward)


def test_the_short_names_are_those_of_models_and_for_code_from_elsewhere_alone():
    assert {name.split(".")[1] for name in imported(HOUSE / "nn.py")} == {"errors", "models", "system"}
    for path in [*HOUSE.rglob("*.py"), *(ROOT / "scripts").glob("*.py")]:
        assert not any(f"{name}.".startswith("hidden_dynamics.nn.") for name in imported(path)), path
