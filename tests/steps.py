"""Which script each rule runs in which environment, and what that script imports: read, without importing anything."""

import ast
import functools
import pkgutil
import re
import sys
from pathlib import Path
from typing import NamedTuple

import yaml
from conftest import ROOT
from rules_read import rules_with

from hidden_dynamics.system.digest import reachable

KINDS_PACKAGE = "hidden_dynamics.artifacts.kinds"
KINDS = [f"{KINDS_PACKAGE}.{kind.name}" for kind in pkgutil.iter_modules([str(ROOT / KINDS_PACKAGE.replace(".", "/"))])]


class Step(NamedTuple):
    """A script in an environment."""

    script: str
    environment: str


@functools.cache
def steps() -> set[Step]:
    """What the rules say: every script that they run, with the environment that they name for it.

    A script that another starts runs where that does.
    """
    (rules,) = rules_with(ROOT, ({}, []))
    found = set()
    for about in rules.values():
        if about["command"]:
            (script,) = re.findall(r"\bpython scripts/(\w+)\.py\b", about["command"])
            found |= {Step(name, about["environment"]) for name in (script, *_started_by(script))}
    return found


def _started_by(script: str) -> list[str]:
    """The scripts that a script starts, which it names as files."""
    source = (ROOT / "scripts" / f"{script}.py").read_text(encoding="utf-8")
    return [name for name in re.findall(r'"(\w+)\.py"', source) if (ROOT / "scripts" / f"{name}.py").is_file()]


@functools.cache
def imports_of(step: Step) -> frozenset[str]:
    """The installed packages, by name, that are imported by the project's modules that a step imports.

    What the scripts that it starts import counts as well.
    Imports within a function count where the step's `main`, or what config/ names for it, reaches that function.
    """
    scripts = [step.script, *_started_by(step.script)]
    names = [name for script in scripts for name in (f"scripts.{script}.main", *_by_name(script, step.environment))]
    reached = {key.split(":")[0] for key in reachable(names)}
    own, packages = set(), set()
    waiting = [*reached, *(f"scripts.{script}" for script in scripts), *(KINDS if KINDS_PACKAGE in reached else ())]
    while waiting:
        module = waiting.pop()
        if _path_of(module) is None:
            packages |= {module.split(".")[0]} - sys.stdlib_module_names
        elif module not in own:
            own.add(module)
            waiting += _imported(module)
    return frozenset(packages - {"hidden_dynamics", "scripts"})


@functools.cache
def _path_of(module: str) -> Path | None:
    candidates = [folder.joinpath(*module.split(".")) for folder in (ROOT, ROOT / "scripts")]
    files = [file for stem in candidates for file in (stem.with_suffix(".py"), stem / "__init__.py") if file.is_file()]
    return files[0] if files else None


@functools.cache
def _imported(module: str) -> list[str]:
    """What importing a module imports: the packages that hold it, and what its statements outside functions name."""
    found = [module.rpartition(".")[0]] if "." in module else []
    waiting = [ast.parse(_path_of(module).read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found += [node.module, *(name for name in names if _path_of(name) is not None)]
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        elif not isinstance(node, ast.FunctionDef):
            waiting += ast.iter_child_nodes(node)
    return found


def _by_name(script: str, environment: str) -> list[str]:
    """What a script imports because config/ names it: a dataset's module, the classes of a run, what draws a kind."""
    if script == "prepare":
        datasets = yaml.safe_load((ROOT / "config/datasets.yaml").read_text(encoding="utf-8")).values()
        modules = [entry["module"] for entry in datasets if entry.get("environment", "light") == environment]
        return [f"{module}.prepare" for module in modules]
    reached = reachable([f"scripts.{script}.main"])
    if any(".draw(" in source for key, source in reached.items() if key != "hidden_dynamics.artifacts.base:Artifact"):
        return [f"{kind}.draw" for kind in KINDS]
    if "hidden_dynamics.training.building:imported" in reached:
        text = "".join((ROOT / "config" / f"{part}.yaml").read_text(encoding="utf-8") for part in ("tasks", "models"))
        return re.findall(r"\bhidden_dynamics(?:\.\w+){2,}", text)
    return []
