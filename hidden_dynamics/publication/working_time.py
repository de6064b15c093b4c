"""The time that making the results took: when it began and ended, and how long something was at work between.

Of the time on the wall, the benchmark of a job is the only witness: Snakemake dates a run's files by the end of their
job, and a job that runs again writes a new benchmark and restores its finished runs from their checkpoints. The runs'
own clocks, which go on where a run is resumed, tell all of their training, but not when it was.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from hidden_dynamics.errors import UserError

Span = tuple[float, float]  # from and until, in seconds since 1970
CPU = "cpu"
NOT_OF_RESULTS = ("train-", "calibrate")  # of runs that may not be configured any more, and the forecast's


@dataclass(frozen=True)
class WorkingTime:
    """
    Attributes:
        start, end: of the first and the last job, each as it last ran, in UTC.
        wall_hours: during which such a job was at work: pauses between two commands do not count.
        device_hours: of all runs' training and evaluation, by their own clocks: times their threads on a CPU, times the
            part that a run has on a GPU. As the forecast counts them.
        earlier_hours: those of them, at least, that were before the job of their run last ran; no file says when.
        computing: the share of their cores' time in which training jobs on CPUs computed; where it is low, they waited
            for what else ran on the machine. None where no job says.
    """

    start: datetime
    end: datetime
    wall_hours: float
    device_hours: float
    earlier_hours: float
    computing: float | None


class Took(NamedTuple):
    """Seconds of a job: on the wall, and of its processes on CPUs."""

    wall: float = 0.0
    cpu: float = 0.0


def working_time(logs: Path, jobs: Mapping[str, Sequence[Mapping[str, Any]]], runs_per_gpu: int) -> WorkingTime:
    """By the dates of the jobs' benchmarks: `cp -a` keeps them.

    Args:
        logs: the directory of the benchmarks. A training job's counts where it is one of `jobs`.
        jobs: the records of the runs of each training job, by its name.
        runs_per_gpu: runs that share a GPU.

    Raises:
        UserError: no job has a benchmark.
    """
    others = (path.stem for path in logs.glob("*.tsv") if not path.stem.startswith(NOT_OF_RESULTS))
    took = {name: _benchmarked(logs / f"{name}.tsv") for name in {*others, *jobs}}
    spans = _merged(_until(logs / f"{name}.tsv", job.wall) for name, job in took.items() if job.wall)
    if not spans:
        raise UserError(f"{logs} has no benchmark of a job: run snakemake again, which writes them.", file=logs)
    done = {name: sum(_seconds(run, runs_per_gpu) for run in runs) for name, runs in jobs.items()}
    dated = {name: took[name].wall * max(map(_held, runs)) for name, runs in jobs.items()}
    on_cpus = [name for name, runs in jobs.items() if took[name].cpu and all(run["device"] == CPU for run in runs)]
    held = sum(dated[name] for name in on_cpus)
    return WorkingTime(
        start=_moment(spans[0][0]),
        end=_moment(spans[-1][1]),
        wall_hours=sum(end - start for start, end in spans) / 3600,
        device_hours=sum(done.values()) / 3600,
        earlier_hours=sum(max(0.0, done[name] - dated[name]) for name in jobs) / 3600,
        computing=sum(took[name].cpu for name in on_cpus) / held if held else None,
    )


def _seconds(run: Mapping[str, Any], runs_per_gpu: int) -> float:
    """Of a run, times its threads or its part of a GPU."""
    part = run["threads"] if run["device"] == CPU else 1 / runs_per_gpu
    return sum(run["seconds"].values()) * part


def _held(run: Mapping[str, Any]) -> int:
    """Cores or GPUs that a run's job holds: on a CPU its runs come one after another, a GPU they share."""
    return run["threads"] if run["device"] == CPU else 1


def _until(path: Path, took: float) -> Span:
    """The time that was at work on a file: it has the date at which it was finished."""
    end = path.stat().st_mtime
    return end - took, end


def _benchmarked(path: Path) -> Took:
    """The seconds that a job took; none of one without a benchmark, or of a moment, which leaves it empty."""
    if not path.is_file():
        return Took()
    with path.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle, delimiter="\t"))
    found = [[row.get(key) for row in rows] for key in ("s", "cpu_time")]
    return Took(*(sum(float(text) for text in texts if text not in (None, "", "-", "NA")) for texts in found))


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
