"""Download one file of a dataset, verify its content and store it decompressed; or list what can be downloaded.

A local mirror is tried first, then each address of the registry. An interrupted download is continued by the next run.
"""

import _bootstrap  # noqa: F401, I001
import argparse
from pathlib import Path

from hidden_dynamics.configuration import known, load_datasets
from hidden_dynamics.configuration.loading import DATASETS
from hidden_dynamics.configuration.schema import Dataset
from hidden_dynamics.data.fetch import fetch
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.system.arguments import parser


def main() -> None:
    arguments = parse()
    datasets = load_datasets(arguments.registry)
    if arguments.list:
        for name, dataset in datasets.items():
            print(describe(name, dataset))
        return
    if not (arguments.dataset and arguments.file and arguments.output):
        raise UserError("give --dataset, --file and --output, or --list")
    name, file = known(arguments.dataset, datasets, "dataset", "--dataset"), arguments.file
    files, folder = datasets[name].files, datasets[name].folder or name
    about = files[known(file, files, f"file of {name}", "--file")]
    fetch(folder, file, about, arguments.output, arguments.mirror, retries=arguments.retries)


def describe(name: str, dataset: Dataset) -> str:
    stand_in = f" (stand-in for {', '.join(dataset.originals)})" if dataset.originals else ""
    lines = [
        f"{name}: {dataset.title}{stand_in}",
        f"  licence: {dataset.licence}",
        f"  cite: {dataset.citation}",
    ]
    for file_name, file in dataset.files.items():
        about = f"{file.count:,} members {file.members}, " if file.archive else ""
        size = "size not known" if file.size is None else f"{file.size:,} bytes"
        lines.append(f"  {file_name}  {about}{size}  sha256 {file.sha256}")
        lines += [
            f"    {url}" for url in file.urls or [f"<mirror>/{dataset.folder or name}/{file_name}, and nowhere else"]
        ]
    if dataset.own_copy:
        lines.append(f"  not to be downloaded: name the directory of your copy in config.yaml, data.copies.{name}")
        lines += [f"  it {dataset.obtain}"] if dataset.obtain else []
    elif not dataset.files:
        lines.append("  nothing to download")
    return "\n".join(lines)


def parse() -> argparse.Namespace:
    options = parser(__doc__)
    options.add_argument("--dataset", help="name in the registry, e.g. mnist")
    options.add_argument("--file", help="name of one of its files, e.g. train-images-idx3-ubyte")
    options.add_argument("--output", type=Path, help="where to store it, e.g. data/raw/mnist/train-images-idx3-ubyte")
    options.add_argument(
        "--mirror",
        type=Path,
        help="directory tried first: it holds <folder>/<file> or <folder>/<file>.gz; the folder is the dataset's name, "
        "or the registry's `folder`",
    )
    options.add_argument(
        "--registry", type=Path, default=DATASETS, help="default: config/datasets.yaml of this repository"
    )
    options.add_argument("--retries", type=int, default=3, help="attempts per address (default: %(default)s)")
    options.add_argument("--list", action="store_true", help="print the registry and stop")
    return options.parse_args()


if __name__ == "__main__":
    run_main(main)
