"""Judge the papers' headline claims: results/<scale>/claims.csv.

    python scripts/render_claims.py

It has a row per claim (hidden_dynamics.claims.verdict.Verdict). An empty cell means "none".
"""

import _bootstrap  # noqa: F401  isort: skip

from pathlib import Path

from hidden_dynamics.claims.judge import verdicts
from hidden_dynamics.claims.needed import evidence_of_claims
from hidden_dynamics.claims.verdict import write_verdicts
from hidden_dynamics.configuration import Configuration, load, parse_settings
from hidden_dynamics.errors import run_main
from hidden_dynamics.system.arguments import parser


def main() -> None:
    given = parser(__doc__, "--config", "--root").parse_args()
    render_claims(load(parse_settings(given.config)), given.root)


def render_claims(configuration: Configuration, root: Path) -> None:
    """The verdicts of the configured scale, as a file under `root`."""
    write_verdicts(root / configuration.paths.verdicts, verdicts(evidence_of_claims(configuration, root)))


if __name__ == "__main__":
    run_main(main)
