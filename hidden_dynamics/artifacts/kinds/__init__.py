"""The kinds of tables and figures, one module each: its last class that is derived from `Artifact`."""

import importlib
import pkgutil

from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.configuration import known


def find(kind: object, origin: str) -> type[Artifact]:
    """The class of a kind; a `UserError` where there is none of this name."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    place = f"{__name__}.{known(kind, names, 'kind', origin)}"
    own = [each for each in vars(importlib.import_module(place)).values() if getattr(each, "__module__", "") == place]
    return [each for each in own if isinstance(each, type) and issubclass(each, Artifact)][-1]
