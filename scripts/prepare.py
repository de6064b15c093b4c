"""Turn the raw files of a dataset (or, for a generated one, its settings) into arrays.

Writes <name>.npz, and <name>.json beside it with where they come from and a digest that the training verifies.
"""

import _bootstrap  # noqa: F401, I001
import argparse
import importlib
import json
import platform
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import numpy as np

from hidden_dynamics import configuration
from hidden_dynamics.configuration import known
from hidden_dynamics.data import prepared
from hidden_dynamics.data.fetch import verify
from hidden_dynamics.data.registry import Dataset, load_registry
from hidden_dynamics.errors import UserError, run_main

REGISTRY = Path(__file__).resolve().parents[1] / "config" / "datasets.yaml"
# What determines arrays, where it is used.
LIBRARIES = ("numpy", "scikit-learn", "scipy", "soundfile", "torch", "torchaudio")


def main() -> None:
    arguments = parse()
    if arguments.output.suffix != ".npz":
        raise UserError(f"--output must end in .npz, found {arguments.output}")
    registry = load_registry(arguments.registry)
    dataset = registry[known(arguments.dataset, registry, "dataset", "--dataset")]
    settings = read_settings(arguments.settings)
    raw = arguments.raw or raw_directory(dataset, registry)
    for file in dataset.files.values():
        verify(raw / file.name, file)
    module = module_of(dataset)
    arrays = module.prepare(raw, settings)
    embedded = module.embedded() if hasattr(module, "embedded") else {}
    prepared.save(arguments.output, arrays, provenance(dataset, settings, arrays, embedded))


def read_settings(text: str) -> dict:
    try:
        settings = json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"--settings is not valid JSON: {error}") from None
    if not isinstance(settings, dict):
        raise UserError(f"--settings must be a JSON object, found {text}")
    return settings


def raw_directory(dataset: Dataset, registry: Mapping[str, Dataset]) -> Path:
    """Where the raw files are, as config.yaml or the workflow's command line says: data.copies or data.directory.

    Raises:
        UserError: the dataset has to be the user's own copy, and no directory is named.
    """
    configured = configuration.load(configuration.parse_settings(None))
    data = configured.settings["data"]
    if not dataset.own_copy:
        return Path(data["directory"], "raw", dataset.name)
    if dataset.name in data.get("copies", {}):
        return Path(data["copies"][dataset.name]).expanduser()
    instead = [name for name, other in registry.items() if dataset.name in other.stand_in_for and other.files]
    tasks = [task for task, entry in configured.tasks.items() if entry["dataset"] == dataset.name]
    changes = ", ".join(f"{task}: {{dataset: {instead[0]}}}" for task in tasks) if instead else ""
    raise UserError(
        f"{dataset.title} is licensed ({dataset.licence}) and cannot be downloaded. Name the directory of your copy "
        f"with --config data='{{copies: {{{dataset.name}: /path}}}}', or in config.yaml"
        + (f"; or train on an open stand-in with --config overrides='{{tasks: {{{changes}}}}}'." if changes else ".")
    )


def module_of(dataset: Dataset) -> ModuleType:
    try:
        return importlib.import_module(dataset.module)
    except ModuleNotFoundError as error:
        if error.name is None or not dataset.module.startswith(error.name):
            raise  # the module is there; what it imports is not
        raise UserError(f"the registry's {dataset.name}.module: there is no module {dataset.module!r}") from None


def provenance(dataset: Dataset, settings: dict, arrays: Mapping[str, np.ndarray], embedded: Mapping[str, str]) -> dict:
    """What is known of the arrays' origin; of an own copy, which no checksum describes, how much was found.

    `embedded` are the digests of what was read from installed software, by name; they stand beside the downloads'.
    """
    counts = {name: array.shape[0] for name, array in arrays.items() if array.ndim}
    return {
        "dataset": dataset.name,
        "title": dataset.title,
        "stand_in_for": list(dataset.stand_in_for),
        "licence": dataset.licence,
        "citation": dataset.citation,
        "files": {file.name: file.sha256 for file in dataset.files.values()} | dict(embedded),
        **({"own_copy": counts} if dataset.own_copy else {}),
        "settings": settings,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in LIBRARIES if name.replace("scikit-learn", "sklearn") in sys.modules},
        },
    }


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", required=True, help="name in the registry, e.g. copying")
    parser.add_argument(
        "--settings",
        default="{}",
        help="JSON object that the dataset's module understands, e.g. '{\"length\": 750, ...}'",
    )
    parser.add_argument(
        "--raw",
        type=Path,
        help="directory of the raw files, e.g. data/raw/mnist; default: as config.yaml says (data.directory or, "
        "for what cannot be downloaded, data.copies)",
    )
    parser.add_argument("--output", required=True, type=Path, help="the .npz file to write")
    parser.add_argument(
        "--registry", type=Path, default=REGISTRY, help="default: config/datasets.yaml of this repository"
    )
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
