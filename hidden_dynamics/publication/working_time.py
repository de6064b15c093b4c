"""The time that making the results took: when it began and ended, and how long something was at work between."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hidden_dynamics.results.seals import RECORD

Span = tuple[float, float]  # from and until, in seconds since 1970


@dataclass(frozen=True)
class WorkingTime:
    """
    Attributes:
        start, end: of the first and the last job or run, in UTC.
        wall_hours: during which a job or a run was at work: pauses between two commands do not count.
        core_hours: of all runs' training and evaluation, by their own clocks, times their threads.
    """

    start: datetime
    end: datetime
    wall_hours: float
    core_hours: float


def working_time(logs: Path, records: Mapping[Path, Mapping[str, Any]]) -> WorkingTime:
    """By the files' own dates: `cp -a` keeps them. Of a job that ran again, the last time counts; of a run, all of it.

    Args:
        logs: the directory of the jobs' benchmarks.
        records: those of the runs by their directories.
    """
    seconds = {path: sum(record["seconds"].values()) for path, record in records.items()}
    spans = [_until(path / RECORD, took) for path, took in seconds.items()]
    spans += [_until(path, _benchmarked(path)) for path in sorted(logs.glob("*.tsv"))]
    merged = _merged(spans)
    threads = sum(took * records[path]["threads"] for path, took in seconds.items())
    return WorkingTime(
        start=_moment(merged[0][0]),
        end=_moment(merged[-1][1]),
        wall_hours=sum(end - start for start, end in merged) / 3600,
        core_hours=threads / 3600,
    )


def _until(path: Path, took: float) -> Span:
    """The time that was at work on a file: it has the date at which it was finished."""
    end = path.stat().st_mtime
    return end - took, end


def _benchmarked(path: Path) -> float:
    """The seconds that a job took; none of one that is being written, or that a job of a moment left empty."""
    with path.open(encoding="utf-8", newline="") as handle:
        found = [row["s"] for row in csv.DictReader(handle, delimiter="\t")]
    return sum(float(text) for text in found if text not in ("", "-", "NA"))


def _merged(spans: Iterable[Span]) -> list[Span]:
    """The same time without overlaps, in its order."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(int(seconds), UTC)
