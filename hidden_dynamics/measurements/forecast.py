"""The forecast of a scale's cost, as a table of its artifacts, by a calibration."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tabulate import tabulate

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Run
from hidden_dynamics.measurements.calibration import Calibration
from hidden_dynamics.results.run_files import is_finished


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
    machine: Machine,
    runs: Sequence[Run],
    runs_of: Mapping[str, Sequence[Run]],
) -> Iterator[dict[str, Any]]:
    """A row for each artifact made alone; then that of `runs`, the total, where shared runs count once.

    Hours are those of GPUs or of CPU cores, but `longest_hours` and `least_wall_hours_left`, which are on the wall;
    `_left` is what finished runs leave; memory is that of the largest run. A `UserError` where the calibration lacks a
    run.
    """
    finished = {run.id for run in runs if is_finished(configuration, run)}
    for name, shown in [*runs_of.items(), ("total", runs)]:
        costs = {run.id: calibration.of(run) for run in shown}
        of_all = [cost.seconds for cost in costs.values()]
        left = [cost.seconds for run, cost in costs.items() if run not in finished]
        yield {
            "artifact": name,
            "runs": len(of_all),
            "finished": len(of_all) - len(left),
            "device_hours": machine.device_hours(of_all),
            "device_hours_left": machine.device_hours(left),
            "longest_hours": max(of_all, default=0.0) / 3600,
            "least_wall_hours_left": machine.least_hours(left),
            "memory_bytes": max((cost.memory for cost in costs.values()), default=0),
            "gpu_memory_bytes": max((cost.gpu_memory for cost in costs.values()), default=0),
        }


def as_markdown(
    configuration: Configuration, calibration: Calibration, machine: Machine, rows: Sequence[Mapping[str, Any]]
) -> str:
    """The table and what it rests on."""
    gpu = {"gpu_memory_bytes": "GPU memory, GB"} if machine.on_gpu else {}
    heads = {
        **{"artifact": "artifact", "runs": "runs", "finished": "finished"},
        **{"device_hours": f"{'GPU' if machine.on_gpu else 'core'} hours", "device_hours_left": "left"},
        **{"longest_hours": "longest run, hours", "least_wall_hours_left": "wall of what is left, hours, at least"},
        **{"memory_bytes": "memory, GB", **gpu},
    }
    texts = [{head: _text(key, row[key]) for key, head in heads.items()} for row in rows]
    measured = len({cost.measured for cost in calibration.costs.values()})
    notes = f"""- An artifact's row is for making it alone; the total counts once what artifacts share.
- What finished runs leave is left; a run that stopped on the way counts as a whole.
- The wall is all work shared by {machine.places} at a time, or the longest run: no order of the runs is done sooner.
- Calibration: {calibration.device if machine.on_gpu else calibration.processor}, threads of a run: \
{calibration.threads}, {calibration.side_by_side} side by side, {calibration.date}; {measured} runs measured.
- What is not counted, and the error: docs/forecast.md. A cluster is asked for {configuration.scale.mem_mb:,} MB a job.
"""
    alignment = ["left"] + ["right"] * (len(heads) - 1)
    table = tabulate(texts, headers="keys", tablefmt="github", disable_numparse=True, colalign=alignment)
    return f"# Forecast of the scale {configuration.scale_name}\n\n{table}\n\n{notes}"


def _text(key: str, value: Any) -> str:
    """Bytes in GB, hours with three digits and without exponent."""
    if key.endswith("_bytes"):
        return f"{value / 1e9:.1f}"
    if "_hours" in key:
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.001 else "0"
    return value if isinstance(value, str) else f"{value:,}"
