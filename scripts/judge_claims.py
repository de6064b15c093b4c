"""Judge the paper's claims that rest on one table or figure: a verdict for each, from a stated test.

    python scripts/judge_claims.py --artifact momentumrnn_table1 --summary results/demo/summary/momentumrnn_table1.csv \
        --output results/demo/claims/momentumrnn_table1.csv

Writes one row per claim (hidden_dynamics.claims.judge.COLUMNS). An empty cell means "none".
docs/claims.md has the rules.
"""

import _bootstrap  # noqa: F401  isort: skip

import argparse
import csv
from collections import Counter
from pathlib import Path

from hidden_dynamics.measurements import costs
from hidden_dynamics.measurements import features
from hidden_dynamics.papers.claims import artifacts_with_claims
from hidden_dynamics.claims.evidence import Evidence, read_rows
from hidden_dynamics.claims.expansion import check, claims_of
from hidden_dynamics.claims.judge import COLUMNS, verdicts
from hidden_dynamics.configuration import Configuration, known, load, parse_settings
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.system.files import atomic

SUMMARY = (
    *("scale", "task", "model", "label", "size", "paper_size", "seed", "dataset_title", "stand_in_for"),
    *("parameters", "status", "measured", "training_seconds", "directory"),
)


def main() -> None:
    arguments = parse_arguments()
    configuration = load(parse_settings(arguments.config))
    known(arguments.artifact, artifacts_with_claims(configuration), "artifact with claims", "--artifact")
    claims = claims_of(configuration, arguments.artifact)
    check(claims)
    rows = verdicts(configuration, claims, evidence_of(configuration, arguments))
    with atomic(arguments.output) as handle:
        writer = csv.DictWriter(handle, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(", ".join(f"{verdict}: {count}" for verdict, count in Counter(row["verdict"] for row in rows).items()))


def evidence_of(configuration: Configuration, arguments: argparse.Namespace) -> Evidence:
    """What the given files say.

    Raises:
        UserError: none is given, or one is of another scale or misses a column.
    """
    given = [
        *((arguments.summary, SUMMARY) for _ in range(bool(arguments.summary))),
        *((arguments.features, features.COLUMNS) for _ in range(bool(arguments.features))),
    ]
    measured = read_rows(arguments.costs, costs.COLUMNS) if arguments.costs else []
    summary = [row for path, columns in given for row in read_rows(path, columns)]
    if not summary and not measured:
        raise UserError(f"{arguments.artifact}: give what it is made from: --summary, --costs or --features.")
    scales = sorted({row["scale"] for row in [*summary, *measured]} - {configuration.scale_name})
    if scales:
        raise UserError(
            f"{arguments.artifact}: the files are of scale {', '.join(scales)}, not of {configuration.scale_name}."
        )
    return Evidence(summary, measured, arguments.root)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifact", required=True, help="name in config/artifacts.yaml, e.g. momentumrnn_table1")
    parser.add_argument("--summary", type=Path, help="CSV of its runs (scripts/summarise.py)")
    parser.add_argument("--costs", type=Path, help="CSV of scripts/measure_cost.py; for tables of time and memory")
    parser.add_argument("--features", type=Path, help="CSV of scripts/measure_features.py; for tables of silhouettes")
    parser.add_argument("--config", help="settings as JSON, merged over config.yaml")
    parser.add_argument("--output", required=True, type=Path, help="CSV to write, one row per claim")
    parser.add_argument("--root", type=Path, default=Path(), help="where the results directory is (default: here)")
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
