"""Preparing a dataset: its raw files, the module that turns them into arrays, their provenance."""

import importlib
import platform
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from hidden_dynamics.configuration import Configuration, mistake
from hidden_dynamics.configuration.schema import Dataset
from hidden_dynamics.errors import UserError

# What determines arrays, where it is used.
LIBRARIES = ("numpy", "pandas", "scikit-learn", "scipy", "soundfile", "torch", "torchaudio")


def raw_directory(name: str, configuration: Configuration) -> Path:
    """The directory of a dataset's raw files: below data.directory or, for one that has to be the user's own copy, as
    data.copies says; a `UserError` where that says nothing."""
    dataset, copies = configuration.datasets[name], configuration.settings.data.copies
    if not dataset.own_copy:
        return Path(configuration.paths.raw(name))
    if name in copies:
        return Path(copies[name]).expanduser()
    instead = [other for other, entry in configuration.datasets.items() if name in entry.originals and entry.files]
    tasks = [task for task, entry in configuration.tasks.items() if entry.dataset == name]
    reason = f"is licensed ({dataset.licence}) and cannot be downloaded"
    changes = ", ".join(f"{task}: {{dataset: {instead[0]}}}" for task in tasks) if instead else ""
    raise UserError(
        f"{dataset.title} {reason}. Name the directory of your copy "
        f"with --config data='{{copies: {{{name}: /path}}}}', or in config.yaml"
        + (f"; or train on an open stand-in with --config overrides='{{tasks: {{{changes}}}}}'." if changes else "."),
        file="config.yaml",
        key=f"data.copies.{name}",
    )


def module_of(name: str, dataset: Dataset) -> ModuleType:
    """The module that prepares a dataset; a `UserError` where there is none."""
    try:
        return importlib.import_module(dataset.module)
    except ModuleNotFoundError as error:
        if error.name is None or not dataset.module.startswith(error.name):
            raise  # the module is there; what it imports is not
        raise mistake(f"config/datasets.yaml: {name}.module", f"there is no module {dataset.module!r}") from None


def provenance(
    name: str,
    dataset: Dataset,
    settings: Mapping[str, object],
    arrays: Mapping[str, np.ndarray],
    files: Mapping[str, str],
) -> dict[str, Any]:
    """The origin of the arrays, with the SHA-256 of the files; for an own copy, which no checksum describes, the amount
    found."""
    counts = {array_name: array.shape[0] for array_name, array in arrays.items() if array.ndim}
    return {
        "dataset": name,
        "title": dataset.titled(settings),
        "stand_in_for": list(dataset.originals),
        "licence": dataset.licence,
        "citation": dataset.citation,
        "files": dict(files),
        **({"own_copy": counts} if dataset.own_copy else {}),
        "settings": dict(settings),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in LIBRARIES if name.replace("scikit-learn", "sklearn") in sys.modules},
        },
    }
