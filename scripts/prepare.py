"""Turn the raw files of a dataset (or, for a generated one, its settings) into arrays.

Writes <name>.npz, and <name>.json beside it with where they come from and a digest that the training verifies.
"""

import _bootstrap  # noqa: F401  isort: skip

from pathlib import Path

from hidden_dynamics.configuration import known, load, parse_settings
from hidden_dynamics.configuration.loading import json_object
from hidden_dynamics.data import prepared
from hidden_dynamics.data.fetch import verify
from hidden_dynamics.data.preparing import module_of, provenance, raw_directory
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.system.arguments import parser


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--dataset", required=True, help="a dataset of config/datasets.yaml, e.g. copying")
    text = """JSON object that the dataset's module understands, e.g. '{"length": 750, ...}'"""
    options.add_argument("--settings", default="{}", help=text)
    text = "directory of the raw files; default: as config.yaml says (data.directory, or data.copies)"
    options.add_argument("--raw", type=Path, help=text)
    options.add_argument("--output", required=True, type=Path, help="the .npz file to write")
    given = options.parse_args()
    if given.output.suffix != ".npz":
        raise UserError(f"--output must end in .npz, found {given.output}", key="--output")
    configuration = load(parse_settings(None))
    name = known(given.dataset, configuration.datasets, "dataset", "--dataset")
    dataset, settings = configuration.datasets[name], json_object(given.settings, "--settings")
    raw = given.raw or raw_directory(name, configuration)
    files = {file: verify(raw / file, about) for file, about in dataset.files_for(settings).items()}
    arrays = module_of(name, dataset).prepare(raw, settings)
    prepared.save(given.output, arrays, provenance(name, dataset, settings, arrays, files))


if __name__ == "__main__":
    run_main(main)
