"""Explain the verdict on one of the papers' claims: every number that enters it.

    python scripts/judge_claims.py --explain pixels-momentum-better:mnist:test_accuracy:momentum_lstm-128:lstm-128

Reads the summary, costs or features that the claim's table or figure is made of, and the files of its runs; judges the
claim anew; prints the numbers, the test's result and the verdict. Ids are the first column of
results/<scale>/claims.csv; of what other verdicts decide, its column `found` has them. docs/claims.md has the rules.
"""

import _bootstrap  # noqa: F401  isort: skip

from collections.abc import Mapping
from pathlib import Path

from hidden_dynamics.artifacts import Artifact, load_artifacts
from hidden_dynamics.claims.expand import Claimed, all_claims
from hidden_dynamics.claims.explanation import explain
from hidden_dynamics.claims.judge import judge, verdicts
from hidden_dynamics.claims.samples import gather
from hidden_dynamics.configuration import known, load, parse_settings
from hidden_dynamics.errors import run_main
from hidden_dynamics.papers.claims import artifacts_with_claims
from hidden_dynamics.system.arguments import parser


def main() -> None:
    arguments = parser(__doc__, "--config", "--root")
    arguments.add_argument("--explain", metavar="ID", required=True, help="the claim whose verdict is explained")
    given = arguments.parse_args()
    configuration = load(parse_settings(given.config))
    every = load_artifacts(configuration)
    artifacts = {name: every[name] for name in artifacts_with_claims(configuration)}
    print(explanation(artifacts, all_claims(artifacts), given.explain, given.root), end="")


def explanation(artifacts: Mapping[str, Artifact], claimed: Mapping[str, Claimed], name: str, root: Path) -> str:
    """The verdict on the claim of this id, explained; of one that is judged with another artifact, that one."""
    judged_as = {claim.same: claim for claims in claimed.values() for claim in claims.here}
    every = {claim.id: claim for claims in claimed.values() for claim, _ in claims.elsewhere}
    every |= {claim.id: claim for claim in judged_as.values()}
    claim = judged_as[every[known(name, every, "claim", "--explain")].same]
    evidence, own = gather(artifacts[claim.artifact], root), claimed[claim.artifact]
    judged = next(judged for judged in judge(evidence, own.here) if judged.claim.id == claim.id)
    return explain(judged, next(row for row in verdicts(own, evidence) if row["id"] == claim.id))


if __name__ == "__main__":
    run_main(main)
