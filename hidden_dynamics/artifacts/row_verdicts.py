"""The verdicts on claims about a table, as marks of its rows.

Verdicts are rows of text by column (hidden_dynamics.claims.verdict.COLUMNS), records those of a table's data:
they have task, model, size as run, and metric or quantity.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.claims.verdict import COLUMNS, word
from hidden_dynamics.papers.claims import load_claims
from hidden_dynamics.results.rows import read_rows

NOTE = (
    "Verdict: of a test over seeds, on the claim that the row stands to {baseline}, or, “on the value”, to the "
    "published number, as the paper says; “reproduced” or “contradicted” where nothing departs from the paper’s setup, "
    "else “holds” or “fails”, which say nothing of the paper’s own experiment; “undecided” (“inconclusive”), too, "
    "where the model that is ahead has learned nothing. What several tables show is judged once, with the first of "
    "them (docs/claims.md)."
)

Record = dict[str, Any]
Rows = Sequence[Mapping[str, str]]


def verdicts_on(artifact: Artifact, root: Path) -> tuple[dict[str, str], ...]:
    """The verdicts that mark a table's rows, also on comparisons that are judged with another artifact.

    Args:
        root: where the results directory is.

    Raises:
        UserError: the file is missing or damaged.
    """
    if artifact.form != "table" or not load_claims().about(artifact.name):
        return ()
    return tuple(read_rows(root / artifact.configuration.paths.verdicts(artifact.name), COLUMNS))


def with_verdicts(artifact: Artifact, records: Sequence[Record], verdicts: Rows) -> list[Record]:
    """Records with `verdict`, on how the model stands to the baseline, and `value_verdict`, on the published number.

    None where nothing is judged; records as they are where nothing of the artifact was.
    """
    if not verdicts:
        return list(records)
    baseline = artifact.published.baseline
    pairs = [_pair(verdicts, record, baseline) for record in records]
    return [
        record | {"verdict": row and _verdict(row), "value_verdict": _on_value(verdicts, record)}
        for record, row in zip(records, pairs, strict=True)
    ]


def _pair(verdicts: Rows, record: Record, baseline: str) -> Mapping[str, str] | None:
    """The claim on how a model stands to the baseline; None where nothing is claimed."""
    variant = _variant(record)
    for row in _about(verdicts, record, ("better", "ratio")):
        sides = [row["subject"], row["reference"]]
        if variant in sides and row["against_table"] != "true":
            sides.remove(variant)
            if baseline in (sides[0], sides[0].rpartition("-")[0]):
                return row
    return None


def _on_value(verdicts: Rows, record: Record) -> str | None:
    """The verdict on the published number; None where none was judged."""
    rows = _about(verdicts, record, ("value",))
    own = [row for row in rows if row["subject"] == _variant(record)]
    return next((_verdict(row) for row in own if row["p_adjusted"] or not row["verdict"]), None)


def _verdict(row: Mapping[str, str]) -> str:
    """The verdict, or with which artifact it is found: "judged with Table 4"."""
    return word(row) or _judged_with(row)


def _judged_with(row: Mapping[str, str]) -> str:
    form, number = re.fullmatch(r"\w+_([a-z]+)(\d*)", row["judged_with"]).groups()
    return f"judged with {form.capitalize()} {number}".rstrip()


def _about(verdicts: Rows, record: Record, kinds: Sequence[str]) -> list[Mapping[str, str]]:
    about = record["task"], record.get("quantity") or record["metric"]
    return [row for row in verdicts if row["kind"] in kinds and (row["task"], row["metric"]) == about]


def _variant(record: Record) -> str:
    """The model with its size as run, as the verdicts name it."""
    return record["model"] if record["size"] in (None, "") else f"{record['model']}-n{record['size']}"
