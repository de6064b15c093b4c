"""The kinds of tables and figures, one module each; it gives its class as `KIND`."""

import functools
import importlib
import pkgutil
from typing import Any

from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.configuration import known


@functools.cache
def names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find(kind: Any, origin: str) -> type[Artifact]:
    """The class of a kind.

    Raises:
        UserError: there is none of this name.
    """
    known(kind, names(), "kind", origin)
    return importlib.import_module(f"{__name__}.{kind}").KIND
