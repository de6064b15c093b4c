"""Write the page of a scale: verdicts, tables, figures, the runs behind them, run times.

    python scripts/render_index.py

It is one file, results/<scale>/index.html, that loads nothing from elsewhere. Its links lead to the results beside it.
"""

import _bootstrap  # noqa: F401  isort: skip

from pathlib import Path

from hidden_dynamics.configuration import Configuration, load, parse_settings
from hidden_dynamics.errors import run_main
from hidden_dynamics.pages.index import index_page
from hidden_dynamics.system.arguments import parser
from hidden_dynamics.system.files import atomic


def main() -> None:
    given = parser(__doc__, "--config", "--root").parse_args()
    write_index(load(parse_settings(given.config)), given.root)


def write_index(configuration: Configuration, root: Path) -> None:
    """The page of the results under `root`, whole or not at all."""
    page = index_page(configuration, root)
    with atomic(root / configuration.paths.index) as handle:
        handle.write(page)


if __name__ == "__main__":
    run_main(main)
