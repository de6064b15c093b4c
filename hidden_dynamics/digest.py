"""What a run's code means: a digest of the definitions that it reaches, blind to comments, docstrings and formatting.

From named definitions (a cell, a network, a task, the training loop), every definition of the project that they refer to is followed,
through imports too. The digest is over their syntax trees: reformatting or rewording changes nothing, and a changed equation changes
the digests of just the runs that use it. No module is imported.
"""

import ast
import functools
import hashlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hidden_dynamics.configuration import ROOT
from hidden_dynamics.errors import UserError


# Where and when a state is kept does not change it: these modules do not count.
NEUTRAL = frozenset(
    {"hidden_dynamics.files", "hidden_dynamics.training.checkpoint", "hidden_dynamics.training.interruption"}
)


@dataclass(frozen=True)
class Module:
    """A source file: its top-level definitions, and what each imported name refers to, as (module, name or None)."""

    definitions: dict[str, list[ast.stmt]]
    imports: dict[str, tuple[str, str | None]]


def code_digest(names: Iterable[str]) -> str:
    """SHA-256 over the definitions reachable from `names`, such as "hidden_dynamics.recurrent.MomentumLSTM".

    Raises:
        UserError: a name is not defined where it says.
    """
    text = hashlib.sha256()
    for key, source in sorted(reachable(names).items()):
        text.update(f"{key}\n{source}\n".encode())
    return text.hexdigest()


@functools.lru_cache(maxsize=None)
def _source_of(module: str, name: str) -> str:
    return "\n".join(ast.unparse(_without_docstrings(node)) for node in _read(module).definitions[name])


def reachable(names: Iterable[str]) -> dict[str, str]:
    """Normalised source of every definition reached, by "module:name"; names from elsewhere are listed without source."""
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
    return found


def _defined(module: str, name: str) -> bool:
    return name in _read(module).definitions or name in _read(module).imports


@functools.lru_cache(maxsize=None)
def _references(module: str, name: str) -> list[tuple[str, str]]:
    """What a definition mentions: definitions of its module, imported names, and attributes of imported modules."""
    content, result = _read(module), []
    for node in (inner for statement in content.definitions[name] for inner in ast.walk(statement)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in content.imports:
            target, imported = content.imports[node.value.id]
            inner = target if imported is None else f"{target}.{imported}"
            if _path_of(inner) is not None:  # an attribute of one of our modules
                result.append((inner, node.attr))
        elif isinstance(node, ast.Name):
            if node.id in content.definitions and node.id != name:
                result.append((module, node.id))
            elif node.id in content.imports:
                target = _resolve(*content.imports[node.id])
                if _path_of(".".join(filter(None, target))) is None:  # a module itself is followed through its attributes
                    result.append(target)
    return result


def _resolve(module: str, name: str | None) -> tuple[str, str]:
    return (module, name or "")


@functools.lru_cache(maxsize=None)
def _path_of(module: str) -> Path | None:
    """The file of a module of this project, or of the user's own beside it; None for an installed package or none at all."""
    for base in dict.fromkeys([ROOT, Path.cwd()]):
        stem = base.joinpath(*module.split("."))
        for path in (stem.with_suffix(".py"), stem / "__init__.py"):
            if path.is_file() and module.split(".")[0] not in sys.stdlib_module_names:
                return path
    return None


@functools.lru_cache(maxsize=None)
def _read(module: str) -> Module:
    path = _path_of(module)
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise UserError(f"{path}: line {error.lineno}: {error.msg}") from None
    definitions: dict[str, list[ast.stmt]] = {}
    imports: dict[str, tuple[str, str | None]] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                imports[alias.asname or alias.name.split(".")[0]] = (alias.name if alias.asname else alias.name.split(".")[0], None)
        elif isinstance(statement, ast.ImportFrom):
            origin = _absolute(module, path, statement)
            for alias in statement.names:
                imports[alias.asname or alias.name] = (origin, alias.name)
        else:
            for name in _names_bound(statement):
                definitions.setdefault(name, []).append(statement)
    return Module(definitions, imports)


def _absolute(module: str, path: Path, statement: ast.ImportFrom) -> str:
    if not statement.level:
        return statement.module or ""
    parts = module.split(".")
    keep = len(parts) - statement.level + (path.name == "__init__.py")
    return ".".join([*parts[:keep], *([statement.module] if statement.module else [])])


def _names_bound(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    return [node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


class _DocstringRemover(ast.NodeTransformer):
    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and isinstance(body[0], ast.Expr):
            if isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str):
                node.body = body[1:] or [ast.Pass()]
        return node


def _without_docstrings(statement: ast.stmt) -> ast.stmt:
    return _DocstringRemover().visit(ast.parse(ast.unparse(statement)).body[0])
