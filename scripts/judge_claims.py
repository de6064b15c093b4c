"""Explain the verdict on one of the papers' claims: every number that enters it.

    python scripts/judge_claims.py --explain pixels-momentum-better:mnist:test_accuracy:momentum_lstm-128:lstm-128

Reads the costs or features that the claim's table or figure is made of, and the files of its runs; judges the claim
anew; prints the numbers, the test's result and the verdict. Ids are the first column of
results/<scale>/claims.csv. docs/claims.md has the rules.
"""

import _bootstrap  # noqa: F401  isort: skip

from collections.abc import Mapping
from pathlib import Path

from hidden_dynamics.artifacts import Artifact, load_claimed
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.claims.claim import Claim
from hidden_dynamics.claims.expand import all_claims
from hidden_dynamics.claims.explanation import explain
from hidden_dynamics.claims.judge import judge, row_of
from hidden_dynamics.configuration import known, load, parse_settings
from hidden_dynamics.errors import run_main
from hidden_dynamics.system.arguments import parser


def main() -> None:
    arguments = parser(__doc__, "--config", "--root")
    arguments.add_argument("--explain", metavar="ID", required=True, help="the claim whose verdict is explained")
    given = arguments.parse_args()
    artifacts = load_claimed(load(parse_settings(given.config)))
    print(explanation(artifacts, all_claims(artifacts), given.explain, given.root), end="")


def explanation(artifacts: Mapping[str, Artifact], claims: Mapping[str, list[Claim]], name: str, root: Path) -> str:
    """The verdict on the claim of this id, explained."""
    of = {claim.id: claim.artifact for own in claims.values() for claim in own}
    artifact = of[known(name, [one for one in of if one.startswith(f"{name}:")] or of, "claim", "--explain")]
    evidence = Sources(artifacts[artifact], root).evidence
    judged = next(one for one in judge(evidence, claims[artifact]) if one.claim.id == name)
    return explain(judged, row_of(evidence, judged))


if __name__ == "__main__":
    run_main(main)
