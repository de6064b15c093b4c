"""A digest of what a run's code means: of all definitions that it reaches, wherever they lie.

From named definitions (a cell, a network, a task, the training loop), every definition of the project that they refer
to is followed, through imports too. A definition's digest is over its syntax tree and the digests of what it names, so
that neither its module counts, nor its place there, nor comments, docstrings, format and types. A changed equation
changes the digests of just the runs that use it. No module is imported.

A module that no result depends on says so, and why, in a string NEUTRAL of its own: nothing in it is followed.
"""

import ast
import functools
import hashlib
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hidden_dynamics.errors import UserError
from hidden_dynamics.system.files import ROOT

Place = tuple[str, str]  # of a definition: module, name; of what another package has: its dotted name, ""


@dataclass(frozen=True)
class Module:
    """A source file without docstrings and types.

    Attributes:
        definitions: the statements that define or change each top-level name.
        imports: the dotted name of what each import brings.
    """

    definitions: dict[str, list[ast.stmt]]
    imports: dict[str, str]


@functools.cache
def code_digest(*names: str) -> str:
    """SHA-256 over the definitions reachable from `names`, such as "hidden_dynamics.models.recurrent.lstm.LSTM"; a
    `UserError` where one is not defined, or a file of this project imports all names of another (`*`)."""
    return _sha256(*sorted({_meaning(place) for place in _places(names)}))


def reachable(names: Iterable[str]) -> dict[str, str]:
    """Source of every definition reached, by "module:name"; names from elsewhere come without source."""
    return {":".join(place): _source_of(place) for root in _places(names) for place in _reached(root)}


def _places(names: Iterable[str]) -> list[Place]:
    places = {name: place_of(name) for name in names}
    for name, (_, defined) in places.items():
        if not defined or not name.endswith(f".{defined}"):
            raise UserError(f"{name} is not defined: check the name in config/.")
    return list(places.values())


@functools.cache
def _reached(root: Place) -> frozenset[Place]:
    places, waiting = set(), [root]
    while waiting:
        place = waiting.pop()
        if place not in places:
            places.add(place)
            waiting += [other for _, other in _references(place)]
    return frozenset(places)


@functools.cache
def _meaning(place: Place) -> str:
    """The digest of a definition and of all that it names. Those that name each other, in a circle, have one together,
    in which each goes by its number."""
    if not place[1]:
        return place[0]
    circle = [other for other in _reached(place) if place in _reached(other)]
    circle.sort(key=lambda member: (_source_of(member), member))
    numbers = {member: f"circle {number}" for number, member in enumerate(circle)}
    texts = [
        _sha256(_source_of(member), *(f"{spelt} {numbers.get(other) or _meaning(other)}" for spelt, other in named))
        for member in circle
        for named in [_references(member)]
    ]
    return _sha256(*texts, numbers[place])


def _sha256(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


@functools.cache
def _source_of(place: Place) -> str:
    """A definition as its syntax tree reads; "" of another package's, whose source is the lock's business."""
    module, name = place
    return "\n".join(map(ast.unparse, _read(module).definitions[name])) if name else ""


@functools.cache
def _references(place: Place) -> list[tuple[str, Place]]:
    """What a definition names, each with how it does: its module's definitions, imports, attributes of modules; nothing
    of a neutral module."""
    module, own_name = place
    if not own_name:
        return []
    content = _read(module)
    spelling = ast.Name | ast.Attribute | ast.Import | ast.ImportFrom
    nodes = [node for top in content.definitions[own_name] for node in ast.walk(top) if isinstance(node, spelling)]
    within = imports_of(module, nodes)
    imports, named = content.imports | within, {name: place_of(origin) for name, origin in within.items()}
    for node in nodes:
        name, *attributes = _dotted(node) or [""]
        if name in content.definitions and name not in within and name != own_name:
            named[name] = (module, name)
        elif name in imports:
            named[".".join([name, *attributes])] = place_of(".".join([imports[name], *attributes]))
    return sorted((spelt, other) for spelt, other in named.items() if not _is_neutral(other))


def _is_neutral(place: Place) -> bool:
    module, name = place
    return bool(name) and "NEUTRAL" in _read(module).definitions


def _dotted(node: ast.AST) -> list[str] | None:
    """The parts of a name such as `module.name`; None of another node."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute) and (before := _dotted(node.value)):
        return [*before, node.attr]
    return None


@functools.cache
def place_of(dotted: str) -> Place:
    """The definition behind a dotted name, or behind the beginning of it; of what none of our modules defines, itself.

    A re-export leads on to where the name is defined.
    """
    parts = dotted.split(".")
    for length in range(len(parts) - 1, 0, -1):
        module, name = ".".join(parts[:length]), parts[length]
        if path_of(module) is not None:
            content = _read(module)
            if name in content.definitions:
                return module, name
            if content.imports.get(name, f"{module}.{name}") != f"{module}.{name}":  # itself: a module of the package
                return place_of(".".join([content.imports[name], *parts[length + 1 :]]))
    return dotted, ""


@functools.cache
def path_of(module: str) -> Path | None:
    """The file of a module of this project, or of the user's own beside it; None for an installed package or none."""
    for base in dict.fromkeys([ROOT, Path.cwd()]):
        stem = base.joinpath(*module.split("."))
        for path in (stem.with_suffix(".py"), stem / "__init__.py"):
            if path.is_file() and module.split(".")[0] not in sys.stdlib_module_names:
                return path
    return None


@functools.cache
def _read(module: str) -> Module:
    path = path_of(module)
    assert path is not None  # `place_of` and `_references` have found it
    try:
        tree = _bare(ast.parse(path.read_text(encoding="utf-8")))
    except SyntaxError as error:
        raise UserError(f"{path}: line {error.lineno}: {error.msg}") from None
    bound = [(statement, _names_bound(statement)) for statement in tree.body]
    definitions: dict[str, list[ast.stmt]] = {name: [] for _, names in bound for name in names}
    for statement, names in bound:
        if not names and not isinstance(statement, ast.Import | ast.ImportFrom):
            # What binds no name, such as TABLE["key"] = 1, belongs to the names that it mentions.
            names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} & definitions.keys()
        for name in names:
            definitions[name].append(statement)
    return Module(definitions, imports_of(module, [node for top in tree.body for node in _of_this_scope(top)]))


def imports_of(module: str, nodes: Iterable[ast.AST]) -> dict[str, str]:
    """The dotted name of what each import among the nodes brings, by the name that it is given here."""
    origins = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                origins[name] = alias.name if alias.asname else name
        elif isinstance(node, ast.ImportFrom):
            origin = _absolute(module, node)
            origins |= {alias.asname or alias.name: f"{origin}.{alias.name}" for alias in node.names}
            if "*" in origins and path_of(origin) is not None:
                raise UserError(f"{path_of(module)}: line {node.lineno}: import the names that are used, not all (*).")
    return origins


def _absolute(module: str, statement: ast.ImportFrom) -> str:
    if not statement.level:
        return statement.module or ""
    parts = module.split(".")
    path = path_of(module)
    keep = len(parts) - statement.level + (path is not None and path.name == "__init__.py")
    return ".".join([*parts[:keep], *([statement.module] if statement.module else [])])


def _of_this_scope(statement: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement that are not within a function or a class of it."""
    yield statement
    if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        for child in ast.iter_child_nodes(statement):
            yield from _of_this_scope(child)


def _names_bound(statement: ast.stmt) -> set[str]:
    """The top-level names that a statement defines; imported ones where it chooses between imports (`try`, `if`)."""
    names = set()
    for node in _of_this_scope(statement):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom) and node is not statement:
            names |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
    return names


def _bare(node: Any) -> Any:
    """A module, or a statement, without docstrings and without the types of arguments, results and variables; those of
    a class's attributes stay, since they may be its fields."""
    of_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    if of_function:
        node.returns = None
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
    if (of_function or isinstance(node, ast.ClassDef)) and ast.get_docstring(node, clean=False) is not None:
        node.body = node.body[1:] or [ast.Pass()]
    for block in {"body", "orelse", "finalbody", "handlers", "cases"} & set(node._fields):
        statements = getattr(node, block)
        kept = statements if isinstance(node, ast.ClassDef) else list(map(_untyped, statements))
        setattr(node, block, list(map(_bare, kept)))
    return node


def _untyped(statement: ast.stmt) -> ast.stmt:
    """A variable's assignment without its type."""
    if not isinstance(statement, ast.AnnAssign) or statement.value is None:
        return statement
    return ast.copy_location(ast.Assign([statement.target], statement.value), statement)
