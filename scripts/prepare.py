"""Turn the raw files of a dataset (or, for a generated one, its settings) into arrays.

Writes <name>.npz, and <name>.json beside it with where they come from and a digest that the training verifies.
"""

import _bootstrap  # noqa: F401, I001
import argparse
import importlib
import json
import platform
from pathlib import Path
from types import ModuleType

import numpy as np

from hidden_dynamics.data import prepared
from hidden_dynamics.data.fetch import verify
from hidden_dynamics.data.registry import Dataset, load_registry, lookup
from hidden_dynamics.errors import UserError, run_main

REGISTRY = Path(__file__).resolve().parents[1] / "config" / "datasets.yaml"


def main() -> None:
    arguments = parse()
    if arguments.output.suffix != ".npz":
        raise UserError(f"--output must end in .npz, found {arguments.output}")
    dataset = lookup(load_registry(arguments.registry), arguments.dataset, "dataset")
    settings = read_settings(arguments.settings)
    for file in dataset.files.values():
        verify(arguments.raw / file.name, file)
    arrays = module_of(dataset).prepare(arguments.raw, settings)
    prepared.save(arguments.output, arrays, provenance(dataset, settings))


def read_settings(text: str) -> dict:
    try:
        settings = json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"--settings is not valid JSON: {error}") from None
    if not isinstance(settings, dict):
        raise UserError(f"--settings must be a JSON object, found {text}")
    return settings


def module_of(dataset: Dataset) -> ModuleType:
    try:
        return importlib.import_module(dataset.module)
    except ModuleNotFoundError as error:
        if error.name is None or not dataset.module.startswith(error.name):
            raise  # the module is there; what it imports is not
        raise UserError(f"the registry's {dataset.name}.module: there is no module {dataset.module!r}") from None


def provenance(dataset: Dataset, settings: dict) -> dict:
    return {
        "dataset": dataset.name,
        "title": dataset.title,
        "stand_in_for": dataset.stand_in_for,
        "licence": dataset.licence,
        "citation": dataset.citation,
        "files": {file.name: file.sha256 for file in dataset.files.values()},
        "settings": settings,
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
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
        "--raw", required=True, type=Path, help="directory of the downloaded files, e.g. data/raw/mnist"
    )
    parser.add_argument("--output", required=True, type=Path, help="the .npz file to write")
    parser.add_argument(
        "--registry", type=Path, default=REGISTRY, help="default: config/datasets.yaml of this repository"
    )
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
