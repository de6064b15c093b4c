"""Gather what scripts/judge_claims.py wrote for each table and figure: results/<scale>/claims.csv and claims.md.

    python scripts/render_claims.py

claims.csv has one row per claim (hidden_dynamics.claims.verdict.COLUMNS).
"""

import _bootstrap  # noqa: F401  isort: skip

from pathlib import Path

from hidden_dynamics.artifacts import artifact_named
from hidden_dynamics.claims.of_others import verdicts_of_others
from hidden_dynamics.claims.verdict import COLUMNS
from hidden_dynamics.configuration import Configuration, load, parse_settings
from hidden_dynamics.errors import run_main
from hidden_dynamics.pages.claims_markdown import markdown
from hidden_dynamics.papers.claims import artifacts_with_claims, load_claims
from hidden_dynamics.results.rows import read_rows, write_rows
from hidden_dynamics.system.arguments import parser
from hidden_dynamics.system.files import atomic


def main() -> None:
    given = parser(__doc__, "--config", "--root").parse_args()
    gather_claims(load(parse_settings(given.config)), given.root)


def gather_claims(configuration: Configuration, root: Path) -> None:
    """The verdicts on all claims, as files."""
    paths = configuration.paths
    artifacts = {name: artifact_named(configuration, name) for name in artifacts_with_claims(configuration)}
    rows = [row for name in artifacts for row in read_rows(root / paths.verdicts(name), COLUMNS)]
    judged = [row for row in rows if not row["judged_with"]]
    judged += verdicts_of_others(load_claims().of_others, judged)
    write_rows(root / paths.all_verdicts("csv"), COLUMNS, judged)
    with atomic(root / paths.all_verdicts("md")) as handle:
        handle.write(markdown(configuration.scale_name, artifacts, judged))


if __name__ == "__main__":
    run_main(main)
