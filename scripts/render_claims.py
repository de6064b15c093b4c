"""Gather what scripts/judge_claims.py wrote for each table and figure: results/<scale>/claims.csv and claims.md.

    python scripts/render_claims.py

claims.csv has one row per claim (hidden_dynamics.claims.verdict.COLUMNS).
"""

import _bootstrap  # noqa: F401  isort: skip

import argparse
from pathlib import Path

from hidden_dynamics.artifacts import artifact_named
from hidden_dynamics.claims.verdict import COLUMNS
from hidden_dynamics.configuration import load, parse_settings
from hidden_dynamics.errors import run_main
from hidden_dynamics.pages.claims_markdown import markdown
from hidden_dynamics.papers.claims import artifacts_with_claims
from hidden_dynamics.results.rows import read_rows, write_rows
from hidden_dynamics.system.files import atomic


def main() -> None:
    arguments = parse_arguments()
    configuration = load(parse_settings(arguments.config))
    paths, root = configuration.paths, arguments.root
    artifacts = {name: artifact_named(configuration, name) for name in artifacts_with_claims(configuration)}
    rows = [row for name in artifacts for row in read_rows(root / paths.verdicts(name), COLUMNS)]
    write_rows(root / paths.all_verdicts("csv"), COLUMNS, rows)
    with atomic(root / paths.all_verdicts("md")) as handle:
        handle.write(markdown(configuration.scale_name, artifacts, rows))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", help="settings as JSON, merged over config.yaml")
    parser.add_argument("--root", type=Path, default=Path(), help="where the results directory is (default: here)")
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
