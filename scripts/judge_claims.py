"""Judge the paper's claims that rest on one table or figure: a verdict for each, from a stated test.

    python scripts/judge_claims.py --artifact momentumrnn_table1

Reads the summary, costs or features that the artifact is made of, and the files of its runs. Writes one row per claim
to results/<scale>/claims/<artifact>.csv (hidden_dynamics.claims.verdict.COLUMNS); an empty cell means "none".
docs/claims.md has the rules.
"""

import _bootstrap  # noqa: F401  isort: skip

from collections import Counter

from hidden_dynamics.artifacts import artifact_named
from hidden_dynamics.claims.evidence import gather
from hidden_dynamics.claims.expansion import claims_of
from hidden_dynamics.claims.judge import verdicts
from hidden_dynamics.claims.verdict import COLUMNS
from hidden_dynamics.configuration import known, load, parse_settings
from hidden_dynamics.errors import run_main
from hidden_dynamics.papers.claims import artifacts_with_claims
from hidden_dynamics.results.rows import write_rows
from hidden_dynamics.system.arguments import parser


def main() -> None:
    given = parser(__doc__, "--artifact", "--config", "--root").parse_args()
    configuration = load(parse_settings(given.config))
    known(given.artifact, artifacts_with_claims(configuration), "artifact with claims", "--artifact")
    artifact = artifact_named(configuration, given.artifact)
    rows = verdicts(artifact, claims_of(artifact), gather(artifact, given.root))
    write_rows(given.root / configuration.paths.verdicts(artifact.name), COLUMNS, rows)
    print(", ".join(f"{verdict}: {count}" for verdict, count in Counter(row["verdict"] for row in rows).items()))


if __name__ == "__main__":
    run_main(main)
