"""Gather all configured runs, once they have finished: as they are, over seeds, and each beside its baseline.

    python scripts/summarise.py

It writes, under results/<scale>, summary/runs.csv with a row per run (hidden_dynamics.results.record.COLUMNS),
statistics.csv with a row per case and metric (hidden_dynamics.results.statistics.Statistics), and comparisons.csv with
a row per comparison that tables show (hidden_dynamics.artifacts.exploratory.COLUMNS). An empty cell means "none".
"""

import _bootstrap  # noqa: F401  isort: skip

from pathlib import Path

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.artifacts.exploratory import comparisons_of
from hidden_dynamics.configuration import Configuration, load, parse_settings
from hidden_dynamics.configuration.runs import all_runs
from hidden_dynamics.errors import run_main
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.record import COLUMNS, line_of
from hidden_dynamics.results.rows import write_rows
from hidden_dynamics.results.statistics import table_of
from hidden_dynamics.system.arguments import parser
from hidden_dynamics.system.files import atomic


def main() -> None:
    given = parser(__doc__, "--config", "--root").parse_args()
    summarise(load(parse_settings(given.config)), given.root)


def summarise(configuration: Configuration, root: Path) -> None:
    """The three files of the runs under `root`."""
    paths, evidence = configuration.paths, Evidence.read(configuration, all_runs(configuration), root)
    write_rows(root / paths.all_runs, COLUMNS, map(line_of, evidence.runs))
    tables = {
        paths.statistics: table_of(configuration, evidence.runs),
        paths.comparisons: comparisons_of(load_artifacts(configuration).values(), evidence),
    }
    for path, table in tables.items():
        with atomic(root / path) as handle:
            handle.write(table.to_csv(index=False, lineterminator="\n"))


if __name__ == "__main__":
    run_main(main)
