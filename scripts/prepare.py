"""Turn the raw files of a dataset (or, for a generated one, its settings) into arrays.

Writes <name>.npz, and <name>.json beside it with where they come from and a digest that the training verifies.
"""

import _bootstrap  # noqa: F401, I001
import argparse
import json
from pathlib import Path

from hidden_dynamics.configuration import known, load, load_datasets, parse_settings
from hidden_dynamics.configuration.loading import DATASETS
from hidden_dynamics.data import prepared
from hidden_dynamics.data.fetch import verify
from hidden_dynamics.data.preparing import module_of, provenance, raw_directory
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.system.arguments import parser


def main() -> None:
    arguments = parse()
    if arguments.output.suffix != ".npz":
        raise UserError(f"--output must end in .npz, found {arguments.output}", key="--output")
    datasets = load_datasets(arguments.registry)
    name = known(arguments.dataset, datasets, "dataset", "--dataset")
    dataset, settings = datasets[name], read_settings(arguments.settings)
    raw = arguments.raw or raw_directory(name, load(parse_settings(None)))
    files = {file: verify(raw / file, about) for file, about in dataset.files_for(settings).items()}
    arrays = module_of(name, dataset).prepare(raw, settings)
    prepared.save(arguments.output, arrays, provenance(name, dataset, settings, arrays, files))


def read_settings(text: str) -> dict:
    try:
        settings = json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"--settings is not valid JSON: {error}", key="--settings") from None
    if not isinstance(settings, dict):
        raise UserError(f"--settings must be a JSON object, found {text}", key="--settings")
    return settings


def parse() -> argparse.Namespace:
    options = parser(__doc__)
    options.add_argument("--dataset", required=True, help="name in the registry, e.g. copying")
    options.add_argument(
        "--settings",
        default="{}",
        help="JSON object that the dataset's module understands, e.g. '{\"length\": 750, ...}'",
    )
    options.add_argument(
        "--raw",
        type=Path,
        help="directory of the raw files, e.g. data/raw/mnist; default: as config.yaml says (data.directory or, "
        "for what cannot be downloaded, data.copies)",
    )
    options.add_argument("--output", required=True, type=Path, help="the .npz file to write")
    options.add_argument(
        "--registry", type=Path, default=DATASETS, help="default: config/datasets.yaml of this repository"
    )
    return options.parse_args()


if __name__ == "__main__":
    run_main(main)
