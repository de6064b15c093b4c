"""Judge the paper's claims that rest on one table or figure: a verdict for each, from a stated test.

    python scripts/judge_claims.py --artifact momentumrnn_table1

Reads the summary, costs or features that the artifact is made of, and the files of its runs. Writes one row per claim
to results/<scale>/claims/<artifact>.csv (hidden_dynamics.claims.verdict.COLUMNS); an empty cell means "none".
docs/claims.md has the rules.
"""

import _bootstrap  # noqa: F401  isort: skip

import argparse
from collections import Counter
from pathlib import Path

from hidden_dynamics.artifacts import artifact_named
from hidden_dynamics.claims.evidence import gather
from hidden_dynamics.claims.expansion import claims_of
from hidden_dynamics.claims.judge import verdicts
from hidden_dynamics.claims.verdict import COLUMNS
from hidden_dynamics.configuration import known, load, parse_settings
from hidden_dynamics.errors import run_main
from hidden_dynamics.papers.claims import artifacts_with_claims
from hidden_dynamics.results.rows import write_rows


def main() -> None:
    arguments = parse_arguments()
    configuration = load(parse_settings(arguments.config))
    known(arguments.artifact, artifacts_with_claims(configuration), "artifact with claims", "--artifact")
    artifact = artifact_named(configuration, arguments.artifact)
    rows = verdicts(artifact, claims_of(artifact), gather(artifact, arguments.root))
    write_rows(arguments.root / configuration.paths.verdicts(artifact.name), COLUMNS, rows)
    print(", ".join(f"{verdict}: {count}" for verdict, count in Counter(row["verdict"] for row in rows).items()))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifact", required=True, help="name in config/artifacts.yaml, e.g. momentumrnn_table1")
    parser.add_argument("--config", help="settings as JSON, merged over config.yaml")
    parser.add_argument("--root", type=Path, default=Path(), help="where the results directory is (default: here)")
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
