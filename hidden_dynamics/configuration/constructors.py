"""Arguments of constructors, with their types, as entries: read from the source of classes.

No module is imported that needs a numerical library. Of such a module, those statements alone are evaluated that need
nothing of what is missing: constants, types, entries of settings. What cannot be had so is not checked.
"""

import ast
import functools
import importlib
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from pydantic import ConfigDict, Field, TypeAdapter, create_model

from hidden_dynamics.configuration.entries import Entry
from hidden_dynamics.configuration.schema import Positive, Share, Whole
from hidden_dynamics.system.digest import imports_of, path_of, place_of

# What is imported for a module that is read: it needs no numerical library.
LIGHT = ("hidden_dynamics.configuration", "hidden_dynamics.errors")
IMPORTED = {"collections", "dataclasses", "functools", "itertools", "math", "pydantic", "pydantic_core", "re", "typing"}
# The ranges that this module names; they are plain types there, since models are used without pydantic, too.
CHOICES, RANGES = "hidden_dynamics.models.choices", {"Whole": Whole, "Share": Share, "Positive": Positive}
DEFINING = (ast.ClassDef, ast.FunctionDef)
Fields = dict[str, tuple[Any, Any]]  # of arguments by name: the type, and ... where it has no default
_names: dict[str, dict[str, Any]] = {}  # of modules; of one that is being read, so far: they may import each other


class Definition(NamedTuple):
    """A class or a function of a module: its statement."""

    module: str
    node: Any


class Open(Entry):
    """An entry of arguments that are not all known."""

    model_config = ConfigDict(extra="allow")


@functools.cache
def _statements(module: str) -> list[ast.stmt]:
    """The statements of a module of this project, or of the user's beside it; none of another's."""
    path = path_of(module)
    return ast.parse(path.read_text(encoding="utf-8")).body if path else []


@functools.cache
def _imports(module: str) -> dict[str, str]:
    return imports_of(module, _statements(module))


def place_in(module: str, node: ast.expr) -> str:
    """The dotted name of what an expression names in a module."""
    first, _, rest = ast.unparse(node).partition(".")
    return ".".join(filter(None, [_imports(module).get(first, f"{module}.{first}"), rest]))


def find(dotted: str) -> Definition | None:
    """A class or function of this project, or of the user's, wherever it is imported from; None of another's."""
    module, name = place_of(dotted)
    named = [node for node in _statements(module) if isinstance(node, DEFINING) and node.name == name]
    return Definition(module, named[-1]) if named else None


def names_of(module: str) -> dict[str, Any]:
    """The values of a module's names, as far as they can be had."""
    if module in _names:
        return _names[module]
    names = _names[module] = {"__name__": module}
    for name, place in _imports(module).items():
        if (value := _imported(place)) is not None:
            names[name] = value
    for statement in _statements(module):
        if isinstance(statement, (*DEFINING, ast.Assign, ast.AnnAssign)):
            try:
                exec(compile(ast.Module([statement], []), f"<{module}>", "exec"), names)
            except Exception:  # it needs what is missing
                continue
    names |= RANGES if module == CHOICES else {}
    return names


def _imported(place: str) -> Any:
    top, _, name = place.rpartition(".")
    if place.startswith(LIGHT) or place.split(".")[0] in IMPORTED:
        top = "typing_extensions" if top == "typing" else top  # whose TypedDict pydantic takes
        return getattr(importlib.import_module(top), name) if top else importlib.import_module(place)
    return SimpleNamespace(**names_of(place)) if _statements(place) else names_of(top).get(name)


# Constructors


@functools.cache
def line_of(dotted: str) -> tuple[Definition, ...]:
    """A class and its bases in the order in which they are sought, as far as they are of this project or the user's."""
    definition = find(dotted)
    if definition is None or not isinstance(definition.node, ast.ClassDef):
        return ()
    bases = [base.value if isinstance(base, ast.Subscript) else base for base in definition.node.bases]
    above = [owner for base in bases for owner in line_of(place_in(definition.module, base))]
    return tuple(dict.fromkeys([definition, *above]))


def method(line: Sequence[Definition], name: str) -> tuple[Definition, Sequence[Definition]] | None:
    """The first of this name in a line of classes, and the line that follows its class."""
    for number, owner in enumerate(line):
        for node in owner.node.body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return Definition(owner.module, node), line[number + 1 :]
    return None


@functools.cache
def arguments_of(network: str, core: str | None = None) -> type[Entry]:
    """An entry of what a network's constructor takes after the task, its core's arguments among them if it has one.

    What a constructor takes by `**` goes on to those whom it calls with that: its base, its `core`. The entry takes any
    name where another is called, or where something is taken out before.
    """
    fields, whole = _arguments(line_of(network), core)
    fields = dict([*fields.items()][1:])
    fields.pop("core", None)
    arguments: Any = {f"of_{name}": (kind, Field(default, alias=name)) for name, (kind, default) in fields.items()}
    return create_model(network.rpartition(".")[2], __base__=Entry if whole else Open, **arguments)


def _arguments(line: Sequence[Definition], core: str | None) -> tuple[Fields, bool]:
    """The arguments of the first constructor in a line of classes, those by place first, and whether there are no
    others."""
    if (constructor := method(line, "__init__")) is None:
        return {}, False
    (module, init), bases = constructor
    fields, rest = _own(module, init), init.args.kwarg
    by_name = {argument.arg: fields.pop(argument.arg) for argument in init.args.kwonlyargs}
    if rest is None:
        return fields | by_name, True
    lines = {"super().__init__": bases, "core": line_of(core or "")}
    known: list[bool] = []
    for call in (each for each in ast.walk(init) if isinstance(each, ast.Call)):
        if any(each.arg is None and ast.unparse(each.value) == rest.arg for each in call.keywords):
            more, whole = _arguments(lines.get(ast.unparse(call.func), ()), core)
            by_place = [*more][: sum(not isinstance(each, ast.Starred) for each in call.args)]
            given = {*by_place, *by_name, *(each.arg for each in call.keywords)}
            fields |= {name: of for name, of in more.items() if name not in {*given, *fields}}
            known.append(whole)
    return fields | by_name, bool(known) and all(known) and f"{rest.arg}.pop(" not in ast.unparse(init)


def _own(module: str, init: ast.FunctionDef) -> Fields:
    """The arguments that a constructor names, after `self`."""
    by_place, by_name = [*init.args.posonlyargs, *init.args.args][1:], init.args.kwonlyargs
    required = by_place[: len(by_place) - len(init.args.defaults)]
    required += [argument for argument, default in zip(by_name, init.args.kw_defaults, strict=True) if default is None]
    return {e.arg: (_type(module, e.annotation), ... if e in required else None) for e in [*by_place, *by_name]}


def _type(module: str, annotation: ast.expr | None) -> Any:
    """The type that an annotation names; any where that cannot be had, or is none of what a file holds (YAML has lists
    for tuples and sets)."""
    if annotation and {"tuple", "set", "frozenset"} & {e.id for e in ast.walk(annotation) if isinstance(e, ast.Name)}:
        return Any
    try:
        kind = eval(ast.unparse(annotation), names_of(module)) if annotation else Any
        TypeAdapter(kind)
    except Exception:  # it names what is missing
        return Any
    return kind
