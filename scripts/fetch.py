"""Download one file of a dataset, verify its content and store it decompressed; or list what can be downloaded.

A local mirror is tried first, then each address of the registry. An interrupted download is continued by the next run.
"""

import _bootstrap  # noqa: F401, I001
import argparse
from pathlib import Path

from hidden_dynamics.configuration import known
from hidden_dynamics.data.fetch import fetch
from hidden_dynamics.data.registry import Dataset, load_registry
from hidden_dynamics.errors import UserError, run_main

REGISTRY = Path(__file__).resolve().parents[1] / "config" / "datasets.yaml"


def main() -> None:
    arguments = parse()
    registry = load_registry(arguments.registry)
    if arguments.list:
        for dataset in registry.values():
            print(describe(dataset))
        return
    if not (arguments.dataset and arguments.file and arguments.output):
        raise UserError("give --dataset, --file and --output, or --list")
    dataset = registry[known(arguments.dataset, registry, "dataset", "--dataset")]
    file = dataset.files[known(arguments.file, dataset.files, f"file of {dataset.name}", "--file")]
    fetch(dataset.name, file, arguments.output, arguments.mirror, retries=arguments.retries)


def describe(dataset: Dataset) -> str:
    stand_in = f" (stand-in for {', '.join(dataset.stand_in_for)})" if dataset.stand_in_for else ""
    lines = [
        f"{dataset.name}: {dataset.title}{stand_in}",
        f"  licence: {dataset.licence}",
        f"  cite: {dataset.citation}",
    ]
    for file in dataset.files.values():
        about = f"{file.count:,} members {file.members}, " if file.archive else ""
        lines.append(f"  {file.name}  {about}{file.size:,} bytes  sha256 {file.sha256}")
        lines += [f"    {url}" for url in file.urls]
    if dataset.own_copy:
        lines.append(
            f"  not to be downloaded: name the directory of your copy in config.yaml, data.copies.{dataset.name}"
        )
    elif not dataset.files:
        lines.append("  nothing to download")
    return "\n".join(lines)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", help="name in the registry, e.g. mnist")
    parser.add_argument("--file", help="name of one of its files, e.g. train-images-idx3-ubyte")
    parser.add_argument("--output", type=Path, help="where to store it, e.g. data/raw/mnist/train-images-idx3-ubyte")
    parser.add_argument(
        "--mirror", type=Path, help="directory tried first: it holds <dataset>/<file> or <dataset>/<file>.gz"
    )
    parser.add_argument(
        "--registry", type=Path, default=REGISTRY, help="default: config/datasets.yaml of this repository"
    )
    parser.add_argument("--retries", type=int, default=3, help="attempts per address (default: %(default)s)")
    parser.add_argument("--list", action="store_true", help="print the registry and stop")
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
