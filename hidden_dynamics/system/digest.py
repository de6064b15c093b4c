"""A digest of all definitions that a run's code reaches, blind to comments, docstrings, formatting and module names.

From named definitions (a cell, a network, a task, the training loop), every definition of the project that they refer
to is followed, through imports too. The digest is over their names and syntax trees, each with the digests of what it
refers to: rewording a definition, or moving it to another module that is imported by the same name, changes nothing,
and a changed equation changes the digests of just the runs that use it. No module is imported.
"""

import ast
import contextlib
import functools
import hashlib
import json
from collections.abc import Iterable

from hidden_dynamics.errors import UserError
from hidden_dynamics.system.definitions import (
    ASKED_FOR,
    Place,
    attribute,
    defined,
    from_stars,
    imported,
    imports_within,
    nodes_of,
    origins_of,
    path_of,
    read,
    source_digest,
)
from hidden_dynamics.system.files import ROOT, atomic

REMEMBERED = ROOT / ".snakemake" / "code_digests.json"  # a second of every process's start

# These do not change a result: where and when a state is kept, how a mistake is worded, and what is configured, which
# the specification says.
NEUTRAL = frozenset(
    {
        "hidden_dynamics.configuration.entries",
        "hidden_dynamics.configuration.runs",
        "hidden_dynamics.errors",
        "hidden_dynamics.system.files",
        "hidden_dynamics.system.memory",
        "hidden_dynamics.training.checkpoint",
        "hidden_dynamics.training.interruption",
    }
)


def code_digest(names: Iterable[str]) -> str:
    """SHA-256 over the definitions reachable from `names`, such as "hidden_dynamics.models.recurrent.lstm.LSTM".

    Raises:
        UserError: a name is not defined where it says.
    """
    key = " ".join(sorted(set(names)))
    if key not in _remembered():
        _remembered()[key] = _digest_of(key.split())
    return _remembered()[key]


def remember_digests() -> None:
    """Leave the digests for the processes that come after, each of which would otherwise parse what the runs reach."""
    modules = {module: source_digest(module) for module in sorted(ASKED_FOR)}
    content = json.dumps({"modules": modules, "digests": _remembered()})
    with contextlib.suppress(OSError):  # a directory that cannot be written to costs a second
        if not REMEMBERED.is_file() or REMEMBERED.read_text(encoding="utf-8") != content:
            with atomic(REMEMBERED) as handle:
                handle.write(content)


@functools.cache
def _remembered() -> dict[str, str]:
    """Digests by their names: those that another process left, if no module that they rest on has changed since.

    Every name that was looked up as a module counts, also where no file had it: one that is added may hide a package.
    """
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        content = json.loads(REMEMBERED.read_bytes())
        if all(source_digest(module) == digest for module, digest in content["modules"].items()):
            return dict(content["digests"])
    return {}


def _digest_of(names: Iterable[str]) -> str:
    texts = [_with_what_it_names(place) if source else ":".join(place) for place, source in _reached(names).items()]
    return hashlib.sha256("\n".join(sorted(texts)).encode()).hexdigest()


def reachable(names: Iterable[str]) -> dict[str, str]:
    """Source of every definition reached, by "module:name"; names from elsewhere come without source."""
    return {":".join(place): source for place, source in _reached(names).items()}


def _reached(names: Iterable[str]) -> dict[Place, str]:
    found: dict[Place, str] = {}
    waiting = []
    for module, name in (name.rsplit(".", 1) for name in names):
        if path_of(module) is None or not defined(module, name):
            raise UserError(f"{module}.{name} is not defined: check the name in config/.")
        waiting += origins_of(module, name)
    while waiting:
        place = waiting.pop()
        if place not in found and place[0] not in NEUTRAL:
            found[place] = _source_of(place)
            waiting += [other for _, other in _references(place)] if found[place] else []
    return found


@functools.cache
def _source_of(place: Place) -> str:
    """A definition as its syntax tree reads; "" of another package's, whose source is the lock's business."""
    module, name = place
    return "" if path_of(module) is None else "\n".join(map(ast.unparse, read(module).definitions[name]))


@functools.cache
def _with_what_it_names(place: Place) -> str:
    """A definition with a digest of each that it refers to, by what it calls it: two of one name are told apart."""
    named = {(spelt, other[1], _source_of(other)) for spelt, other in _references(place) if other[0] not in NEUTRAL}
    digests = [f"{spelt} {name} {hashlib.sha256(text.encode()).hexdigest()}" for spelt, name, text in sorted(named)]
    return "\n".join([place[1], _source_of(place), *digests])


@functools.cache
def _references(place: Place) -> list[tuple[str, Place]]:
    """What a definition names, each with how it does: its module's definitions, imports, attributes of modules."""
    module, name = place
    content, imports, result = read(module), imports_within(module, name), []
    for node in nodes_of(module, name):
        if isinstance(node, ast.Import | ast.ImportFrom):
            result += [(spelt, origin, own or "") for spelt, (origin, own) in imported(module, node).items()]
        elif isinstance(node, ast.Attribute):
            result += [(ast.unparse(node), *found) for found in attribute(node, imports)]
        elif node.id in content.definitions:
            result += [(node.id, module, node.id)] if node.id != name else []
        elif node.id not in imports:
            result += [(node.id, *found) for found in from_stars(module, node.id)]
        if isinstance(node, ast.Name) and node.id in imports:
            origin, own = imports[node.id]
            if path_of(".".join(filter(None, (origin, own)))) is None:  # of a module, its attributes are followed
                result.append((node.id, origin, own or ""))
    return [(spelt, origin) for spelt, *found in dict.fromkeys(result) for origin in origins_of(*found)]
