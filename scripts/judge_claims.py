"""Judge the paper's claims that rest on one table or figure: a verdict for each, from a stated test.

    python scripts/judge_claims.py --artifact momentumrnn_table1
    python scripts/judge_claims.py --explain pixels-momentum-better:mnist:test_accuracy:momentum_lstm-128:lstm-128

Reads the summary, costs or features that the artifact is made of, and the files of its runs. Writes one row per claim
to results/<scale>/claims/<artifact>.csv (hidden_dynamics.claims.verdict.COLUMNS); an empty cell means "none". With
--explain it writes nothing, and prints every number that enters one verdict, the test's steps, the verdict and, where
the scale gives one, the second verdict: ids are the first column of claims.csv. docs/claims.md has the rules.
"""

import _bootstrap  # noqa: F401  isort: skip

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from hidden_dynamics.artifacts import Artifact, load_artifacts
from hidden_dynamics.claims.comparisons import Claimed, all_claims
from hidden_dynamics.claims.evidence import gather
from hidden_dynamics.claims.explanation import explain, explain_of_others
from hidden_dynamics.claims.judge import judge, verdicts
from hidden_dynamics.claims.verdict import COLUMNS
from hidden_dynamics.configuration import Configuration, known, load, parse_settings
from hidden_dynamics.errors import run_main
from hidden_dynamics.papers.claims import artifacts_with_claims, load_claims
from hidden_dynamics.results.rows import read_rows, write_rows
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
    if given.explain in {entry.id for entry in load_claims().of_others}:
        print(explanation_of_others(configuration, given.explain, given.root), end="")
    elif given.explain:
        print(explanation(artifacts, claimed, given.explain, given.root), end="")
    else:
        known(given.artifact, artifacts, "artifact with claims", "--artifact")
        write_verdicts(artifacts[given.artifact], claimed[given.artifact], given.root)


def write_verdicts(artifact: Artifact, claimed: Claimed, root: Path) -> None:
    """The file of an artifact's verdicts; their counts are printed."""
    rows = verdicts(artifact, claimed, gather(artifact, root))
    write_rows(root / artifact.configuration.paths.verdicts(artifact.name), COLUMNS, rows)
    own = [row for row in rows if not row["judged_with"]]
    for column in ("verdict", "here"):  # on lines of their own
        found = Counter(row[column] for row in own if row[column])
        if found:
            print(", ".join(f"{verdict}: {count}" for verdict, count in found.items()))


def explanation(artifacts: Mapping[str, Artifact], claimed: Mapping[str, Claimed], name: str, root: Path) -> str:
    """The verdict on the claim of this id, explained; of one that is judged with another artifact, that one."""
    judged_as = {claim.same: claim for claims in claimed.values() for claim in claims.here}
    every = {claim.id: claim for claims in claimed.values() for claim, _ in claims.elsewhere}
    every |= {claim.id: claim for claim in judged_as.values()}
    claim = judged_as[every[known(name, every, "claim", "--explain")].same]
    found = judge(artifacts[claim.artifact], claimed[claim.artifact].here, gather(artifacts[claim.artifact], root))
    return explain(next(judged for judged in found if judged.claim.id == claim.id))


def explanation_of_others(configuration: Configuration, name: str, root: Path) -> str:
    """The same of a claim that others decide: the verdicts on these."""
    rows = read_rows(root / configuration.paths.all_verdicts("csv"), COLUMNS)
    found = {row["id"]: row for row in rows}
    return explain_of_others(found[known(name, found, "claim", configuration.paths.all_verdicts("csv"))], rows)


if __name__ == "__main__":
    run_main(main)
