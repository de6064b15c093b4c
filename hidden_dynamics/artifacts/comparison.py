"""Ours beside the published, as data and as text: shared by the tables of numbers.

A record is a row of a table's data, by column: what ran (task, model, size, paper_size, stand_in_for), its departures
from the paper, ours over seeds (runs, n, mean, std), and how it stands to the published number and to the baseline.
What departs from the paper is held to no number of it: it has no difference from the published number, no published
gap, no ordering, no rank.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.artifacts.tables import ABSENT, Column, number, signed
from hidden_dynamics.claims.verdict import NOT_RUN
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.papers.published import ordering

Record = dict[str, Any]


def size_of(text: str) -> int | str | None:
    """A size in a file of ours: hidden units, a name, or none."""
    return int(text) if text.isdigit() else text or None


def baseline_label(artifact: Artifact) -> str:
    return artifact.configuration.models[artifact.published.baseline].label


def standing(artifact: Artifact, record: Mapping[str, Any]) -> float:
    """The published number that a record is held to: the paper's own, or the best that it quotes; NaN without one."""
    printed = artifact.number(Cell(record["task"], record["model"], record["paper_size"]), record["metric"])
    return math.nan if printed is None else printed.value


def gaps(artifact: Artifact, record: Mapping[str, Any], baseline: Mapping[str, Any] | None) -> Record:
    """The distances of a record from the published number and from its baseline.

    Returns:
        `difference`, ours less the published; `gap`, our mean less the baseline's, and `published_gap`; `ordering`,
        whether both gaps have one sign. NaN or None where there is nothing to compare, and but for `gap` where the
        record or its baseline departs from the paper.
    """
    theirs = standing(artifact, record)
    gap = published_gap = math.nan
    if baseline is not None and baseline["model"] != record["model"]:
        gap = record["mean"] - baseline["mean"]
        if not (math.isnan(gap) or record["departures"] or baseline["departures"]):
            published_gap = theirs - standing(artifact, baseline)
    return {
        "difference": math.nan if record["departures"] else record["mean"] - theirs,
        "gap": gap,
        "published_gap": published_gap,
        "ordering": ordering(gap, published_gap),
    }


def size_text(size: object, paper_size: object) -> str:
    """N as run; where it is not the paper's, the paper's too."""
    text = ABSENT if size in (None, "") else str(size)
    return text if paper_size in (None, "") or text == str(paper_size) else f"{text} (paper: {paper_size})"


def value_text(mean: float | None, std: float | None, decimals: int) -> str:
    """A published mean and, where there is one, its deviation."""
    return number(mean, decimals) + ("" if std is None else f" ± {number(std, decimals)}")


def ours_text(record: Mapping[str, Any], failed: Mapping[str, int], decimals: int, *remarks: str) -> str:
    """Mean and deviation over seeds, such as "93.00 ± 3.61 (n = 3; diverged 1 of 4)"; else how the runs failed.

    Where those that have learned something and the others are two clusters: "2 of 3 learned, median 93.00".

    Args:
        failed: how many of the runs failed in which way.
    """
    counts = [f"{way} {count} of {record['runs']}" for way, count in failed.items() if count]
    if not record["n"]:
        return "; ".join(counts) or ABSENT
    if record.get("median") is not None:
        said = f"{record['learned']} of {record['n']} learned, median {number(record['median'], decimals)}"
        return "; ".join([said, *counts, *remarks])
    about = "; ".join([f"n = {record['n']}", *counts, *remarks])
    return f"{number(record['mean'], decimals)} ± {number(record['std'], decimals)} ({about})"


def gap_heading(artifact: Artifact, records: Sequence[Mapping[str, Any]]) -> str:
    """The heading of the gaps to the baseline: ours alone, where nothing of the paper stands beside them."""
    label = baseline_label(artifact)
    return f"against {label}" if _held(records) else f"ours less our {label}’s"


def gap_text(record: Mapping[str, Any], decimals: int) -> str:
    """The gap to the baseline and whether it has the published sign, such as "holds +1.00 (+0.34)"."""
    gap = signed(record["gap"], decimals)
    if record["ordering"] is None:
        return gap
    return f"{record['ordering']} {gap} ({signed(record['published_gap'], decimals)})"


def gap_note(artifact: Artifact, records: Sequence[Mapping[str, Any]], ranks: str = "", among: str = "") -> str:
    """A sentence on the column of gaps to the baseline.

    Args:
        ranks: a sentence on the table's ranks, if it shows any.
        among: which rows are compared, such as " of the same size".
    """
    label = baseline_label(artifact)
    little = "with few seeds, a gap within the standard deviations says little."
    if not _held(records):
        return (
            f"Ours less our {label}’s{among}: the difference of two means of ours; the paper is not in it, and {little}"
        )
    return (
        f"Against {label}: our mean less our {label}'s{among}, in brackets the published gap; “holds” says that "
        f"both have the same sign. {ranks}{'Both compare' if ranks else 'It compares'} means only: {little}"
    )


def _held(records: Sequence[Mapping[str, Any]]) -> bool:
    """True where a record is held to the published numbers, or none has run."""
    ran = [record for record in records if record["runs"]]
    return not ran or any(not record["departures"] for record in ran)


def without_idle(rows: Sequence[Mapping[Column, str]], names: tuple[str, ...]) -> list[dict[Column, str]]:
    """Rows of texts, as `Table.of` takes them, without the columns that say nothing in any row.

    Args:
        names: beginnings of the names of columns, in lower case, that may be left out.
    """

    def name_of(column: Column) -> str:
        return (column if isinstance(column, str) else column[1]).lower()

    said = {column for texts in rows for column, text in texts.items() if text not in (ABSENT, NOT_RUN)}

    def is_kept(column: Column) -> bool:
        return column in said or not name_of(column).startswith(names)

    return [{column: text for column, text in texts.items() if is_kept(column)} for texts in rows]


def extras_note(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """The rows of the user's own models, in a sentence; none where there are none."""
    labels = dict.fromkeys(record["label"] for record in records if record["extra"])
    return [f"Not in the paper's table: {', '.join(labels)}."] if labels else []
