"""A table of results: our numbers over seeds, the published ones, and a test of the published ordering by sign."""

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from hidden_dynamics.artifacts.comparison import Record, gaps, size_of, standing
from hidden_dynamics.artifacts.departure_notes import departures_of
from hidden_dynamics.artifacts.kinds.results_table import ResultsTable
from hidden_dynamics.artifacts.kinds.results_table.layout import layout
from hidden_dynamics.artifacts.kinds.results_table.limits import NOTE, limits
from hidden_dynamics.artifacts.kinds.results_table.naive_rows import NOTE as NAIVE_NOTE
from hidden_dynamics.artifacts.kinds.results_table.naive_rows import naive
from hidden_dynamics.artifacts.kinds.results_table.notes import notes, title
from hidden_dynamics.artifacts.notes import effects_taken
from hidden_dynamics.artifacts.row_verdicts import with_verdicts
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import Table
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.configuration.schema import Metric
from hidden_dynamics.errors import UserError
from hidden_dynamics.papers.published import NOTHING, published_task, with_originals
from hidden_dynamics.results.naive import BY_CHANCE, in_two_clusters, margin, naive_of
from hidden_dynamics.results.statistics import mean_and_std
from hidden_dynamics.results.summary import measured_of

Rows = Sequence[dict[str, str]]


def draw(artifact: ResultsTable, sources: Sources) -> Table:
    """The paper's rows in its order, then the models of the user's own, the naive baselines, and the limit where it is
    known.

    Raises:
        UserError: the summary has no runs, or is of another artifact, scale or metric; a finished run that reports
            lacks one of the table's metrics; or tasks that the table shows have the same title.
    """
    _check(artifact, sources)
    records = _compared(artifact, _collected(artifact, sources.summary))
    records = with_verdicts(artifact, records, sources.verdicts)
    others = {NAIVE_NOTE: naive(artifact, sources.summary), NOTE: limits(artifact, sources.summary)}
    added = [record for found in others.values() for record in found]
    rows = layout(artifact, records, added)
    said = title(artifact, sources.summary, records)
    lines = [*notes(artifact, sources.summary, records), *(note for note, found in others.items() if found)]
    return Table.of(said, lines, rows, [*records, *added])


def _check(artifact: ResultsTable, sources: Sources) -> None:
    if not sources.summary:
        raise sources.wrong("summary", f"{artifact.name} has no runs")
    metrics = ["", *_choosing(artifact, sources.summary)]  # a run that reports nothing has no metric
    sources.check("summary", artifact=[artifact.name], scale=[artifact.configuration.scale_name], metric=metrics)
    for row in sources.summary:
        measured = measured_of(row)
        lacking = [metric for metric in artifact.metrics_on(row["task"]) if not _is_number(measured.get(metric))]
        if row["status"] == "finished" and row["metric"] and lacking:
            raise sources.wrong("summary", f"{row['directory']} has no {', '.join(lacking)}", "measured")


def _choosing(artifact: ResultsTable, summary: Rows) -> list[str]:
    """The metrics that may have chosen a run's evaluation: the table's own, and those that a reading of runs sets."""
    own = artifact.published.choosing or artifact.metrics()
    effects = effects_taken(artifact.configuration, summary)
    chosen = [effect.training.get("report", {}).get("metric") for effect in effects]
    return list(dict.fromkeys([*own, *filter(None, chosen)]))


def _is_number(value: Any) -> bool:
    """True of a measured value; infinity is one, because a perplexity is the exponential of a loss."""
    return isinstance(value, int | float) and not math.isnan(value)


def _collected(artifact: ResultsTable, summary: Rows) -> list[Record]:
    """A record for each shown row, task and metric: our numbers over seeds, and the published ones."""
    listed = dict.fromkeys(artifact.shown())
    own = {(cell.model, cell.size) for cell in listed}
    found: dict[Cell, list[dict[str, str]]] = {}
    for row in summary:
        found.setdefault(Cell(row["task"], row["model"], size_of(row["paper_size"])), []).append(row)
    extras = dict.fromkeys((cell.model, cell.size) for cell in found if (cell.model, cell.size) not in own)
    labels = {row["model"]: row["label"] for row in summary}
    records = []
    for cell in [*listed, *(Cell(task, *extra) for extra in extras for task in artifact.settings.tasks)]:
        label = labels.get(cell.model) or artifact.configuration.models[cell.model].label
        is_extra = (cell.model, cell.size) in extras
        about = {"model": cell.model, "label": label, "extra": is_extra, "paper_size": cell.size}
        runs = found.get(cell, [])
        records += [_record(artifact, about, cell.task, name, runs) for name in artifact.metrics_on(cell.task)]
    return records


def _record(artifact: ResultsTable, about: Record, task: str, metric: str, runs: Rows) -> Record:
    configuration = artifact.configuration
    theirs = published_task(configuration, task)
    return {
        "artifact": artifact.name,
        "scale": configuration.scale_name,
        "task": task,
        "published_task": theirs,
        **about,
        "metric": metric,
        **_ours(runs, metric, configuration.metrics[metric]),
        **_theirs(artifact, about, theirs, metric),
        **_data(artifact, runs),
    }


def _ours(runs: Rows, metric: str, about: Metric) -> Record:
    """Over seeds the mean and deviation, or the median of those that have learned something, where the others are a
    cluster apart."""
    finished = [row for row in runs if row["status"] == "finished"]
    measured = [measured_of(row).get(metric, math.inf) * about.factor for row in finished]
    values = [value for value in measured if math.isfinite(value)]
    margins = [margin(naive_of(row), measured_of(row), metric, about.sign) for row in finished]
    learned = [value for value, ahead in zip(measured, margins, strict=True) if ahead is not None and ahead > BY_CHANCE]
    mixed = in_two_clusters(margins)
    mean, std = (math.nan, math.nan) if mixed else mean_and_std(values)
    return {
        "size": size_of(_shared(runs, "size") or ""),
        "parameters": _shared(runs, "parameters"),
        "runs": len(runs),
        "n": len(values),
        "diverged": len(runs) - len(finished),
        "not_finite": len(measured) - len(values),
        "learned": None if None in margins else len(learned),
        "mean": mean,
        "std": std,
        "median": statistics.median(learned) if mixed else None,
        "chosen_by": " ".join(sorted({row["metric"] for row in finished} - {""})),
        "seeds": " ".join(sorted({row["seed"] for row in runs}, key=int)),
        **{name: " | ".join(sorted({row[name] for row in runs})) for name in ("readings", "device", "precision")},
    }


def _theirs(artifact: ResultsTable, about: Record, task: str, metric: str) -> Record:
    row = artifact.published.row(about["model"], about["paper_size"])
    own = row.values.get(task, {}).get(metric) if row else None
    quoted = row.literature.get(task, {}).get(metric, []) if row else []
    decimals = artifact.configuration.metrics[metric].decimals
    return {
        "published_parameters": row.parameters_on(task) if row else None,
        "published_mean": own.mean if own else None,
        "published_std": own.std if own else None,
        "published_quoted": own.quoted if own else None,
        "published_literature": "; ".join(f"{item.value:.{decimals}f} {item.keys}" for item in quoted),
        "published_only_in": (row.only_in if row else None) or "",
    }


def _data(artifact: ResultsTable, runs: Rows) -> Record:
    """The runs' data, what they stand in for, and all in which the runs depart from the paper."""
    originals = with_originals(artifact.configuration, artifact.paper, runs)
    return {
        "dataset": _shared(runs, "dataset"),
        "dataset_title": _shared(runs, "dataset_title"),
        "stand_in_for": _shared(originals, "stand_in_for") or None,
        "departures": departures_of(artifact, runs),
    }


def _shared(runs: Rows, column: str) -> str | None:
    """The value that all of a cell's runs have; None without runs."""
    values = list(dict.fromkeys(row[column] for row in runs))
    if len(values) > 1:
        cell = f"{runs[0]['task']}, {runs[0]['label']}"
        raise UserError(f"{cell}: its runs differ in {column} ({', '.join(values)}): run snakemake again.", key=column)
    return values[0] if values else None


def _compared(artifact: ResultsTable, records: Sequence[Record]) -> list[Record]:
    """Add how each stands to the published number, to the baseline and, by rank, to the rows of its size, or to all."""
    shared = ("task", "metric") if artifact.published.across_sizes else ("task", "metric", "paper_size")
    compared = []
    for record in records:
        peers = [other for other in records if all(other[column] == record[column] for column in shared)]
        baseline = next((peer for peer in peers if peer["model"] == artifact.published.baseline), None)
        compared.append(record | gaps(artifact, record, baseline) | _ranks(artifact, record, peers))
    return compared


def _ranks(artifact: ResultsTable, record: Record, peers: Sequence[Record]) -> Record:
    """Its rank and the published one among the paper's rows that ran and have a published number.

    Ours are ranked by their means, behind those of which fewer runs failed or beat no naive baseline (worst-rank
    scores: Lachin, Controlled Clinical Trials 20, 1999); a model of which no run has a number is last. There is none
    where one departs from the paper.
    """
    ranked = [peer for peer in peers if _is_ranked(artifact, peer)]
    if not _is_ranked(artifact, record) or any(peer["departures"] for peer in ranked):
        return {"rank": None, "published_rank": None, "ranked": None}
    sign = artifact.configuration.metrics[record["metric"]].sign
    return {
        "rank": _rank(_score(record, sign), [_score(peer, sign) for peer in ranked]),
        "published_rank": _rank(
            (sign * standing(artifact, record),), [(sign * standing(artifact, peer),) for peer in ranked]
        ),
        "ranked": len(ranked),
    }


def _is_ranked(artifact: ResultsTable, record: Record) -> bool:
    return bool(record["runs"]) and not record["extra"] and not math.isnan(standing(artifact, record))


def _score(record: Record, sign: int) -> tuple[float, float]:
    """The larger, the better: fewer runs without a number first, then the mean."""
    if not record["n"]:
        return -math.inf, 0.0
    nothing = 0 if record["learned"] is None else record["n"] - record["learned"]
    middle = record["mean"] if record["median"] is None else record["median"]
    return -(record["diverged"] + record["not_finite"] + nothing), sign * middle


def _rank(score: tuple[float, ...], scores: Iterable[tuple[float, ...]]) -> int:
    """1 for the best; differences that are rounding are none."""
    return 1 + sum(_is_ahead(other, score) for other in scores)


def _is_ahead(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    differing = (a > b for a, b in zip(one, other, strict=True) if a != b and not abs(a - b) <= NOTHING)
    return next(differing, False)
