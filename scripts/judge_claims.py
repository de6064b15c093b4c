"""Judge the paper's claims that rest on one table or figure: a verdict for each, from a stated test.

    python scripts/judge_claims.py --artifact momentumrnn_table1
    python scripts/judge_claims.py --explain pixels-momentum-better:mnist:test_accuracy:momentum_lstm-128:lstm-128

Reads the summary, costs or features that the artifact is made of, and the files of its runs. Writes one row per claim
to results/<scale>/claims/<artifact>.csv (hidden_dynamics.claims.verdict.COLUMNS); an empty cell means "none". With
--explain it writes nothing, and prints every number that enters one verdict, the test's steps, and the verdict: ids are
the first column of claims.csv. docs/claims.md has the rules.
"""

import _bootstrap  # noqa: F401  isort: skip

from collections import Counter
from pathlib import Path

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.claims.comparisons import Claimed, all_claims
from hidden_dynamics.claims.evidence import gather
from hidden_dynamics.claims.explanation import explain
from hidden_dynamics.claims.judge import judge, verdicts
from hidden_dynamics.claims.verdict import COLUMNS
from hidden_dynamics.configuration import known, load, parse_settings
from hidden_dynamics.errors import run_main
from hidden_dynamics.papers.claims import artifacts_with_claims
from hidden_dynamics.results.rows import write_rows
from hidden_dynamics.system.arguments import parser


def main() -> None:
    arguments = parser(__doc__, "--config", "--root")
    what = arguments.add_mutually_exclusive_group(required=True)
    what.add_argument("--artifact", metavar="NAME", help="the table or figure whose claims are judged")
    what.add_argument("--explain", metavar="ID", help="the claim whose verdict is explained")
    given = arguments.parse_args()
    configuration = load(parse_settings(given.config))
    every = load_artifacts(configuration)
    artifacts = {name: every[name] for name in artifacts_with_claims(configuration)}
    claimed = all_claims(artifacts)
    if given.explain:
        print(explanation(artifacts, claimed, given.explain, given.root), end="")
        return
    artifact = artifacts[known(given.artifact, artifacts, "artifact with claims", "--artifact")]
    rows = verdicts(artifact, claimed[artifact.name], gather(artifact, given.root))
    write_rows(given.root / configuration.paths.verdicts(artifact.name), COLUMNS, rows)
    found = Counter(row["verdict"] for row in rows if not row["judged_with"])
    print(", ".join(f"{verdict}: {count}" for verdict, count in found.items()))


def explanation(artifacts: dict[str, Artifact], claimed: dict[str, Claimed], name: str, root: Path) -> str:
    """The verdict on the claim of this id, explained."""
    places = {claim.id: artifact for artifact, claims in claimed.items() for claim in claims.here}
    artifact = artifacts[places[known(name, places, "claim", "--explain")]]
    found = judge(artifact, claimed[artifact.name].here, gather(artifact, root))
    return explain(next(judged for judged in found if judged.claim.id == name))


if __name__ == "__main__":
    run_main(main)
