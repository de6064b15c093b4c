"""Ours beside the published: what the tables of numbers share, as data and as text.

A record is a row of a table's data, by column: what ran (`begun`), ours over seeds (n, mean, std), and how it stands to
the published number and to the baseline. What deviates from the paper is held to no number of it: it has no difference
from the published number, and no published gap.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from hidden_dynamics.artifacts.base import Artifact, BesidePublished
from hidden_dynamics.artifacts.notes import scale_note, title_of
from hidden_dynamics.artifacts.tables import ABSENT, Table, TextRow, number, signed
from hidden_dynamics.claims.verdict import word
from hidden_dynamics.configuration.runs import Case, sized_model_of
from hidden_dynamics.configuration.schema import Metric
from hidden_dynamics.papers.deviations import deviations, with_originals
from hidden_dynamics.results.run_files import measured_of
from hidden_dynamics.results.seeds import BY_CHANCE, in_two_clusters, margin_of, mean_and_std

Record = dict[str, Any]
Rows = Sequence[Mapping[str, Any]]
WAYS = ("diverged", "failed", "not finite", "not so far")  # in which runs have no number
OPTIONAL = ("published parameters", "published ÷", "difference", "verdict")  # columns that may say nothing


def size_of(text: str) -> int | str | None:
    """A size in a file of ours: hidden units, a name, or none."""
    return int(text) if text.isdigit() else text or None


def baseline_label(artifact: BesidePublished) -> str:
    return artifact.configuration.models[artifact.published.baseline].label


# As data


def begun(artifact: Artifact, cell: Case, metric: str, rows: Rows, compared: Rows | None = None) -> Record:
    """How a record begins: what ran in a cell, and in what it deviates from the paper.

    Args:
        metric: or the quantity that is measured, as claims name it.
        rows: the cell's runs or measurements.
        compared: all that enter the comparison, where these are more.
    """
    configuration = artifact.configuration
    originals = with_originals(configuration, artifact.paper, rows if compared is None else compared)
    texts = deviations(configuration, originals, trained=artifact.summarised or artifact.measured != "costs")
    return {
        "artifact": artifact.name,
        "scale": configuration.scale_name,
        **cell._asdict(),
        "label": rows[0]["label"] if rows else configuration.models[cell.model].label,
        "extra": cell not in artifact.shown(),
        "paper_size": cell.size,
        "metric": metric,
        "size": size_of(rows[0]["size"]) if rows else None,
        "deviations": "; ".join(texts + artifact.deviations()) or None,
    }


def over_seeds(values: Iterable[float]) -> Record:
    """n, mean and sample standard deviation."""
    values = list(values)
    mean, std = mean_and_std(values)
    return {"n": len(values), "mean": mean, "std": std}


def ours_of(runs: Rows, metric: str, about: Metric) -> Record:
    """A metric of runs over seeds; where those that have learned something and the others are a cluster apart, the
    median of those that have.

    Returns:
        diverged, failed, not_finite: how many runs ended so; learned: how many beat the naive baselines, None without;
        n, mean, std, median: of the others, in the unit that is shown.
    """
    finished = [row for row in runs if row["status"] == "finished"]
    measured = [measured_of(row)[metric] * about.factor if row["metric"] else math.inf for row in finished]
    values = [value for value in measured if math.isfinite(value)]
    margins = [margin_of(row, metric, about.sign) for row in finished]
    learned = [value for value, ahead in zip(measured, margins, strict=True) if ahead is not None and ahead > BY_CHANCE]
    mixed = in_two_clusters(margins)
    return {
        **{how: sum(row["status"] == how for row in runs) for how in ("diverged", "failed")},
        "not_finite": len(measured) - len(values),
        "learned": None if None in margins else len(learned),
        **over_seeds(values),
        **({"mean": math.nan, "std": math.nan} if mixed else {}),
        "median": median(learned) if mixed else None,
    }


def standing(artifact: Artifact, record: Record) -> float:
    """The published number that a record is held to: the paper's own, or the best that it quotes; NaN without one, and
    where it is the best of several runs, which no mean is held to."""
    printed = artifact.number(Case(record["task"], record["model"], record["paper_size"]), record["metric"])
    return math.nan if printed is None or printed.maximum else printed.value


def compared(artifact: BesidePublished, records: Sequence[Record], verdicts: Rows) -> list[Record]:
    """Records with their distances from the published number and from the baseline's record, and their verdicts. It
    is that of their task, metric and, unless the paper compares across sizes, size.

    Returns:
        beside what they had `difference`, ours less the published; `gap`, our mean less the baseline's, and
        `published_gap`. NaN where there is nothing to compare, and but for `gap` where the record or its baseline
        deviates from the paper.
    """
    found, shared = [], ["task", "metric", *([] if artifact.published.content.get("across_sizes") else ["paper_size"])]
    baselines = [record for record in records if record["model"] == artifact.published.baseline]
    for record in records:
        baseline = next((one for one in baselines if all(one[name] == record[name] for name in shared)), None)
        theirs, gap, published_gap = standing(artifact, record), math.nan, math.nan
        if baseline is not None and baseline is not record:
            gap = record["mean"] - baseline["mean"]
            if not (math.isnan(gap) or record["deviations"] or baseline["deviations"]):
                published_gap = theirs - standing(artifact, baseline)
        difference = math.nan if record["deviations"] else record["mean"] - theirs
        found.append(record | {"difference": difference, "gap": gap, "published_gap": published_gap})
    return with_verdicts(artifact, found, verdicts)


def with_verdicts(artifact: BesidePublished, records: Sequence[Record], verdicts: Rows) -> list[Record]:
    """Records with `verdict`, on how the model stands to the baseline, and `value_verdict`, on the published number.

    None where nothing is judged; records as they are where nothing of the artifact was.

    Args:
        verdicts: rows of text by column (hidden_dynamics.claims.verdict.COLUMNS).
    """
    if not verdicts:
        return list(records)
    marked = []
    for record in records:
        place, cell = (record["task"], record["metric"]), Case(record["task"], record["model"], record["paper_size"])
        about = [row for row in verdicts if (row["task"], row["metric"]) == place]
        sized_model = sized_model_of(artifact.configuration, cell)  # as the verdicts name it
        pairs = (row for row in about if _is_of_pair(row, sized_model, artifact.published.baseline))
        values = (
            row for row in about if row["kind"] == "value" and row["subject"] == sized_model and row["p_adjusted"]
        )
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


# As text


def size_text(size: object, paper_size: object) -> str:
    """N as run; where it is not the paper's, the paper's too."""
    text = ABSENT if size in (None, "") else str(size)
    return text if paper_size in (None, "") or text == str(paper_size) else f"{text} (paper: {paper_size})"


def value_text(mean: float | None, std: float | None, decimals: int) -> str:
    """A published mean and, where there is one, its deviation."""
    return number(mean, decimals) + ("" if std is None else f" ± {number(std, decimals)}")


def ours_text(record: Record, decimals: int, *remarks: str, failed: Mapping[str, int] | None = None) -> str:
    """Mean and deviation over seeds, such as "93.00 ± 3.61 (n = 3; diverged 1 of 4)"; else how the runs failed.

    Where those that have learned something and the others are two clusters: "2 of 3 learned, median 93.00".

    Args:
        failed: how many of the runs failed in which way, where that is not as `ours_of` has it.
    """
    failed = failed or {how: record.get(how.replace(" ", "_"), 0) for how in WAYS}
    counts = [f"{way} {count} of {record['runs']}" for way, count in failed.items() if count]
    if not record["n"]:
        return "; ".join(counts) or ABSENT
    if record.get("median") is not None:
        said = f"{record['learned']} of {record['n']} learned, median {number(record['median'], decimals)}"
        return "; ".join([said, *counts, *remarks])
    about = "; ".join([f"n = {record['n']}", *counts, *remarks])
    return f"{number(record['mean'], decimals)} ± {number(record['std'], decimals)} ({about})"


def gap_texts(artifact: BesidePublished, record: Record, decimals: int) -> dict[str, str]:
    """By heading: the difference from the published number, and the gap to the baseline, such as "+1.00 (+0.34)" with
    the published one; the verdicts."""
    gap = signed(record["gap"], decimals)
    if not math.isnan(record["published_gap"]):
        gap = f"{gap} ({signed(record['published_gap'], decimals)})"
    texts = {"difference": signed(record["difference"], decimals), f"ours less our {baseline_label(artifact)}’s": gap}
    return texts | verdict_texts(record)


def verdict_texts(record: Record) -> dict[str, str]:
    return {"verdict": record.get("verdict") or ABSENT, "verdict on the value": record.get("value_verdict") or ABSENT}


# Whole


def table(
    artifact: BesidePublished,
    records: Sequence[Record],
    rows: Sequence[TextRow],
    notes: Iterable[str],
    about: str = "",
    others: Sequence[Record] = (),
    below: Iterable[str] = (),
) -> Table:
    """The table of rows of texts: a title that says where something deviates from the paper, and all notes.

    Args:
        notes: those of its own, after the scale.
        about: what else its title says.
        others: records of data alone, that nothing published is set beside.
        below: notes after those of the published file.
    """
    deviating = [bool(record["deviations"]) for record in records if record.get("runs") != 0]
    said = ", not comparable with the published numbers" if any(deviating) else ""
    title = title_of(artifact, about) + said + (" in some cells" if said and not all(deviating) else "")
    parts = dict.fromkeys(part for record in records for part in (record["deviations"] or "").split("; ") if part)
    scale = scale_note(artifact.configuration, artifact.tasks(), parts)
    extras = dict.fromkeys(record["label"] for record in records if record["extra"])
    own = [f"Not in the paper's table: {', '.join(extras)}."] if extras else []
    return Table.of(
        title, [scale, *notes, *own, *artifact.published.notes, *below], rows, [*records, *others], OPTIONAL
    )
