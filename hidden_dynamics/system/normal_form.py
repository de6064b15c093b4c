"""A definition's source as its digest sees it: without docstrings, and blind to where other definitions stand."""

import ast
import functools
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator

from hidden_dynamics.system.definitions import attribute, imports_within, origin_of, path_of, read

Place = tuple[str, str]  # module, name


@functools.cache
def source_of(module: str, name: str) -> str:
    """The source of a definition; what it imports from the project goes by its own name, however it was imported.

    Where one name would then mean two things, a digest of what it stands for is added to it.
    """
    statements = _statements(module, name)
    places = _places(module, statements)
    meanings = defaultdict(set)
    for place in places.values():
        meanings[place[1]].add(place)
    taken = _names_beside(statements, places)
    names = {
        spelling: place[1] if len(meanings[place[1]]) == 1 and place[1] not in taken else _unmistakable(place)
        for spelling, place in places.items()
    }
    return _unparsed(statements, names)


def _statements(module: str, name: str) -> list[ast.stmt]:
    return [_without_docstrings(statement) for statement in read(module).definitions[name]]


def _places(module: str, statements: list[ast.stmt]) -> dict[str, Place]:
    """{how it is written: what it refers to} of what statements use of the project's other modules."""
    imports = imports_within(module, statements)
    own, bound = read(module).definitions, set(_bound(statements))
    imports = {name: target for name, target in imports.items() if name not in own and name not in bound}
    found = {}
    for node in _nodes(statements):
        if isinstance(node, ast.Name) and node.id in imports:
            origin, name = imports[node.id]
            of_ours = name and path_of(origin) is not None and path_of(f"{origin}.{name}") is None
            places = [(origin, name)] if of_ours else []
        elif isinstance(node, ast.Attribute):
            places = [place for place in attribute(node, imports) if place[1] == node.attr]
        else:
            continue
        found |= {ast.unparse(node): origin_of(*place) for place in places}
    return found


def _bound(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """The names that statements bind anywhere within them but by imports: these hide what is imported."""
    for node in _nodes(statements):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler | ast.MatchAs):
            yield node.name or ""


def _names_beside(statements: list[ast.stmt], places: dict[str, Place]) -> set[str]:
    """The names in statements that refer to something else than `places`."""
    read_here = {node.id for node in _nodes(statements) if isinstance(node, ast.Name)}
    return (read_here - set(places)) | set(_bound(statements))


def _unmistakable(place: Place) -> str:
    module, name = place
    if path_of(module) is None or name not in read(module).definitions:
        return name
    statements = _statements(module, name)
    plain = {spelling: other[1] for spelling, other in _places(module, statements).items()}
    return f"{name}_{hashlib.sha256(_unparsed(statements, plain).encode()).hexdigest()[:12]}"


def _nodes(statements: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    return (node for statement in statements for node in ast.walk(statement))


def _unparsed(statements: Iterable[ast.stmt], names: dict[str, str]) -> str:
    return "\n".join(ast.unparse(_Renamer(names).visit(_copy(statement))) for statement in statements)


def _copy(statement: ast.stmt) -> ast.stmt:
    return ast.parse(ast.unparse(statement)).body[0]


def _without_docstrings(statement: ast.stmt) -> ast.stmt:
    return _DocstringRemover().visit(_copy(statement))


class _DocstringRemover(ast.NodeTransformer):
    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        documented = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if documented and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return node


class _Renamer(ast.NodeTransformer):
    """Writes what is imported from the project by the names given, and leaves the imports out."""

    def __init__(self, names: dict[str, str]):
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        spelling = ast.unparse(node)
        return ast.Name(self.names[spelling], node.ctx) if spelling in self.names else self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        return ast.Pass() if node.level or path_of(node.module) is not None else node

    def visit_Import(self, node: ast.Import) -> ast.AST:
        return ast.Pass() if all(path_of(alias.name) is not None for alias in node.names) else node
