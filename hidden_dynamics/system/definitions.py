"""The definitions of source files, read without importing them: what a name refers to, and in which file."""

import ast
import functools
import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hidden_dynamics.errors import UserError
from hidden_dynamics.system.files import ROOT

Place = tuple[str, str]  # of a definition: module, name
Imports = dict[str, tuple[str, str | None]]  # what each imported name refers to, as (module, name or None)


@dataclass(frozen=True)
class Module:
    """A source file.

    Attributes:
        definitions: the top-level statements that define or change each name, without docstrings.
        stars: the modules whose names are all imported (`from module import *`).
    """

    definitions: dict[str, list[ast.stmt]]
    imports: Imports
    stars: list[str]


ASKED_FOR: set[str] = set()  # every name that was looked up as a module


@functools.cache
def path_of(module: str) -> Path | None:
    """The file of a module of this project, or of the user's own beside it; None for an installed package or none."""
    ASKED_FOR.add(module)
    for base in dict.fromkeys([ROOT, Path.cwd()]):
        stem = base.joinpath(*module.split("."))
        for path in (stem.with_suffix(".py"), stem / "__init__.py"):
            if path.is_file() and module.split(".")[0] not in sys.stdlib_module_names:
                return path
    return None


@functools.cache
def source_digest(module: str) -> str | None:
    path = path_of(module)
    return path and hashlib.sha256(path.read_bytes()).hexdigest()


@functools.cache
def read(module: str) -> Module:
    path = path_of(module)
    try:
        tree = _without_docstrings(ast.parse(path.read_text(encoding="utf-8")))
    except SyntaxError as error:
        raise UserError(f"{path}: line {error.lineno}: {error.msg}") from None
    definitions: dict[str, list[ast.stmt]] = {}
    imports: Imports = {}
    stars: list[str] = []
    for statement in tree.body:
        for node in _of_this_scope(statement):
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                stars.append(_absolute(module, node))
            elif isinstance(node, ast.Import | ast.ImportFrom):
                imports |= imported(module, node)
        for name in _names_bound(statement):
            definitions.setdefault(name, []).append(statement)
    for statement in tree.body:  # what binds no name, such as TABLE["key"] = 1, belongs to the names that it mentions
        if not isinstance(statement, ast.Import | ast.ImportFrom) and not _names_bound(statement):
            for name in {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} & set(definitions):
                definitions[name].append(statement)
    return Module(definitions, imports, stars)


def defined(module: str, name: str) -> bool:
    return name in read(module).definitions or name in read(module).imports or bool(from_stars(module, name))


def from_stars(module: str, name: str) -> list[tuple[str, str]]:
    return [(star, name) for star in read(module).stars if path_of(star) is not None and defined(star, name)]


@functools.cache
def origins_of(module: str, name: str) -> tuple[Place, ...]:
    """Where what `module` knows as `name` is defined: several places where stars have it, none where nothing is."""
    if path_of(module) is None or name in read(module).definitions:
        return ((module, name),)
    if name in read(module).imports:
        origin, own_name = read(module).imports[name]
        return origins_of(origin, own_name or "")
    return tuple(place for star in from_stars(module, name) for place in origins_of(*star))


@functools.cache
def nodes_of(module: str, name: str) -> tuple[ast.AST, ...]:
    """Every node that refers to something by its name, of the statements that define `name`."""
    naming = ast.Name | ast.Attribute | ast.Import | ast.ImportFrom
    statements = read(module).definitions[name]
    return tuple(node for statement in statements for node in ast.walk(statement) if isinstance(node, naming))


@functools.cache
def imports_within(module: str, name: str) -> Imports:
    """The imports that a definition sees: those of its module, and its own within a function, `if` or `try`."""
    imports = dict(read(module).imports)
    for node in nodes_of(module, name):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports |= imported(module, node)
    return imports


def attribute(node: ast.Attribute, imports: Imports) -> list[tuple[str, str]]:
    """The definition behind `module.name` or `package.module.name`, where the module is one of ours."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in imports:
        return []
    module = ".".join(filter(None, imports[node.id]))
    for name in reversed(names):
        if path_of(f"{module}.{name}") is None or (path_of(module) is not None and defined(module, name)):
            return [(module, name)] if path_of(module) is not None else []
        module = f"{module}.{name}"
    return []


def imported(module: str, statement: ast.Import | ast.ImportFrom) -> Imports:
    if isinstance(statement, ast.ImportFrom):
        origin = _absolute(module, statement)
        return {alias.asname or alias.name: (origin, alias.name) for alias in statement.names if alias.name != "*"}
    names = [(alias.asname or alias.name.split(".")[0], alias) for alias in statement.names]
    return {name: (alias.name if alias.asname else name, None) for name, alias in names}


def _absolute(module: str, statement: ast.ImportFrom) -> str:
    if not statement.level:
        return statement.module or ""
    parts = module.split(".")
    keep = len(parts) - statement.level + (path_of(module).name == "__init__.py")
    return ".".join([*parts[:keep], *([statement.module] if statement.module else [])])


def _of_this_scope(statement: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement that are not within a function or a class of it."""
    yield statement
    if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        for child in ast.iter_child_nodes(statement):
            yield from _of_this_scope(child)


def _names_bound(statement: ast.stmt) -> list[str]:
    names = []
    for node in _of_this_scope(statement):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom) and node is not statement:
            names += [alias.asname or alias.name.split(".")[0] for alias in node.names]
    return list(dict.fromkeys(names))


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        documented = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if documented and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return tree
