"""The verdicts on claims (scripts/judge_claims.py), as marks of a table's rows."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas

from hidden_dynamics.errors import UserError

NOTE = (
    "Verdict: of a test over seeds, on the claim that the row stands to {baseline} as published (claims.html says by "
    "which test); “holds” and “fails” compare the signs of two means alone, so a gap that holds can be inconclusive."
)
COSTS_NOTE = "Verdict: on the claim that the row costs more, less or as much as {baseline}, as published (claims.html)."
VALUE_NOTE = "Verdict on the value: whether ours is the published number, to the margin that claims.html names."
_COLUMNS = ("kind", "task", "metric", "subject", "reference", "verdict", "against_table")


@dataclass(frozen=True)
class Marks:
    """Rows of verdicts, as text by column."""

    rows: Sequence[Mapping[str, str]]

    def add(self, data: pandas.DataFrame, baseline: str) -> pandas.DataFrame:
        """`data` with `verdict` (against the baseline) and, where one was judged, `value_verdict`.

        Args:
            data: its rows have task, metric (or quantity), model and size as run.
        """
        keys = [_key(record) for record in data.to_dict("records")]
        pairs = pandas.Series([self.pair(*key, baseline) for key in keys], index=data.index, dtype=object)
        values = pandas.Series([self.value(*key) for key in keys], index=data.index, dtype=object)
        return data.assign(verdict=pairs, **({"value_verdict": values} if values.notna().any() else {}))

    def pair(self, task: str, metric: str, variant: str, baseline: str) -> str | None:
        """The verdict on how a model stands to the baseline; None where nothing is claimed."""
        for row in self.rows:
            if row["kind"] in ("better", "ratio") and row["against_table"] != "true" and _about(row, task, metric):
                sides = [row["subject"], row["reference"]]
                if variant in sides:
                    sides.remove(variant)
                    if sides[0] == baseline or sides[0].rpartition("-")[0] == baseline:
                        return row["verdict"]
        return None

    def value(self, task: str, metric: str, variant: str) -> str | None:
        """The verdict on the published number; None where none was judged."""
        for row in self.rows:
            if row["kind"] == "value" and _about(row, task, metric) and row["subject"] == variant and row["p_adjusted"]:
                return row["verdict"]
        return None


def _about(row: Mapping[str, str], task: str, metric: str) -> bool:
    return (row["task"], row["metric"]) == (task, metric)


def _key(record: Mapping[str, Any]) -> tuple[str, str, str]:
    size = record["size"]
    variant = record["model"] if size in (None, "") or pandas.isna(size) else f"{record['model']}-n{size}"
    return record["task"], record.get("quantity") or record["metric"], variant


def read_marks(path: Path | None) -> Marks | None:
    """What a file of verdicts says; None without a file.

    Raises:
        UserError: it is missing, is not CSV or lacks a column.
    """
    if path is None:
        return None
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            reader = csv.DictReader(handle)
            marks = Marks(list(reader))
    except FileNotFoundError:
        raise UserError(
            f"there are no verdicts {path}: judge the claims first, with scripts/judge_claims.py."
        ) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} is no file of verdicts: {error}") from None
    lacking = [column for column in (*_COLUMNS, "p_adjusted") if column not in (reader.fieldnames or ())]
    if lacking:
        raise UserError(f"{path} is no file of verdicts: it lacks the columns {', '.join(lacking)}.")
    return marks


def mark_texts(record: Mapping[str, Any], absent: str) -> dict[str, str]:
    """A row's cells: its verdict and, where the table has any, that on its value."""
    names = {"verdict": "verdict", "value_verdict": "verdict on the value"}
    return {
        name: absent if pandas.isna(record[column]) else record[column]
        for column, name in names.items()
        if column in record
    }


def mark_notes(data: pandas.DataFrame, baseline: str, note: str = NOTE) -> list[str]:
    """What the marks mean; nothing where there are none."""
    notes = [note.format(baseline=baseline)] if "verdict" in data and data["verdict"].notna().any() else []
    return [*notes, *([VALUE_NOTE] if "value_verdict" in data else [])]
