"""The forecast of a scale's cost, as a table of its artifacts, by a calibration."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabulate import tabulate

from hidden_dynamics.configuration import Configuration, Run
from hidden_dynamics.measurements.calibration import Calibration, Cost
from hidden_dynamics.results.run_files import RunFiles, is_finished

HEADINGS = {  # of the tables to read
    **{"artifact": "artifact", "task": "task"},
    **{"runs": "runs", "finished": "finished"},
    **{"gpu_hours": "GPU hours", "gpu_hours_left": "GPU hours left"},
    **{"core_hours": "core hours", "core_hours_left": "core hours left"},
    **{"longest_hours": "longest run, hours", "least_wall_hours_left": "wall of what is left, hours, at least"},
    **{"memory_bytes": "memory, GB", "gpu_memory_bytes": "GPU memory, GB"},
    **{"forecast_hours": "forecast, hours", "taken_hours": "taken, hours by their own clocks", "error": "error"},
}


@dataclass(frozen=True)
class Machine:
    """The resource that runs share: each takes one of `places`, which is `part` of a GPU, or so many cores."""

    places: int
    part: float
    on_gpu: bool = False

    def device_hours(self, seconds: Iterable[float]) -> float:
        return sum(seconds) * self.part / 3600

    def least_hours(self, seconds: Sequence[float]) -> float:
        """A lower bound of the wall time of any order of runs: all work over all places, or the longest run."""
        return max(sum(seconds) / self.places, max(seconds, default=0.0)) / 3600


def forecast(
    configuration: Configuration,
    calibration: Calibration,
    machines: Mapping[str, Machine],
    runs: Sequence[Run],
    runs_of: Mapping[str, Sequence[Run]],
) -> Iterator[dict[str, Any]]:
    """A row for each artifact made alone; then that of `runs`, the total, where shared runs count once.

    Hours are those of GPUs and of CPU cores, each of the runs on them, but `longest_hours` and `least_wall_hours_left`,
    which are on the wall; `_left` is what finished runs leave; memory is that of the largest run. The `machines`
    are those of the calibration's devices, and work side by side. A `UserError` where the calibration lacks a run.
    """
    finished = {run.id for run in runs if is_finished(configuration, run)}
    for name, shown in [*runs_of.items(), ("total", runs)]:
        costs = {run.id: calibration.of(run) for run in shown}
        left = [cost for run, cost in costs.items() if run not in finished]
        hours = {
            f"{'gpu' if machine.on_gpu else 'core'}_hours{end}": machine.device_hours(_seconds(some, device))
            for device, machine in machines.items()
            for end, some in (("", costs.values()), ("_left", left))
        }
        yield {
            "artifact": name,
            "runs": len(costs),
            "finished": len(costs) - len(left),
            **hours,
            "longest_hours": max((cost.seconds for cost in costs.values()), default=0.0) / 3600,
            "least_wall_hours_left": max(of.least_hours(_seconds(left, device)) for device, of in machines.items()),
            "memory_bytes": max((cost.memory for cost in costs.values()), default=0),
            "gpu_memory_bytes": max((cost.gpu_memory for cost in costs.values()), default=0),
        }


def taken(configuration: Configuration, calibration: Calibration, runs: Sequence[Run]) -> list[dict[str, Any]]:
    """A row for each task with finished runs: the hours that they were forecast, those that they took by their own
    clocks, on the wall, and the forecast's error, as a share."""
    hours: dict[str, list[tuple[float, float]]] = {}
    for run in runs:
        if is_finished(configuration, run):
            seconds = sum(RunFiles(Path(run.directory), run.epochs).record()["seconds"].values())
            hours.setdefault(run.task, []).append((calibration.of(run).seconds / 3600, seconds / 3600))
    sums = {task: [sum(own) for own in zip(*of, strict=True)] for task, of in hours.items()}
    return [
        {
            "task": task,
            "finished": len(hours[task]),
            "forecast_hours": said,
            "taken_hours": took,
            "error": said / took - 1,
        }
        for task, (said, took) in sums.items()
    ]


def _seconds(costs: Iterable[Cost], device: str) -> list[float]:
    return [cost.seconds for cost in costs if cost.device == device]


def as_markdown(
    configuration: Configuration,
    calibration: Calibration,
    machines: Mapping[str, Machine],
    rows: Sequence[Mapping[str, Any]],
    held: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The table, what it rests on, and what finished runs took, `held` (of `taken`)."""
    measured = len({cost.measured for cost in calibration.costs.values()})
    side_by_side = "; ".join(
        f"{calibration.processor if device == 'cpu' else device}, {calibration.side_by_side[device]} side by side "
        f"({machine.places} in the forecast)"
        for device, machine in machines.items()
    )
    notes = f"""- An artifact's row is for making it alone; the total counts once what artifacts share.
- What finished runs leave is left; a run that stopped on the way counts as a whole.
- The wall is that of the busiest device: its work shared by its places, or its longest run. No order is done sooner.
- Calibration: {side_by_side}; threads of a run: {calibration.threads}; {calibration.date}; {measured} runs measured.
- What is not counted, and the error: docs/forecast.md. A cluster is asked for {configuration.scale.mem_mb:,} MB a job.
"""
    text = f"# Forecast of the scale {configuration.scale_name}\n\n{_table(rows)}\n\n{notes}"
    return f"{text}\n## What finished runs took\n\n{_table(held)}\n" if held else text


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The columns of rows that have a heading; those of GPUs where there are some."""
    shown = [key for key in HEADINGS if key in rows[0] and (key != "gpu_memory_bytes" or "gpu_hours" in rows[0])]
    texts = [{HEADINGS[key]: _text(key, row[key]) for key in shown} for row in rows]
    alignment = ["left"] + ["right"] * (len(shown) - 1)
    return tabulate(texts, headers="keys", tablefmt="github", disable_numparse=True, colalign=alignment)


def _text(key: str, value: Any) -> str:
    """Bytes in GB, hours with three digits and without exponent, an error in percent."""
    if key == "error":
        return f"{value:+.0%}"
    if key.endswith("_bytes"):
        return f"{value / 1e9:.1f}"
    if "_hours" in key:
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.001 else "0"
    return value if isinstance(value, str) else f"{value:,}"
