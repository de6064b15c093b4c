"""Download one file of a dataset, verify its content and store it decompressed.

    python scripts/fetch.py --dataset ptb --file ptb.train.txt --output data/raw/ptb/ptb.train.txt

A local mirror is tried first, then each address of the registry (config/datasets.yaml).
"""

import _bootstrap  # noqa: F401  isort: skip

from pathlib import Path

from hidden_dynamics.configuration import known, load_datasets
from hidden_dynamics.configuration.loading import DATASETS
from hidden_dynamics.data.fetch import fetch
from hidden_dynamics.errors import run_main
from hidden_dynamics.system.arguments import parser


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--dataset", required=True, help="name in the registry")
    options.add_argument("--file", required=True, help="name of one of its files")
    options.add_argument("--output", type=Path, required=True, help="where to store it")
    options.add_argument(
        "--mirror", type=Path, help="directory tried first, of <dataset>/<file> or <dataset>/<file>.gz"
    )
    options.add_argument("--registry", type=Path, default=DATASETS, help="default: config/datasets.yaml")
    given = options.parse_args()
    name = known(given.dataset, datasets := load_datasets(given.registry), "dataset", "--dataset")
    files = datasets[name].files
    file = files[known(given.file, files, f"file of {name}", "--file")]
    fetch(name, given.file, file, given.output, given.mirror)


if __name__ == "__main__":
    run_main(main)
