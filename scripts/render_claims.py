"""Gather the verdicts of all tables and figures, with the claims on what is left out: results/<scale>/claims.csv.

    python scripts/render_claims.py

It has one row per claim (hidden_dynamics.claims.verdict.COLUMNS).
"""

import _bootstrap  # noqa: F401  isort: skip

from pathlib import Path

from hidden_dynamics.artifacts import load_claimed
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.claims.expand import all_claims
from hidden_dynamics.claims.judge import counted_once, verdicts
from hidden_dynamics.claims.verdict import COLUMNS
from hidden_dynamics.configuration import Configuration, load, parse_settings
from hidden_dynamics.errors import run_main
from hidden_dynamics.results.rows import as_text, read_rows, write_rows
from hidden_dynamics.system.arguments import parser


def main() -> None:
    given = parser(__doc__, "--config", "--root").parse_args()
    gather_claims(load(parse_settings(given.config)), given.root)


def gather_claims(configuration: Configuration, root: Path) -> None:
    """The verdicts on all claims, as a file."""
    paths, claimed = configuration.paths, load_claimed(configuration)
    expanded, judged = all_claims(claimed), []
    for name, artifact in claimed.items():
        if artifact.is_left_out:
            judged += map(as_text, verdicts(Sources(artifact, root).evidence, expanded[name]))
        else:
            judged += read_rows(root / paths.verdicts(name))
    counted_once(judged, list(configuration.metrics))
    write_rows(root / paths.all_verdicts, COLUMNS, judged)


if __name__ == "__main__":
    run_main(main)
