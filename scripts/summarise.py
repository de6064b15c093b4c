"""Gather finished runs into one CSV, and the training curves of a figure, averaged over seeds, into another.

    python scripts/summarise.py --artifact momentumrnn_figure3

The first, <results>/<scale>/summary/<artifact>.csv, has one row per run (hidden_dynamics.results.summary.COLUMNS); with
'all' for an artifact it is summary/runs.csv, of every configured run. The second, beside it as <artifact>.curves.csv,
has one row per plotted point (hidden_dynamics.results.curves.COLUMNS). An empty cell means "none".
"""

import _bootstrap  # noqa: F401  isort: skip

from hidden_dynamics.artifacts import artifact_named
from hidden_dynamics.configuration import load, parse_settings
from hidden_dynamics.configuration.runs import all_runs
from hidden_dynamics.errors import run_main
from hidden_dynamics.results import curves, summary
from hidden_dynamics.results.rows import write_rows
from hidden_dynamics.system.arguments import parser


def main() -> None:
    given = parser(__doc__, "--artifact", "--config", "--root").parse_args()
    configuration = load(parse_settings(given.config))
    artifact = None if given.artifact == "all" else artifact_named(configuration, given.artifact, "--artifact")
    runs = all_runs(configuration) if artifact is None else artifact.cell_runs
    output = given.root / configuration.paths.summary(given.artifact)
    write_rows(output, summary.COLUMNS, summary.rows_of(configuration, given.artifact, runs, given.root))
    if artifact is not None and artifact.averaged:
        points = curves.points_of(configuration, artifact.panels, runs, given.root)
        write_rows(given.root / configuration.paths.curves(artifact.name), curves.COLUMNS, points)


if __name__ == "__main__":
    run_main(main)
