"""The verdicts on claims about a table, as marks of its rows.

Verdicts are rows of text by column (hidden_dynamics.claims.verdict.COLUMNS), records those of a table's data:
they have task, model, size as run, and metric or quantity.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.claims.verdict import word
from hidden_dynamics.papers.claims import load_claims
from hidden_dynamics.results.rows import read_rows

NOTE = (
    "Verdict: of a test over seeds, on the claim that the row stands to {baseline}, or, “on the value”, to the "
    "published number, as the paper says; “reproduced” or “contradicted” where nothing deviates from the paper’s "
    "setup, else “holds” or “fails”, which say nothing of the paper’s own experiment; “undecided” (“inconclusive”), "
    "too, where the model that is ahead has learned nothing. What several tables show is judged once, with the first "
    "of them (docs/claims.md)."
)

Record = dict[str, Any]
Rows = Sequence[Mapping[str, str]]


def verdicts_on(artifact: Artifact, root: Path) -> tuple[dict[str, str], ...]:
    """The verdicts that mark a table's rows; none on comparisons that are judged with another artifact.

    Args:
        root: where the results directory is.

    Raises:
        UserError: the file is missing or damaged.
    """
    if artifact.form != "table" or not load_claims().about(artifact.name):
        return ()
    return tuple(read_rows(root / artifact.configuration.paths.verdicts(artifact.name)))


def with_verdicts(artifact: Artifact, records: Sequence[Record], verdicts: Rows) -> list[Record]:
    """Records with `verdict`, on how the model stands to the baseline, and `value_verdict`, on the published number.

    None where nothing is judged; records as they are where nothing of the artifact was.
    """
    if not verdicts:
        return list(records)
    marked = []
    for record in records:
        place = record["task"], record.get("quantity") or record["metric"]
        about = [row for row in verdicts if (row["task"], row["metric"]) == place]
        size = record["size"]
        sized_model = record["model"] if size in (None, "") else f"{record['model']}-n{size}"  # as the verdicts name it
        pairs = (row for row in about if _is_of_pair(row, sized_model, artifact.published.baseline))
        values = (row for row in about if row["kind"] == "value" and row["subject"] == sized_model)
        values = (row for row in values if row["p_adjusted"])
        found = {"verdict": next(pairs, None), "value_verdict": next(values, None)}
        marked.append(record | {column: row and word(row) for column, row in found.items()})
    return marked


def _is_of_pair(row: Mapping[str, str], sized_model: str, baseline: str) -> bool:
    """Whether a claim, in the printed direction, sets a model against the baseline at whatever size."""
    sides = [row["subject"], row["reference"]]
    if row["kind"] not in ("better", "ratio") or row["against_table"] == "true" or sized_model not in sides:
        return False
    sides.remove(sized_model)
    return baseline in (sides[0], sides[0].rpartition("-")[0])
