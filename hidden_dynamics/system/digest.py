"""A digest of the definitions that a run's code reaches, blind to comments, docstrings, formatting and modules' names.

From named definitions (a cell, a network, a task, the training loop), every definition of the project that they refer
to is followed, through imports too. The digest is over their syntax trees, in which a definition goes by its own name,
wherever it stands and however it was imported: rewording or moving it to another file changes nothing, and a changed
equation changes the digests of just the runs that use it. No module is imported.
"""

import ast
import functools
import hashlib
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hidden_dynamics.errors import UserError
from hidden_dynamics.system.files import ROOT

# Where and when a state is kept does not change it: these modules do not count.
NEUTRAL = frozenset(
    {"hidden_dynamics.system.files", "hidden_dynamics.training.checkpoint", "hidden_dynamics.training.interruption"}
)


@dataclass(frozen=True)
class Module:
    """A source file.

    Attributes:
        definitions: the top-level statements that define or change each name.
        imports: what each imported name refers to, as (module, name or None).
        stars: the modules whose names are all imported (`from module import *`).
    """

    definitions: dict[str, list[ast.stmt]]
    imports: dict[str, tuple[str, str | None]]
    stars: list[str]


def code_digest(names: Iterable[str]) -> str:
    """SHA-256 over the definitions reachable from `names`, such as "hidden_dynamics.models.recurrent.MomentumLSTM".

    Raises:
        UserError: a name is not defined where it says.
    """
    return _digest_of(frozenset(names))


@functools.cache  # the runs of a model on a task, and its seeds, ask for the same
def _digest_of(names: frozenset[str]) -> str:
    text = hashlib.sha256()
    found = [(key.partition(":")[2] if source else key, source) for key, source in reachable(names).items()]
    for name, source in sorted(found):
        text.update(f"{name}\n{source}\n".encode())
    return text.hexdigest()


@functools.cache
def _source_of(module: str, name: str) -> str:
    nodes = [_without_docstrings(node) for node in _read(module).definitions[name]]
    imports = _imports_within(module, nodes)
    return "\n".join(ast.unparse(_ByOwnName(imports).visit(node)) for node in nodes)


def reachable(names: Iterable[str]) -> dict[str, str]:
    """Normalised source of every definition reached, by "module:name"; names from elsewhere come without source."""
    found: dict[str, str] = {}
    waiting = [tuple(name.rsplit(".", 1)) for name in names]
    for module, name in waiting:
        if _path_of(module) is None or not _defined(module, name):
            raise UserError(f"{module}.{name} is not defined: check the name in config/.")
    while waiting:
        module, name = waiting.pop()
        key = f"{module}:{name}"
        if key in found or module in NEUTRAL:
            continue
        if _path_of(module) is None:
            found[key] = ""  # another package's: its name counts, its source is the lock's business
        elif name in _read(module).definitions:
            found[key] = _source_of(module, name)
            waiting += _references(module, name)
        elif name in _read(module).imports:
            waiting.append(_resolve(*_read(module).imports[name]))
        else:
            waiting += _from_stars(module, name)
    return found


def _defined(module: str, name: str) -> bool:
    return name in _read(module).definitions or name in _read(module).imports or bool(_from_stars(module, name))


def _from_stars(module: str, name: str) -> list[tuple[str, str]]:
    return [(star, name) for star in _read(module).stars if _path_of(star) is not None and _defined(star, name)]


@functools.cache
def _references(module: str, name: str) -> list[tuple[str, str]]:
    """What a definition mentions: definitions of its module, imported names, and attributes of imported modules."""
    content, result = _read(module), []
    nodes = [inner for statement in content.definitions[name] for inner in ast.walk(statement)]
    imports = _imports_within(module, content.definitions[name])
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            result += [_resolve(*target) for target in _imported(module, node).values()]
        if isinstance(node, ast.Attribute):
            result += _attribute(node, imports)
        elif isinstance(node, ast.Name):
            if node.id in content.definitions and node.id != name:
                result.append((module, node.id))
            if node.id in imports:
                target = _resolve(*imports[node.id])
                if _path_of(".".join(filter(None, target))) is None:  # of a module, its attributes are followed
                    result.append(target)
            elif node.id not in content.definitions:
                result += _from_stars(module, node.id)
    return result


def _imports_within(module: str, statements: Iterable[ast.stmt]) -> dict[str, tuple[str, str | None]]:
    """The imports that statements see: those of their module, and their own within a function, `if` or `try`."""
    imports = dict(_read(module).imports)
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Import | ast.ImportFrom):
                imports |= _imported(module, node)
    return imports


def _attribute(node: ast.Attribute, imports: dict[str, tuple[str, str | None]]) -> list[tuple[str, str]]:
    """What `module.name` or `package.module.name` refers to, where the module is one of ours."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in imports:
        return []
    module = ".".join(filter(None, imports[node.id]))
    for name in reversed(names):
        if _path_of(f"{module}.{name}") is None or (_path_of(module) is not None and _defined(module, name)):
            return [(module, name)] if _path_of(module) is not None else []
        module = f"{module}.{name}"
    return []


def _resolve(module: str, name: str | None) -> tuple[str, str]:
    return (module, name or "")


@functools.cache
def _path_of(module: str) -> Path | None:
    """The file of a module of this project, or of the user's own beside it; None for an installed package or none."""
    for base in dict.fromkeys([ROOT, Path.cwd()]):
        stem = base.joinpath(*module.split("."))
        for path in (stem.with_suffix(".py"), stem / "__init__.py"):
            if path.is_file() and module.split(".")[0] not in sys.stdlib_module_names:
                return path
    return None


@functools.cache
def _read(module: str) -> Module:
    path = _path_of(module)
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise UserError(f"{path}: line {error.lineno}: {error.msg}") from None
    definitions: dict[str, list[ast.stmt]] = {}
    imports: dict[str, tuple[str, str | None]] = {}
    stars: list[str] = []
    for statement in tree.body:
        for node in _of_this_scope(statement):
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                stars.append(_absolute(module, node))
            elif isinstance(node, ast.Import | ast.ImportFrom):
                imports |= _imported(module, node)
        for name in _names_bound(statement):
            definitions.setdefault(name, []).append(statement)
    for statement in tree.body:  # what binds no name, such as TABLE["key"] = 1, belongs to the names that it mentions
        if not isinstance(statement, ast.Import | ast.ImportFrom) and not _names_bound(statement):
            for name in {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} & set(definitions):
                definitions[name].append(statement)
    return Module(definitions, imports, stars)


def _imported(module: str, statement: ast.Import | ast.ImportFrom) -> dict[str, tuple[str, str | None]]:
    if isinstance(statement, ast.ImportFrom):
        origin = _absolute(module, statement)
        return {alias.asname or alias.name: (origin, alias.name) for alias in statement.names if alias.name != "*"}
    names = [(alias.asname or alias.name.split(".")[0], alias) for alias in statement.names]
    return {name: (alias.name if alias.asname else name, None) for name, alias in names}


def _absolute(module: str, statement: ast.ImportFrom) -> str:
    if not statement.level:
        return statement.module or ""
    parts = module.split(".")
    keep = len(parts) - statement.level + (_path_of(module).name == "__init__.py")
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


class _DocstringRemover(ast.NodeTransformer):
    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        documented = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if documented and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return node


class _ByOwnName(ast.NodeTransformer):
    """Calls what is imported from the project's own modules by its own name, and leaves such imports out."""

    def __init__(self, imports: dict[str, tuple[str, str | None]]):
        self.imports = imports

    def visit_Name(self, node: ast.Name) -> ast.AST:
        module, name = self.imports.get(node.id, ("", None))
        own = name is not None and _path_of(module) is not None
        return ast.Name(name, node.ctx) if own else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        targets = _attribute(node, self.imports)
        if targets and _path_of(targets[0][0]) is not None and targets[0][1] == node.attr:
            return ast.Name(node.attr, node.ctx)
        return self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        return ast.Pass() if node.level or _path_of(node.module) is not None else node

    def visit_Import(self, node: ast.Import) -> ast.AST:
        return ast.Pass() if all(_path_of(alias.name) is not None for alias in node.names) else node


def _without_docstrings(statement: ast.stmt) -> ast.stmt:
    return _DocstringRemover().visit(ast.parse(ast.unparse(statement)).body[0])
