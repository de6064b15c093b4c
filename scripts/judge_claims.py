"""Explain the verdict on one of the papers' claims: every number that enters it.

    python scripts/judge_claims.py --explain pixels-momentum-better:mnist:test_accuracy:momentum_lstm-128:lstm-128

Reads the summary, costs or features that the claim's table or figure is made of, and the files of its runs; judges the
claim anew; prints the numbers, the test's result and the verdict. Ids are the first column of
results/<scale>/claims.csv. docs/claims.md has the rules.
"""

import _bootstrap  # noqa: F401  isort: skip

from collections.abc import Mapping
from pathlib import Path

from hidden_dynamics.artifacts import Artifact, load_artifacts
from hidden_dynamics.claims.expand import Claimed, all_claims
from hidden_dynamics.claims.explanation import explain, explain_of_others
from hidden_dynamics.claims.judge import judge, verdicts
from hidden_dynamics.claims.samples import gather
from hidden_dynamics.claims.verdict import COLUMNS
from hidden_dynamics.configuration import Configuration, known, load, parse_settings
from hidden_dynamics.errors import run_main
from hidden_dynamics.papers.claims import artifacts_with_claims, load_claims
from hidden_dynamics.results.rows import read_rows
from hidden_dynamics.system.arguments import parser


def main() -> None:
    arguments = parser(__doc__, "--config", "--root")
    arguments.add_argument("--explain", metavar="ID", required=True, help="the claim whose verdict is explained")
    given = arguments.parse_args()
    configuration = load(parse_settings(given.config))
    if given.explain in {entry.id for entry in load_claims().of_others}:
        told = explanation_of_others(configuration, given.explain, given.root)
    else:
        every = load_artifacts(configuration)
        artifacts = {name: every[name] for name in artifacts_with_claims(configuration)}
        told = explanation(artifacts, all_claims(artifacts), given.explain, given.root)
    print(told, end="")


def explanation(artifacts: Mapping[str, Artifact], claimed: Mapping[str, Claimed], name: str, root: Path) -> str:
    """The verdict on the claim of this id, explained; of one that is judged with another artifact, that one."""
    judged_as = {claim.same: claim for claims in claimed.values() for claim in claims.here}
    every = {claim.id: claim for claims in claimed.values() for claim, _ in claims.elsewhere}
    every |= {claim.id: claim for claim in judged_as.values()}
    claim = judged_as[every[known(name, every, "claim", "--explain")].same]
    evidence, own = gather(artifacts[claim.artifact], root), claimed[claim.artifact]
    judged = next(judged for judged in judge(evidence, own.here) if judged.claim.id == claim.id)
    return explain(judged, next(row for row in verdicts(own, evidence) if row["id"] == claim.id))


def explanation_of_others(configuration: Configuration, name: str, root: Path) -> str:
    """The same of a claim that others decide: the verdicts on these."""
    rows = read_rows(root / configuration.paths.all_verdicts("csv"), COLUMNS)
    found = {row["id"]: row for row in rows}
    return explain_of_others(found[known(name, found, "claim", configuration.paths.all_verdicts("csv"))], rows)


if __name__ == "__main__":
    run_main(main)
