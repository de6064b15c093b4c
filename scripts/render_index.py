"""Write the page of a scale: verdicts, tables, figures, of which runs they were made, and how long it took.

    python scripts/render_index.py

It is one file, results/<scale>/index.html, that loads nothing from elsewhere. Its links lead to the results beside it.
"""

import _bootstrap  # noqa: F401  isort: skip

import argparse
from pathlib import Path

from hidden_dynamics.configuration import load, parse_settings
from hidden_dynamics.errors import run_main
from hidden_dynamics.pages.index import index_page
from hidden_dynamics.system.files import atomic


def main() -> None:
    arguments = parse_arguments()
    configuration = load(parse_settings(arguments.config))
    page = index_page(configuration, arguments.root)
    with atomic(arguments.output or arguments.root / configuration.paths.index) as handle:
        handle.write(page)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", help="settings as JSON, merged over config.yaml")
    parser.add_argument("--output", type=Path, help="HTML to write; by default, in the scale's results directory")
    parser.add_argument("--root", type=Path, default=Path(), help="where the results directory is (default: here)")
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
