"""The forecast as a table of artifacts, for people and for programs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tabulate import tabulate

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Run
from hidden_dynamics.measurements.forecast.calibration import Calibration, Cost, cost_of
from hidden_dynamics.results.run_files import is_finished

DURATIONS = {"y": 24 * 365.25, "d": 24.0, "h": 1.0, "min": 1 / 60, "s": 1 / 3600}  # in hours
SIZES = {"TB": 1e12, "GB": 1e9, "MB": 1e6, "kB": 1e3}


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


@dataclass(frozen=True)
class Forecast:
    rows: list[dict[str, Any]]
    total: dict[str, Any]
    adaptive_share: float  # of all hours, those of solvers that choose their steps


def forecast(
    configuration: Configuration,
    calibration: Calibration,
    machine: Machine,
    runs: Sequence[Run],
    runs_of: Mapping[str, Sequence[Run]],
) -> Forecast:
    """The costs of `runs`, all that it is about, and of those of each artifact; a `UserError` where the calibration
    lacks a measurement."""
    costs = {run.id: cost_of(run, calibration.of(run)) for run in runs}
    finished = {run.id for run in runs if is_finished(configuration, run)}
    rows = [
        _row(name, machine, {run.id: costs[run.id] for run in shown}, finished)
        for name, shown in [*runs_of.items(), ("total", runs)]
    ]
    adaptive = sum(cost.seconds for cost in costs.values() if cost.adaptive)
    share = adaptive / max(sum(cost.seconds for cost in costs.values()), 1e-9)
    return Forecast(rows[:-1], rows[-1], share)


def _row(name: str, machine: Machine, costs: Mapping[str, Cost], finished: set[str]) -> dict[str, Any]:
    """The cost of an artifact made alone; or of all, `total`, where shared runs count once.

    Hours are those of GPUs or of CPU cores, but `longest_hours` and `least_wall_hours_left`, which are on the wall;
    `_left` is what finished runs leave; memory is that of the largest run.
    """
    seconds = [cost.seconds for cost in costs.values()]
    left = [cost.seconds for run, cost in costs.items() if run not in finished]
    return {
        "artifact": name,
        "runs": len(costs),
        "finished": len(costs.keys() & finished),
        "device_hours": machine.device_hours(seconds),
        "device_hours_left": machine.device_hours(left),
        "longest_hours": max(seconds, default=0.0) / 3600,
        "least_wall_hours_left": machine.least_hours(left),
        "memory_bytes": max((cost.memory for cost in costs.values()), default=0),
        "gpu_memory_bytes": max((cost.gpu_memory for cost in costs.values()), default=0),
    }


def as_markdown(configuration: Configuration, calibration: Calibration, machine: Machine, result: Forecast) -> str:
    """The table and what it rests on."""
    unit = "GPU hours" if machine.on_gpu else "core hours"
    rows = [
        {
            "artifact": row["artifact"],
            "runs": f"{row['runs']:,}",
            "finished": f"{row['finished']:,}",
            unit: hours(row["device_hours"]),
            "left": hours(row["device_hours_left"]),
            "longest run": in_units(row["longest_hours"], DURATIONS),
            "wall of what is left": f"≥ {in_units(row['least_wall_hours_left'], DURATIONS)}",
            "memory": in_units(row["memory_bytes"], SIZES),
            **({"GPU memory": in_units(row["gpu_memory_bytes"], SIZES)} if machine.on_gpu else {}),
        }
        for row in (*result.rows, result.total)
    ]
    notes = "\n".join(f"- {note}" for note in _notes(configuration, calibration, machine, result))
    alignment = ["left"] + ["right"] * (len(rows[0]) - 1)
    table = tabulate(rows, headers="keys", tablefmt="github", disable_numparse=True, colalign=alignment)
    return f"# Forecast of the scale {configuration.scale_name}\n\n{table}\n\n{notes}\n"


def _notes(configuration: Configuration, calibration: Calibration, machine: Machine, result: Forecast) -> list[str]:
    about, groups = calibration.about, calibration.groups.values()
    notes = [
        "An artifact's row is for making it alone; the total counts once what artifacts share. `left` is what finished "
        "runs leave to do; one that stopped on the way counts as a whole. Hours are those that runs hold a device, "
        "which `runs_per_gpu` runs share. Memory is that of the largest run.",
        f"No order of the runs is done sooner than the wall of what is left: all work shared by {machine.places} at "
        "a time, or the longest run.",
        f"Calibration: {about.processor if about.device == 'cpu' else about.device}, threads of a run: "
        f"{about.threads}, {about.side_by_side} side by side, torch {about.torch}, {about.date}; {len(groups)} "
        f"configurations in {about.seconds:.0f} s, {sum(group.data == 'stand-in' for group in groups)} of them on "
        "random arrays with the data's shapes.",
        "Downloads, starting processes, preparing data, measuring costs and drawing are not counted. Diverging runs "
        "are shorter. Expect an error of 25 %, and more where the machine was not at rest.",
    ]
    if result.adaptive_share > 0.005:
        notes.append(
            f"{result.adaptive_share:.0%} of the training time is that of ODE solvers, at the function evaluations of "
            "untrained networks. Solvers with adaptive steps take more as training goes: if they double, so does it."
        )
    needed, most = result.total["memory_bytes"], configuration.scale.mem_mb * 1_000_000
    if needed > most:
        notes.append(
            f"The largest run takes {in_units(needed, SIZES)}, more than the {in_units(most, SIZES)} that the scale "
            "asks of a cluster (mem_mb in config/scales.yaml)."
        )
    return notes


def hours(value: float) -> str:
    """Three digits, no exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.001 else "0"


def in_units(value: float, units: Mapping[str, float]) -> str:
    """In the largest of the units, given in their order, of which there is one and a half or more; else the last."""
    unit, length = next((item for item in units.items() if value >= 1.5 * item[1]), [*units.items()][-1])
    return f"{value / length:,.0f} {unit}" if value >= 10 * length or not value else f"{value / length:.1f} {unit}"
