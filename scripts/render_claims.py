"""One page of all verdicts: gathers what scripts/judge_claims.py wrote for each table and figure.

    python scripts/render_claims.py --claims results/demo/claims/*.csv --output results/demo/claims

Writes <output>.csv (one row per claim), .md and .html.
"""

import _bootstrap  # noqa: F401  isort: skip

import argparse
import csv
from pathlib import Path

from hidden_dynamics.claims.evidence import read_rows
from hidden_dynamics.claims.judge import COLUMNS
from hidden_dynamics.pages.claims_page import html, markdown
from hidden_dynamics.configuration import load, parse_settings
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.system.files import atomic


def main() -> None:
    arguments = parse_arguments()
    configuration = load(parse_settings(arguments.config))
    rows = [row for path in arguments.claims for row in read_rows(path, COLUMNS)]
    place = {artifact: position for position, artifact in enumerate(configuration.artifacts)}
    unknown = sorted({row["artifact"] for row in rows} - set(place))
    if unknown:
        raise UserError(f"--claims: {', '.join(unknown)} is not configured: remove its file and run snakemake again.")
    rows.sort(key=lambda row: place[row["artifact"]])
    with atomic(arguments.output.with_suffix(".csv")) as handle:
        writer = csv.DictWriter(handle, COLUMNS, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    for ending, page in (("md", markdown), ("html", html)):
        with atomic(arguments.output.with_suffix(f".{ending}")) as handle:
            handle.write(page(configuration, rows))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--claims", required=True, type=Path, nargs="+", help="CSV files of scripts/judge_claims.py")
    parser.add_argument("--config", help="settings as JSON, merged over config.yaml")
    parser.add_argument("--output", required=True, type=Path, help="path of the files to write, without their ending")
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
