"""Ours beside the published: what the tables of numbers share, as data and as text.

A record is a row of a table's data, by column: what ran (task, model, size, paper_size, stand_in_for), its deviations
from the paper, ours over seeds (runs, n, mean, std), and how it stands to the published number and to the baseline.
What deviates from the paper is held to no number of it: it has no difference from the published number, no published
gap, no ordering, no rank.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.artifacts.notes import title_of
from hidden_dynamics.artifacts.row_verdicts import NOTE, with_verdicts
from hidden_dynamics.artifacts.tables import ABSENT, number, signed
from hidden_dynamics.claims.verdict import NOT_RUN
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.papers.published import NOTHING, with_originals
from hidden_dynamics.results.deviations import deviations
from hidden_dynamics.results.statistics import mean_and_std

Record = dict[str, Any]
Rows = Sequence[Mapping[str, Any]]


def over_seeds(values: Iterable[float]) -> Record:
    """n, mean and sample standard deviation."""
    values = list(values)
    mean, std = mean_and_std(values)
    return {"n": len(values), "mean": mean, "std": std}


def size_of(text: str) -> int | str | None:
    """A size in a file of ours: hidden units, a name, or none."""
    return int(text) if text.isdigit() else text or None


def baseline_label(artifact: Artifact) -> str:
    return artifact.configuration.models[artifact.published.baseline].label


# As data


def deviations_of(artifact: Artifact, rows: Rows, trained: bool = True) -> str | None:
    """The deviations of rows from the paper, as a record has them: joined by semicolons; None without any.

    Args:
        rows: of a summary, of measured features or costs.
        trained: as for `deviations`.
    """
    originals = with_originals(artifact.configuration, artifact.paper, rows)
    return "; ".join(deviations(artifact.configuration, originals, trained)) or None


def standing(artifact: Artifact, record: Record) -> float:
    """The published number that a record is held to: the paper's own, or the best that it quotes; NaN without one."""
    printed = artifact.number(Cell(record["task"], record["model"], record["paper_size"]), record["metric"])
    return math.nan if printed is None else printed.value


def peers_of(artifact: Artifact, records: Sequence[Record], record: Record) -> list[Record]:
    """The records of its task and metric and, unless the paper compares across sizes, of its size."""
    shared = ("task", "metric") if artifact.published.across_sizes else ("task", "metric", "paper_size")
    return [other for other in records if all(other[column] == record[column] for column in shared)]


def compared(artifact: Artifact, records: Sequence[Record], verdicts: Rows) -> list[Record]:
    """Records with their distances from the published number and from the baseline's record, and their verdicts.

    Returns:
        beside what they had `difference`, ours less the published; `gap`, our mean less the baseline's, and
        `published_gap`; `ordering`, whether both gaps have one sign. NaN or None where there is nothing to compare, and
        but for `gap` where the record or its baseline deviates from the paper.
    """
    found, name = [], artifact.published.baseline
    for record in records:
        baseline = next((peer for peer in peers_of(artifact, records, record) if peer["model"] == name), None)
        theirs, gap, published_gap = standing(artifact, record), math.nan, math.nan
        if baseline is not None and baseline is not record:
            gap = record["mean"] - baseline["mean"]
            if not (math.isnan(gap) or record["deviations"] or baseline["deviations"]):
                published_gap = theirs - standing(artifact, baseline)
        difference = math.nan if record["deviations"] else record["mean"] - theirs
        gaps = {"difference": difference, "gap": gap, "published_gap": published_gap}
        found.append(record | gaps | {"ordering": _ordering(gap, published_gap)})
    return with_verdicts(artifact, found, verdicts)


def _ordering(gap: float, published_gap: float) -> str | None:
    """Our gap to the baseline against the published one, by sign; None where nothing is comparable."""
    if math.isnan(gap) or not abs(published_gap) >= NOTHING:
        return None
    return "tied" if abs(gap) < NOTHING else "holds" if gap * published_gap > 0 else "fails"


# As text


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


def gap_texts(artifact: Artifact, record: Record, decimals: int) -> dict[str, str]:
    """By heading: the difference from the published number, and the gap to the baseline, such as "holds +1.00 (+0.34)"
    with the published one; the verdicts."""
    gap = signed(record["gap"], decimals)
    if record["ordering"]:
        gap = f"{record['ordering']} {gap} ({signed(record['published_gap'], decimals)})"
    texts = {"difference": signed(record["difference"], decimals), f"ours less our {baseline_label(artifact)}’s": gap}
    return texts | verdict_texts(record)


def verdict_texts(record: Record) -> dict[str, str]:
    return {
        "verdict": record.get("verdict") or ABSENT,
        "verdict on the value": record.get("value_verdict") or ABSENT,
    }


# Around the table


def title(artifact: Artifact, records: Rows, about: str = "") -> str:
    """An artifact's title, its place in the paper and the scale, and that what deviates from the paper is not
    comparable with it."""
    deviating = [bool(record["deviations"]) for record in records if record.get("runs") != 0]
    said = ", not comparable with the published numbers" if any(deviating) else ""
    return title_of(artifact, about) + said + (" in some cells" if said and not all(deviating) else "")


def notes(artifact: Artifact, records: Rows) -> list[str]:
    """What deviates from the paper and what that forbids, what verdicts are, and the rows of the user's own models."""
    parts = dict.fromkeys(part for record in records for part in (record["deviations"] or "").split("; ") if part)
    deviates = (
        f"Deviates from the paper: {'; '.join(parts)}. What deviates is not held to the published numbers: it has no "
        "difference from them, no published gap and no rank, and a verdict beside it is none on the paper’s own claim."
    )
    verdicts = [record.get(column) for record in records for column in ("verdict", "value_verdict")]
    extras = dict.fromkeys(record["label"] for record in records if record["extra"])
    return [
        *([deviates] if parts else []),
        *([NOTE.format(baseline=baseline_label(artifact))] if {*verdicts} - {None, NOT_RUN} else []),
        *([f"Not in the paper's table: {', '.join(extras)}."] if extras else []),
    ]


def gap_note(artifact: Artifact, among: str = "") -> str:
    """A sentence on the column of gaps to the baseline.

    Args:
        among: which rows are compared, such as " of the same size".
    """
    label = baseline_label(artifact)
    return (
        f"Ours less our {label}’s{among}: the difference of two means of ours; with few seeds, one within the standard "
        "deviations says little. Where nothing deviates from the paper, the published gap is in brackets, and “holds” "
        "says that both have the same sign."
    )
