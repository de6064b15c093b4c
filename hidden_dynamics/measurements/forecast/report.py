"""The forecast as a table of artifacts, for people and for programs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tabulate import tabulate

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Run
from hidden_dynamics.measurements.forecast.calibration import Calibration, seconds_of
from hidden_dynamics.results.run_files import is_finished


@dataclass(frozen=True)
class Machine:
    """The resource that runs share: each takes one of `places`, which is `part` of a GPU, or so many cores."""

    places: int
    part: float
    on_gpu: bool = False

    def device_hours(self, seconds: Iterable[float]) -> float:
        return sum(seconds) * self.part / 3600

    def least_hours(self, seconds: Iterable[float]) -> float:
        """A lower bound of the wall time of any order of runs: all work over all places, or the longest run."""
        seconds = list(seconds)
        return max(sum(seconds) / self.places, max(seconds, default=0.0)) / 3600


def forecast(
    configuration: Configuration,
    calibration: Calibration,
    machine: Machine,
    runs: Sequence[Run],
    runs_of: Mapping[str, Sequence[Run]],
) -> list[dict[str, Any]]:
    """A row for each artifact made alone; then that of `runs`, all that the forecast is about: the total, where shared
    runs count once. A `UserError` where the calibration lacks a measurement.

    Hours are those of GPUs or of CPU cores, but `longest_hours` and `least_wall_hours_left`, which are on the wall;
    `_left` is what finished runs leave; memory is that of the largest run.
    """
    seconds = {run.id: seconds_of(run, calibration.of(run)) for run in runs}
    finished = {run.id for run in runs if is_finished(configuration, run)}
    rows = []
    for name, shown in [*runs_of.items(), ("total", runs)]:
        groups, left = [calibration.of(run) for run in shown], [run for run in shown if run.id not in finished]
        of_all, of_left = ([seconds[run.id] for run in some] for some in (shown, left))
        rows.append(
            {
                "artifact": name,
                "runs": len(shown),
                "finished": len(shown) - len(left),
                "device_hours": machine.device_hours(of_all),
                "device_hours_left": machine.device_hours(of_left),
                "longest_hours": max(of_all, default=0.0) / 3600,
                "least_wall_hours_left": machine.least_hours(of_left),
                "memory_bytes": max((group.memory_bytes for group in groups), default=0),
                "gpu_memory_bytes": max((group.gpu_memory_bytes for group in groups), default=0),
            }
        )
    return rows


def as_markdown(
    configuration: Configuration, calibration: Calibration, machine: Machine, rows: Sequence[Mapping[str, Any]]
) -> str:
    """The table and what it rests on."""
    unit, about = "GPU hours" if machine.on_gpu else "core hours", calibration.about
    texts = [
        {
            "artifact": row["artifact"],
            "runs": f"{row['runs']:,}",
            "finished": f"{row['finished']:,}",
            unit: hours(row["device_hours"]),
            "left": hours(row["device_hours_left"]),
            "longest run, hours": hours(row["longest_hours"]),
            "wall of what is left, hours": f"≥ {hours(row['least_wall_hours_left'])}",
            "memory, GB": f"{row['memory_bytes'] / 1e9:.1f}",
            **({"GPU memory, GB": f"{row['gpu_memory_bytes'] / 1e9:.1f}"} if machine.on_gpu else {}),
        }
        for row in rows
    ]
    notes = [
        "An artifact's row is for making it alone; the total counts once what artifacts share. `left` is what finished "
        "runs leave to do; one that stopped on the way counts as a whole. Memory is that of the largest run.",
        f"No order of the runs is done sooner than the wall of what is left: all work shared by {machine.places} at "
        "a time, or the longest run.",
        f"Calibration: {about.device if machine.on_gpu else about.processor}, threads of a run: {about.threads}, "
        f"{about.side_by_side} side by side, {about.date}; {len(calibration.groups)} configurations.",
        f"What is not counted, and the error: docs/forecast.md. A cluster is asked for {configuration.scale.mem_mb:,} "
        "MB a job (mem_mb in config/scales.yaml).",
    ]
    alignment = ["left"] + ["right"] * (len(texts[0]) - 1)
    table = tabulate(texts, headers="keys", tablefmt="github", disable_numparse=True, colalign=alignment)
    listed = "\n".join(f"- {note}" for note in notes)
    return f"# Forecast of the scale {configuration.scale_name}\n\n{table}\n\n{listed}\n"


def hours(value: float) -> str:
    """Three digits, no exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.001 else "0"
