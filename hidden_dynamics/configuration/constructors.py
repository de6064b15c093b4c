"""What classes take, read from their source: the arguments of a constructor, and those that it passes on; the values
that it refuses. No module of theirs is imported, and so no numerical library.

The statements of a constructor are tried one by one on the values that are given. One that needs what is not known
here (a tensor, the task) is passed over, and what it would have set is unknown from there on.
"""

import __future__

import ast
import builtins
import copy
import functools
import importlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType
from typing import Any, Literal, NamedTuple

from pydantic import ConfigDict, TypeAdapter, ValidationError

from hidden_dynamics.configuration.entries import closest
from hidden_dynamics.errors import UserError
from hidden_dynamics.system.files import ROOT

UNKNOWN: Any = object()
_under_way: set["Definition"] = set()
# What is imported where a definition needs it: it reads and writes nothing.
IMPORTED = {"collections", "dataclasses", "functools", "itertools", "math", "pydantic", "pydantic_core", "re", "typing"}
LIGHT = ("hidden_dynamics.configuration", "hidden_dynamics.errors")
SAFE = {name: getattr(builtins, name) for name in dir(builtins)} | dict.fromkeys(
    ("open", "print", "input", "exec", "eval", "compile", "breakpoint", "exit", "quit")
)


class Mistake(NamedTuple):
    """A value that a class does not take: its `key`, such as "solver.rtol", "" where no single one is meant."""

    key: str
    text: str


class Definition(NamedTuple):
    """A class, a function or a value of a module: its dotted name and its statement."""

    module: str
    name: str
    node: ast.stmt


@functools.cache
def find(dotted: str) -> Definition | None:
    """A definition of this project, or of the user's beside it, wherever it is imported from; None of another's."""
    module, _, name = dotted.rpartition(".")
    if (content := _module(module)) is None:
        return None
    definitions, imports = content
    if name in definitions:
        return Definition(module, name, definitions[name])
    return find(imports[name]) if imports.get(name, dotted) != dotted else None


@functools.cache
def _module(name: str) -> tuple[dict[str, ast.stmt], dict[str, str]] | None:
    """The statement of each top-level name of a module, and what its imports bring."""
    paths = [base.joinpath(*name.split(".")) for base in dict.fromkeys([ROOT, Path.cwd()])]
    files = [file for path in paths for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()]
    if not name or name.split(".")[0] in sys.stdlib_module_names or not files:
        return None
    definitions, imports = {}, {}
    for statement in ast.parse(files[0].read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.ImportFrom) and not statement.level:
            imports |= {each.asname or each.name: f"{statement.module}.{each.name}" for each in statement.names}
        elif isinstance(statement, ast.Import):
            imports |= {each.asname or each.name: each.name for each in statement.names}
        else:
            definitions |= dict.fromkeys(_bound(statement), statement)
    return definitions, imports


@functools.cache
def _bound(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.ClassDef | ast.FunctionDef):
        return [statement.name]
    return [each.id for each in ast.walk(statement) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]


@functools.cache
def value_of(dotted: str) -> Any:
    """What a definition is, evaluated without any that it needs and that cannot be; UNKNOWN where it fails so."""
    found = find(dotted)
    if found is None:
        return _imported(dotted)
    if found.module.startswith(LIGHT):
        return getattr(importlib.import_module(found.module), found.name)
    bases = found.node.bases if isinstance(found.node, ast.ClassDef) else []
    if found in _under_way or any(value_of(place_in(found.module, base)) is UNKNOWN for base in bases):
        return UNKNOWN
    _under_way.add(found)  # it may name one that names it
    space = _names_of(found)
    _under_way.remove(found)
    try:
        exec(_compiled(found.node), space)
    except Exception:  # whatever a definition does that is not whole here
        return UNKNOWN
    return space[found.name]


def _imported(dotted: str) -> Any:
    if _module(dotted) is not None:  # a module of the project, of which attributes are read
        return _Attributes(dotted)
    top, _, name = dotted.rpartition(".")
    if dotted.split(".")[0] not in IMPORTED:
        return UNKNOWN
    return getattr(importlib.import_module(top), name, UNKNOWN) if top else importlib.import_module(name)


class _Attributes:
    """A module of the project, whose definitions are evaluated as they are asked for."""

    def __init__(self, module: str):
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if (value := value_of(f"{self._module}.{name}")) is UNKNOWN:
            raise AttributeError(name)
        return value


@functools.cache
def _names_of(found: Definition) -> dict[str, Any]:
    """The namespace of a definition: what it names and can be had here."""
    content = _module(found.module)
    assert content is not None  # it has been found there
    definitions, imports = content
    space: dict[str, Any] = {"__builtins__": SAFE, "__name__": found.module}
    for name in names_in(found.node) - {found.name}:
        place = f"{found.module}.{name}" if name in definitions else imports.get(name)
        if place and (value := value_of(place)) is not UNKNOWN:
            space[name] = value
    return space


@functools.cache
def names_in(node: ast.AST) -> frozenset[str]:
    return frozenset(each.id for each in ast.walk(node) if isinstance(each, ast.Name))


@functools.cache
def source_of(node: ast.AST) -> str:
    return ast.unparse(node)


def _compiled(statement: ast.stmt) -> CodeType:
    """A statement without the types of functions, which may name what cannot be had; those of fields stay."""
    if isinstance(statement, ast.ClassDef):
        statement = copy.deepcopy(statement)
        for node in ast.walk(statement):
            if isinstance(node, ast.arg):
                node.annotation = None
            if isinstance(node, ast.FunctionDef):
                node.returns = None
    flags = 0 if isinstance(statement, ast.ClassDef) else __future__.annotations.compiler_flag
    return compile(ast.Module([statement], []), "<constructor>", "exec", flags)


# Constructors


@functools.cache
def line_of(dotted: str) -> tuple[Definition, ...]:
    """A class and its bases in the order in which they are sought, as far as they are of this project or the user's."""
    found = find(dotted)
    if found is None or not isinstance(found.node, ast.ClassDef):
        return ()
    bases = [each.value if isinstance(each, ast.Subscript) else each for each in found.node.bases]
    line = [found, *(each for base in bases for each in line_of(place_in(found.module, base)))]
    return tuple(dict.fromkeys(line))


@functools.cache
def member(line: tuple[Definition, ...], name: str) -> tuple[int, ast.stmt] | None:
    """The first in a line of classes that defines a method or an attribute: its place there, and the statement."""
    for place, owner in enumerate(line):
        for statement in reversed(getattr(owner.node, "body", [])):  # the last counts
            if name in _bound(statement):
                return place, statement
    return None


def place_in(module: str, node: ast.expr) -> str:
    """The dotted name of what an expression names in a module; "" where it names nothing."""
    first, _, rest = source_of(node).partition(".")
    definitions, imports = _module(module) or ({}, {})
    origin = f"{module}.{first}" if first in definitions else imports.get(first, "")
    return f"{origin}.{rest}" if origin and rest else origin


def stand_in(dotted: str) -> type:
    """A class in the place of one that cannot be had: nothing is made of it."""

    def refuse(*given: Any, **named: Any) -> Any:
        raise NameError(dotted)

    return type(dotted.rpartition(".")[2], (), {"__new__": refuse, "place": dotted})


def mistakes(dotted: str, given: Mapping[str, Any], *known: Any, whole: bool = True) -> Iterator[Mistake]:
    """What a class does not take of the arguments given by name.

    Args:
        known: what comes before them by position, or UNKNOWN.
        whole: these are all.
    """
    line = line_of(dotted)
    if (found := member(line, "__init__")) is not None:
        yield from _of_constructor(line, found[0], found[1], given, known, whole)


def _of_constructor(
    line: tuple[Definition, ...],
    place: int,
    init: Any,
    given: Mapping[str, Any],
    known: Sequence[Any],
    whole: bool,
) -> Iterator[Mistake]:
    owner, arguments = line[place], init.args
    named = [*arguments.posonlyargs, *arguments.args][1:]
    defaults = dict(zip((each.arg for each in reversed(named)), reversed(arguments.defaults), strict=False))
    defaults |= {e.arg: d for e, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None}
    types = {each.arg: each.annotation for each in (*named, *arguments.kwonlyargs)}
    values = dict(zip(types, known, strict=False)) | {name: given[name] for name in given if name in types}
    rest = {name: value for name, value in given.items() if name not in types}
    given = {name: value for name, value in (values | rest).items() if value is not UNKNOWN}
    kind = line[0].name
    if rest and arguments.kwarg is None:
        name = next(iter(rest))
        yield Mistake(name, f"{kind} takes no {name}.{closest(name, types)} It takes {', '.join(types)}.")
    for name in sorted(types.keys() - values.keys() - defaults.keys()) if whole else ():
        yield Mistake(name, f"{kind} needs {name}")
    for name, value in values.items():
        if name in given and (wrong := _of_type(types[name], value)):
            yield Mistake(".".join([name, *wrong[0]]), f"found {value!r:.200}: {wrong[1]}")
    space = dict(_names_of(Definition(owner.module, owner.name, init)))
    space |= {name: _tried(default, space) for name, default in defaults.items()} | values
    space |= {"self": type(kind, (), _attributes(line))()} | ({arguments.kwarg.arg: rest} if arguments.kwarg else {})
    for name in [name for name, value in space.items() if value is UNKNOWN]:
        del space[name]
    for statement in init.body:
        yield from _of_statement(line, place, statement, space, given)


def _of_statement(
    line: tuple[Definition, ...], place: int, statement: ast.stmt, space: dict[str, Any], given: Mapping[str, Any]
) -> Iterator[Mistake]:
    """The mistakes that a statement of a constructor meets; `space` has what it sets."""
    for call in _calls(statement, space):
        whole = not any(isinstance(each, ast.Starred) for each in call.args)
        positional = [_tried(each, space) for each in call.args if not isinstance(each, ast.Starred)]
        own = {each.arg: _tried(each.value, space) for each in call.keywords if each.arg}
        passed = [_tried(each.value, space) for each in call.keywords if not each.arg]
        if any(not isinstance(each, dict) for each in passed):
            continue
        for each in passed:
            own |= each
        if source_of(call.func) == "super().__init__":
            if (above := member(line[place + 1 :], "__init__")) is not None:
                yield from _of_constructor(line, place + 1 + above[0], above[1], own, positional, whole)
            continue
        called = _tried(call.func, space)
        if called is not UNKNOWN and not hasattr(called, "place"):
            yield from _refused(call, space, given) if isinstance(call.func, ast.Name) else ()
        elif dotted := getattr(called, "place", "") or place_in(line[place].module, call.func):
            yield from mistakes(dotted, own, *positional, whole=whole)
    if isinstance(statement, ast.If | ast.For):
        yield from _refused(statement, space, given)
    elif _executed(statement, space) is not None:
        for name in _changed(statement):
            space.pop(name, None)


def _refused(node: ast.stmt | ast.expr, space: dict[str, Any], given: Mapping[str, Any]) -> Iterator[Mistake]:
    """The refusal of a call or a statement, laid to the one argument that it names, or that stands in it."""
    error = _executed(node, space)
    if not isinstance(error, ValueError | TypeError | UserError):
        return
    text = " ".join(str(error).split())
    within = names_in(node) & given.keys()
    mentioned = given.keys() & set(re.findall(r"\w+", text))
    key = next((min(names) for names in (within, mentioned) if len(names) == 1), "")
    if isinstance(given.get(key), Mapping):
        parts = given[key].keys() & set(re.findall(r"\w+", text))
        key = f"{key}.{min(parts)}" if len(parts) == 1 else key
    yield Mistake(key, text)


@functools.cache
def _changed(statement: ast.stmt) -> list[str]:
    """The names that a statement gives a value, or may change one of."""
    used = [each.value for each in ast.walk(statement) if isinstance(each, ast.Attribute | ast.Subscript)]
    return [*_bound(statement), *(each.id for each in used if isinstance(each, ast.Name) and each.id != "self")]


@functools.cache
def _with_calls(node: ast.AST) -> list[ast.AST]:
    """The parts of a node that are calls or have some."""
    return [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.Call) or _with_calls(each)]


def _calls(node: ast.AST, space: dict[str, Any]) -> Iterator[ast.Call]:
    """The calls that are made whatever is not known: of a choice, those on the way that is known to be taken."""
    if isinstance(node, ast.If | ast.IfExp):
        test = _tried(node.test, space)
        ways = node.orelse if not test else node.body
        inner = [] if test is UNKNOWN else ways if isinstance(ways, list) else [ways]
    else:
        inner = [] if isinstance(node, ast.Lambda | ast.FunctionDef | ast.Try) else _with_calls(node)
    for each in inner:
        yield from _calls(each, space)
    if isinstance(node, ast.Call):
        yield node


@functools.cache
def _attributes(line: tuple[Definition, ...]) -> dict[str, Any]:
    """The attributes of a class that are constants, or other classes."""
    found: dict[str, Any] = {}
    for owner in reversed(line):
        for statement in getattr(owner.node, "body", []):
            if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
                value = _tried(statement.value, {"__builtins__": SAFE})
                place = place_in(owner.module, statement.value) if isinstance(statement.value, ast.Name) else ""
                value = stand_in(place) if value is UNKNOWN and place else value
                found |= dict.fromkeys(_bound(statement), value) if value is not UNKNOWN else {}
    return found


def _tried(node: ast.expr, space: dict[str, Any]) -> Any:
    """The value of an expression; UNKNOWN where it cannot be had."""
    try:
        return eval(_code(node), space)
    except Exception:  # also what is not known here
        return UNKNOWN


def _executed(node: ast.stmt | ast.expr, space: dict[str, Any]) -> Exception | None:
    try:
        exec(_code(node), space)
    except Exception as error:
        return error
    return None


@functools.cache
def _code(node: ast.stmt | ast.expr) -> CodeType:
    if isinstance(node, ast.expr):
        return compile(ast.Expression(node), "<constructor>", "eval")
    return compile(ast.Module([node], []), "<constructor>", "exec")


def _of_type(annotation: ast.expr | None, value: Any) -> tuple[list[str], str] | None:
    """Where within a value, and why, it is not of the type that an argument has; None where it is."""
    try:
        adapter = _adapter(source_of(annotation)) if annotation is not None else None
        if adapter is not None:
            adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return [str(part) for part in first["loc"] if isinstance(value, Mapping) and part in value], first["msg"]
    return None


@functools.cache
def _adapter(annotation: str) -> TypeAdapter | None:
    """Of a type of numbers, texts, lists and mappings; None of any other."""
    try:
        kind = eval(annotation, {"Any": Any, "Mapping": Mapping, "Literal": Literal, "Sequence": Sequence})
        return TypeAdapter(kind, config=ConfigDict(strict=True, allow_inf_nan=False))
    except Exception:  # it names what cannot be had
        return None
