"""Gather all configured runs, once they have finished, into one CSV: results/<scale>/summary/runs.csv.

    python scripts/summarise.py

It has one row per run (hidden_dynamics.results.run_files.COLUMNS). An empty cell means "none".
"""

import _bootstrap  # noqa: F401  isort: skip

from hidden_dynamics.configuration import load, parse_settings
from hidden_dynamics.configuration.runs import all_runs
from hidden_dynamics.errors import run_main
from hidden_dynamics.results.rows import write_rows
from hidden_dynamics.results.run_files import COLUMNS, rows_of
from hidden_dynamics.system.arguments import parser


def main() -> None:
    given = parser(__doc__, "--config", "--root").parse_args()
    configuration = load(parse_settings(given.config))
    rows = rows_of(configuration, all_runs(configuration), given.root)
    write_rows(given.root / configuration.paths.all_runs, COLUMNS, rows)


if __name__ == "__main__":
    run_main(main)
