"""Gather finished runs into one CSV, and the training curves of a figure, averaged over seeds, into another.

    python scripts/summarise.py --artifact momentumrnn_figure3

The first, <results>/<scale>/summary/<artifact>.csv, has one row per run (hidden_dynamics.results.summary.COLUMNS); with
'all' for an artifact it is summary/runs.csv, of every configured run. The second, beside it as <artifact>.curves.csv,
has one row per plotted point (hidden_dynamics.results.curves.COLUMNS). An empty cell means "none".
"""

import _bootstrap  # noqa: F401  isort: skip

import argparse
from pathlib import Path

from hidden_dynamics.artifacts import artifact_named
from hidden_dynamics.configuration import load, parse_settings
from hidden_dynamics.configuration.runs import all_runs
from hidden_dynamics.errors import run_main
from hidden_dynamics.results import curves, summary
from hidden_dynamics.results.rows import write_rows


def main() -> None:
    given = parse_arguments()
    configuration = load(parse_settings(given.config))
    artifact = None if given.artifact == "all" else artifact_named(configuration, given.artifact, "--artifact")
    runs = all_runs(configuration) if artifact is None else artifact.cell_runs
    output = given.output or given.root / configuration.paths.summary(given.artifact)
    write_rows(output, summary.COLUMNS, summary.rows_of(configuration, given.artifact, runs, given.root))
    if artifact is not None and artifact.averaged:
        points = curves.points_of(artifact.settings.panels, runs, given.root)
        write_rows(given.curves or given.root / configuration.paths.curves(artifact.name), curves.COLUMNS, points)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--artifact", required=True, help="name of a table or figure, or 'all' for every configured run"
    )
    parser.add_argument("--config", help="settings as JSON, merged over config.yaml")
    parser.add_argument("--output", type=Path, help="CSV to write, one row per run; default: as above")
    parser.add_argument("--curves", type=Path, help="CSV to write, one row per point of a figure's curves")
    parser.add_argument("--root", type=Path, default=Path(), help="where the results directory is (default: here)")
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
