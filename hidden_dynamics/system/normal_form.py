"""A definition's source as its digest sees it: blind to where other definitions stand."""

import ast
import functools
import hashlib
from collections import defaultdict

from hidden_dynamics.system.definitions import BINDING, attribute, imports_within, nodes_of, origin_of, path_of, read

Place = tuple[str, str]  # module, name


@functools.cache
def source_of(module: str, name: str) -> str:
    """The source of a definition; what it imports from the project goes by its own name, however it was imported.

    Where one name would then mean two things, a digest of what it stands for is added to it.
    """
    places = _places(module, name)
    meanings = defaultdict(set)
    for place in places.values():
        meanings[place[1]].add(place)
    taken = _names_beside(module, name, places)
    names = {
        spelling: place[1] if len(meanings[place[1]]) == 1 and place[1] not in taken else _unmistakable(place)
        for spelling, place in places.items()
    }
    return _unparsed(module, name, names)


@functools.cache
def _places(module: str, definition: str) -> dict[str, Place]:
    """{how it is written: what it refers to} of what a definition uses of the project's other modules."""
    own, bound = read(module).definitions, _bound(module, definition)
    imports = imports_within(module, definition)
    imports = {name: target for name, target in imports.items() if name not in own and name not in bound}
    found = {}
    for node in nodes_of(module, definition):
        if isinstance(node, ast.Name) and node.id in imports:
            origin, name = imports[node.id]
            if name and path_of(origin) is not None and path_of(f"{origin}.{name}") is None:
                found[node.id] = origin_of(origin, name)
        elif isinstance(node, ast.Attribute):
            places = [place for place in attribute(node, imports) if place[1] == node.attr]
            found |= {_spelt(node): origin_of(*place) for place in places}
    return found


@functools.cache
def _bound(module: str, definition: str) -> frozenset[str]:
    """The names that a definition binds anywhere within it but by imports: these hide what is imported."""
    found = set()
    for node in nodes_of(module, definition):
        if isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, BINDING):
            found.add(node.name or "")
    return frozenset(found)


def _names_beside(module: str, definition: str, places: dict[str, Place]) -> set[str]:
    """The names in a definition that refer to something else than `places`."""
    read_here = {node.id for node in nodes_of(module, definition) if isinstance(node, ast.Name)}
    return (read_here - set(places)) | _bound(module, definition)


def _unmistakable(place: Place) -> str:
    module, name = place
    if path_of(module) is None or name not in read(module).definitions:
        return name
    plain = {spelling: other[1] for spelling, other in _places(module, name).items()}
    return f"{name}_{hashlib.sha256(_unparsed(module, name, plain).encode()).hexdigest()[:12]}"


def _unparsed(module: str, definition: str, names: dict[str, str]) -> str:
    statements = read(module).definitions[definition]
    imports = any(isinstance(node, ast.Import | ast.ImportFrom) for node in nodes_of(module, definition))
    if imports or any(spelling != name for spelling, name in names.items()):
        statements = [_Renamer(names).visit(_copy(statement)) for statement in statements]
    return "\n".join(map(ast.unparse, statements))


def _copy(statement: ast.stmt) -> ast.stmt:
    return ast.parse(ast.unparse(statement)).body[0]


def _spelt(node: ast.Attribute) -> str | None:
    """The text of `name.name.name`; None where it is an attribute of something else."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else None


class _Renamer(ast.NodeTransformer):
    """Writes what is imported from the project by the names given, and leaves the imports out."""

    def __init__(self, names: dict[str, str]):
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        spelling = _spelt(node)
        return ast.Name(self.names[spelling], node.ctx) if spelling in self.names else self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        return ast.Pass() if node.level or path_of(node.module) is not None else node

    def visit_Import(self, node: ast.Import) -> ast.AST:
        return ast.Pass() if all(path_of(alias.name) is not None for alias in node.names) else node
