"""The forecast as a table of artifacts, for people and for programs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.measurements.forecast.calibration import Calibration
from hidden_dynamics.measurements.forecast.jobs import Machine, Plan, bytes_of_data
from hidden_dynamics.measurements.forecast.queueing import wall_time

RENDERED = 120_000  # bytes of a table or figure in all its formats, summaries and logs


@dataclass(frozen=True)
class Row:
    """What an artifact costs if it is made alone, or `total`, where what artifacts share counts once.

    Hours are those of GPUs or of CPU cores; `_left` is what finished runs leave; memory is that of the largest job.
    """

    artifact: str
    runs: int
    finished: int
    device_hours: float
    device_hours_left: float
    wall_hours: float
    wall_hours_left: float
    disk_bytes: int
    memory_bytes: int
    gpu_memory_bytes: int


@dataclass(frozen=True)
class Forecast:
    rows: list[Row]
    total: Row
    adaptive_share: float  # of the device hours, those of solvers that choose their steps
    walls: dict[int, float]  # hours of the whole, by the number of GPUs or cores


def forecast(configuration: Configuration, calibration: Calibration, machine: Machine, plan: Plan) -> Forecast:
    rows = [_row(configuration, calibration, machine, plan, name, ends) for name, ends in plan.artifacts.items()]
    total = _row(configuration, calibration, machine, plan, "total", list(plan.jobs))
    adaptive = sum(cost.seconds for cost in plan.costs.values() if cost.adaptive)
    share = adaptive / max(sum(cost.seconds for cost in plan.costs.values()), 1e-9)
    return Forecast(rows, total, share, walls_of(machine, plan))


def walls_of(machine: Machine, plan: Plan) -> dict[int, float]:
    counts = (1, 2, 4, 8, 16, 32) if machine.gpus else (machine.cores,)
    walls = {}
    for count in counts:
        there = Machine(machine.cores, machine.threads, count if machine.gpus else 0, machine.runs_per_gpu)
        walls[count] = wall_time(plan.left.values(), there.capacity) / 3600
    return walls


def _row(
    configuration: Configuration,
    calibration: Calibration,
    machine: Machine,
    plan: Plan,
    name: str,
    ends: Sequence[str],
) -> Row:
    needed = plan.needed(ends)
    jobs, left = [plan.jobs[job] for job in needed], [plan.left[job] for job in needed if job in plan.left]
    runs = [run for job in needed for run in plan.runs.get(job, [])]
    costs = [plan.costs[run.id] for run in runs]
    data = bytes_of_data(configuration, runs, calibration).values()
    places = machine.gpus * machine.runs_per_gpu or machine.cores // min(machine.threads, machine.cores)
    transient = sum(sorted((cost.transient for cost in costs), reverse=True)[:places])
    rendered = sum(job.startswith("render") for job in needed) * RENDERED
    return Row(
        artifact=name,
        runs=len(runs),
        finished=sum(run.id in plan.finished for run in runs),
        device_hours=machine.device_hours(_training(jobs)),
        device_hours_left=machine.device_hours(_training(left)),
        wall_hours=wall_time(jobs, machine.capacity) / 3600,
        wall_hours_left=wall_time(left, machine.capacity) / 3600,
        disk_bytes=sum(cost.kept for cost in costs) + transient + sum(data) + rendered,
        memory_bytes=max((cost.memory for cost in costs), default=0),
        gpu_memory_bytes=max((cost.gpu_memory for cost in costs), default=0),
    )


def _training(jobs: Iterable[Any]) -> float:
    """Seconds of the jobs that hold the device: trainings and measurements."""
    return sum(job.seconds for job in jobs if job.name.startswith(("train ", "measure ")))


def as_csv(result: Forecast) -> list[dict[str, Any]]:
    return [asdict(row) for row in (*result.rows, result.total)]


def as_markdown(configuration: Configuration, calibration: Calibration, machine: Machine, result: Forecast) -> str:
    """The table and what it rests on, lines of at most 120 characters."""
    unit = "GPU hours" if machine.gpus else "core hours"
    gpu = ["GPU memory"] if machine.gpus else []
    head = ["artifact", "runs", "finished", unit, "left", "wall", "left", "disk", "memory", *gpu]
    body = [
        [
            row.artifact,
            f"{row.runs:,}",
            f"{row.finished:,}",
            hours(row.device_hours),
            hours(row.device_hours_left),
            duration(row.wall_hours),
            duration(row.wall_hours_left),
            size(row.disk_bytes),
            size(row.memory_bytes) if row.runs else "–",
            *([size(row.gpu_memory_bytes) if row.runs else "–"] if gpu else []),
        ]
        for row in (*result.rows, result.total)
    ]
    lines = [f"# Forecast of the scale {configuration.scale_name}", "", *_table(head, body), ""]
    return "\n".join([*lines, *_notes(configuration, calibration, machine, result)]) + "\n"


def _notes(configuration: Configuration, calibration: Calibration, machine: Machine, result: Forecast) -> list[str]:
    about, total = calibration.about, result.total
    alone = sum(row.device_hours for row in result.rows)
    where = (
        f"{machine.gpus} GPUs, {machine.runs_per_gpu} runs on each" if machine.gpus else f"{machine.cores} CPU cores"
    )
    hour = "GPU hours" if machine.gpus else "core hours"
    device = about["processor"] if about["device"] == "cpu" else about["device"]
    name = f" stored as {calibration.name}" if calibration.name else ""
    guessed = [group for group in calibration.groups.values() if group["data"] == "stand-in"]
    partial = [group for group in calibration.groups.values() if not group["iterations"]]
    notes = [
        f"The row of an artifact is for making it alone: all jobs that it needs. The artifacts together would take "
        f"{hours(alone)} {hour}; what they share counts once in the total, {hours(total.device_hours)}.",
        f"Wall times are for {where}. `left` is what finished runs leave to do.",
        f"Calibration{name}: {device}, {about['threads']} threads a run, {about['side_by_side']} side by side, torch "
        f"{about['torch']}, {about['date']}; {len(calibration.groups)} configurations in {about['seconds']:.0f} s, "
        f"{len(guessed)} of them on random arrays with the data's shapes, {len(partial)} on parts of a batch.",
        "Downloads are counted in bytes, not in time. Diverging runs are shorter. Expect 25 %, and more of runs that "
        "were calibrated on parts of a batch.",
    ]
    if machine.gpus:
        walls = ", ".join(f"{count}: {duration(wall)}" for count, wall in result.walls.items())
        notes.insert(2, f"What is left, by the number of GPUs: {walls}.")
    if about["clock"] == "cpu" and about["wall_per_cpu"] > 1.15:
        notes.append(
            f"The machine did other things during the calibration: {about['wall_per_cpu']:.1f} seconds of the wall to "
            "one of CPU time. The forecast is in CPU time: that of a machine that does nothing else."
        )
    if result.adaptive_share > 0.005:
        notes.append(
            f"{result.adaptive_share:.0%} of the training time is that of ODE solvers, at the function evaluations of "
            "untrained networks. Solvers with adaptive steps take more as training goes: if they double, so does it."
        )
    most = configuration.scale["mem_mb"] * 1_000_000
    if total.memory_bytes > most:
        notes.append(
            f"The largest job takes {size(total.memory_bytes)}, more than the {size(most)} that the scale asks of a "
            "cluster (mem_mb in config/scales.yaml)."
        )
    return [f"- {note}" for note in notes]


def _table(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in (head, *body)) for column in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        first, *others = (cell.ljust(widths[0]) if not n else cell.rjust(widths[n]) for n, cell in enumerate(cells))
        return f"| {' | '.join([first, *others])} |"

    ruler = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return [line(head), line(ruler), *(line(row) for row in body)]


def hours(value: float) -> str:
    """Three digits, no exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.001 else "0"


def duration(value: float) -> str:
    """Hours in the unit that suits."""
    units: Mapping[str, float] = {"y": 24 * 365.25, "d": 24, "h": 1, "min": 1 / 60}
    for unit, length in units.items():
        if value >= 1.5 * length:
            return f"{value / length:,.0f} {unit}" if value >= 10 * length else f"{value / length:.1f} {unit}"
    return f"{value * 3600:.0f} s"


def size(count: float) -> str:
    """Bytes with a decimal prefix."""
    for unit, length in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if count >= length:
            return f"{count / length:,.0f} {unit}" if count >= 10 * length else f"{count / length:.1f} {unit}"
    return f"{count / 1e3:.0f} kB"
