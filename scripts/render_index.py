"""Write the page of a scale: claims, tables, figures, of which runs they were made, and how long it took.

    python scripts/render_index.py --claims results/demo/claims.csv --output results/demo/index.html

It is one file that loads nothing from elsewhere. Its links lead to the results beside it.
"""

import _bootstrap  # noqa: F401  isort: skip

import argparse
from pathlib import Path

from hidden_dynamics.configuration import load, parse_settings
from hidden_dynamics.errors import run_main
from hidden_dynamics.system.files import atomic
from hidden_dynamics.pages import index_page


def main() -> None:
    arguments = parse_arguments()
    page = index_page(load(parse_settings(arguments.config)), arguments.claims, arguments.root)
    with atomic(arguments.output) as handle:
        handle.write(page)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--claims", required=True, type=Path, help="CSV of the verdicts, of scripts/judge_claims.py")
    parser.add_argument("--config", help="settings as JSON, merged over config.yaml")
    parser.add_argument("--output", required=True, type=Path, help="HTML to write, in the scale's results directory")
    parser.add_argument("--root", type=Path, default=Path(), help="where the results directory is (default: here)")
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
