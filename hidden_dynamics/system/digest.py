"""A digest of all definitions that a run's code reaches, blind to comments, docstrings, formatting and module names.

From named definitions (a cell, a network, a task, the training loop), every definition of the project that they refer
to is followed, through imports too. The digest is over their syntax trees, in which a definition goes by its own name,
wherever it stands and however it was imported: rewording or moving it to another file changes nothing, and a changed
equation changes the digests of just the runs that use it. No module is imported.
"""

import ast
import functools
import hashlib
from collections.abc import Iterable

from hidden_dynamics.errors import UserError
from hidden_dynamics.system.definitions import (
    attribute,
    defined,
    from_stars,
    imported,
    imports_within,
    nodes_of,
    path_of,
    read,
)
from hidden_dynamics.system.normal_form import source_of

# These do not change a result: where and when a state is kept, how a mistake is worded, and what is configured, which
# the specification says.
NEUTRAL = frozenset(
    {
        "hidden_dynamics.configuration.reading",
        "hidden_dynamics.configuration.runs",
        "hidden_dynamics.errors",
        "hidden_dynamics.system.files",
        "hidden_dynamics.training.checkpoint",
        "hidden_dynamics.training.interruption",
    }
)


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


def reachable(names: Iterable[str]) -> dict[str, str]:
    """Normalised source of every definition reached, by "module:name"; names from elsewhere come without source."""
    found: dict[str, str] = {}
    waiting = [tuple(name.rsplit(".", 1)) for name in names]
    for module, name in waiting:
        if path_of(module) is None or not defined(module, name):
            raise UserError(f"{module}.{name} is not defined: check the name in config/.")
    while waiting:
        module, name = waiting.pop()
        key = f"{module}:{name}"
        if key in found or module in NEUTRAL:
            continue
        if path_of(module) is None:
            found[key] = ""  # another package's: its name counts, its source is the lock's business
        elif name in read(module).definitions:
            found[key] = source_of(module, name)
            waiting += _references(module, name)
        elif name in read(module).imports:
            origin, own_name = read(module).imports[name]
            waiting.append((origin, own_name or ""))
        else:
            waiting += from_stars(module, name)
    return found


@functools.cache
def _references(module: str, name: str) -> list[tuple[str, str]]:
    """The names in a definition: definitions of its module, imported names, and attributes of imported modules."""
    content, result = read(module), []
    imports = imports_within(module, name)
    for node in nodes_of(module, name):
        if isinstance(node, ast.Import | ast.ImportFrom):
            result += [(origin, own or "") for origin, own in imported(module, node).values()]
        if isinstance(node, ast.Attribute):
            result += attribute(node, imports)
        elif isinstance(node, ast.Name):
            if node.id in content.definitions and node.id != name:
                result.append((module, node.id))
            if node.id in imports:
                origin, own = imports[node.id]
                if path_of(".".join(filter(None, (origin, own)))) is None:  # of a module, its attributes are followed
                    result.append((origin, own or ""))
            elif node.id not in content.definitions:
                result += from_stars(module, node.id)
    return result
