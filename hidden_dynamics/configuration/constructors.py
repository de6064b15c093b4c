"""What classes and functions take by name, with its types: read from their source.

Nothing is imported: Snakemake's own process may have no PyTorch, which most of their modules need.
"""

import ast
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from hidden_dynamics.configuration import schema
from hidden_dynamics.system.digest import path_of, place_of

# What a type that is checked consists of: a value of any other is left to its class. (YAML has no tuples and no sets.)
KNOWN: dict[str, Any] = {kind.__name__: kind for kind in (bool, int, float, str, list, dict)}
KNOWN |= {name: getattr(schema, name) for name in ("Annotated", "Any", "Field", "Literal")}
KNOWN |= {name: getattr(schema, name) for name in ("NotNegative", "Positive", "Seed", "Share", "Whole")}


class Taken(NamedTuple):
    """The type of what is taken, Any where it is not known, and whether it has to be given."""

    kind: Any
    needed: bool


Types = dict[str, Taken]  # by name


class Definition(NamedTuple):
    """A class or a function of a module: its statement."""

    module: str
    node: Any


@functools.cache
def find(dotted: str) -> Definition | None:
    """A class or function of this project, or of the user's, wherever it is imported from; None of another's."""
    module, name = place_of(dotted)
    path = path_of(module) if name else None
    node = _defined(path).get(name) if path else None
    return Definition(module, node) if node else None


@functools.cache
def _defined(path: Path) -> dict[str, ast.stmt]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}


@functools.cache
def line_of(dotted: str) -> tuple[Definition, ...]:
    """A class and its bases in the order in which they are sought, as far as they are of this project or the user's."""
    definition = find(dotted)
    if definition is None or not isinstance(definition.node, ast.ClassDef):
        return ()
    bases = [base.value if isinstance(base, ast.Subscript) else base for base in definition.node.bases]
    above = [owner for base in bases for owner in line_of(f"{definition.module}.{ast.unparse(base)}")]
    return tuple(dict.fromkeys([definition, *above]))


def constructor_of(line: Sequence[Definition]) -> tuple[Definition, Sequence[Definition]] | None:
    """The first `__init__` in a line of classes, and the line that follows its class."""
    for number, owner in enumerate(line):
        for node in reversed(owner.node.body):  # after overloads
            if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                return Definition(owner.module, node), line[number + 1 :]
    return None


@functools.cache
def arguments_of(line: Sequence[Definition], core: Sequence[Definition] = ()) -> Types | None:
    """What the constructor of a line of classes takes after its first argument, the task or the size of its input; None
    where it may take others. What it takes by `**` goes on to those that it calls with that: its base, its `core`."""
    if (constructor := constructor_of(line)) is None:
        return None
    (_, init), bases = constructor
    by_place = [*init.args.posonlyargs, *init.args.args]
    defaults = [*(len(by_place) - len(init.args.defaults)) * [None], *init.args.defaults, *init.args.kw_defaults]
    arguments = [*zip([*by_place, *init.args.kwonlyargs], defaults, strict=True)]  # a default that is None is a node
    arguments = arguments[len(by_place[:2]) :]
    own = {each.arg: Taken(_type(each.annotation), value is None) for each, value in arguments if each.arg != "core"}
    if (rest := init.args.kwarg) is None:
        return own
    calls = [node for node in ast.walk(init) if isinstance(node, ast.Call)]
    handing = [call for call in calls if any(ast.unparse(each) == f"**{rest.arg}" for each in call.keywords)]
    if len(handing) != 1 or f"{rest.arg}.pop(" in ast.unparse(init):
        return None
    to, placed = ast.unparse(handing[0].func), handing[0].args
    more = arguments_of({"super().__init__": bases, "core": core}.get(to, ()), core)
    if more is None:
        return None
    given = {*own, *(each.arg for each in handing[0].keywords)}
    alone = len(placed) < 2  # what is handed by place may be any of them
    return own | {name: Taken(kind, needed and alone) for name, (kind, needed) in more.items() if name not in given}


def settings_of(function: Definition) -> Types | None:
    """What a function, or constructor, takes as its `settings`: the fields of the entry that it reads them as by
    `typed`; nothing where it does not read them; None where it reads them otherwise."""
    module, node = function
    for call in (each for each in ast.walk(node) if isinstance(each, ast.Call)):
        if ast.unparse(call.func) == "typed" and ast.unparse(call.args[1]) == "settings":
            entry = line_of(f"{module}.{ast.unparse(call.args[0])}")
            fields = [each for owner in entry[::-1] for each in owner.node.body if isinstance(each, ast.AnnAssign)]
            taken = {ast.unparse(each.target): Taken(_type(each.annotation), each.value is None) for each in fields}
            return taken if entry else None
    named = any(isinstance(each, ast.arg) and each.arg == "settings" for each in ast.walk(node))
    read = any(isinstance(each, ast.Name) and each.id == "settings" for each in ast.walk(node))
    return {} if named and not read else None


def _type(annotation: ast.expr | None) -> Any:
    try:
        kind = eval(ast.unparse(annotation), {"__builtins__": {}, **KNOWN}) if annotation else Any
        TypeAdapter(kind)
    except Exception:  # it names what is not known here
        return Any
    return kind
