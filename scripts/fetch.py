"""Download one file of a dataset, verify its content and store it decompressed.

    python scripts/fetch.py --dataset ptb --file ptb.train.txt --output data/raw/ptb/ptb.train.txt

A local mirror is tried first, then each address that config/datasets.yaml has.
"""

import _bootstrap  # noqa: F401  isort: skip

from pathlib import Path

from hidden_dynamics.configuration import known, load, parse_settings
from hidden_dynamics.data.fetch import fetch
from hidden_dynamics.errors import run_main
from hidden_dynamics.system.arguments import parser


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--dataset", required=True, help="a dataset of config/datasets.yaml")
    options.add_argument("--file", required=True, help="name of one of its files")
    options.add_argument("--output", type=Path, required=True, help="where to store it")
    options.add_argument(
        "--mirror", type=Path, help="directory tried first, of <dataset>/<file> or <dataset>/<file>.gz"
    )
    given = options.parse_args()
    datasets = load(parse_settings(None)).datasets
    files = datasets[name := known(given.dataset, datasets, "dataset", "--dataset")].files
    file = files[known(given.file, files, f"file of {name}", "--file")]
    fetch(name, given.file, file, given.output, given.mirror)


if __name__ == "__main__":
    run_main(main)
