"""The forecast held to real runs: seconds of each training, of each job and of the whole.

    python benchmarks/forecast.py [--cores 2] [--output benchmarks/results/forecast.csv]
    python benchmarks/forecast.py --results results/demo [--calibration results/demo/calibration.json]

Calibrates, trains every model of the demo with one seed through Snakemake in a new directory, calibrates again, and
compares the mean of both forecasts with the seconds that the runs recorded. With --results, a finished demo of this
machine is compared instead. Nothing else may run on the machine meanwhile: the forecast is of CPU time.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean, median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from hidden_dynamics.configuration import Configuration, load, parse_settings  # noqa: E402
from hidden_dynamics.measurements.forecast import calibration as calibrations  # noqa: E402
from hidden_dynamics.measurements.forecast.run_costs import cost_of  # noqa: E402
from hidden_dynamics.measurements.forecast.jobs import Machine, Plan, plan_of  # noqa: E402
from hidden_dynamics.measurements.forecast.queueing import wall_time  # noqa: E402
from hidden_dynamics.configuration.runs import all_runs  # noqa: E402

COLUMNS = ("what", "forecast", "measured", "error", "runs")


def main() -> None:
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory() as directory:
        if arguments.results is None:
            settings = {"results": f"{directory}/results", "data": {"directory": f"{directory}/data"}, "seeds": [0]}
            configuration = load(parse_settings(json.dumps(settings)))
            first = calibrated(configuration, arguments.cores, Path(directory, "before.json"))
            wall = trained(settings, arguments.cores)
            files = [first, calibrated(configuration, arguments.cores, Path(directory, "after.json"))]
        else:
            settings, wall = {"results": str(arguments.results.parent), "scale": arguments.results.name}, None
            configuration = load(parse_settings(json.dumps(settings)))
            given = arguments.calibration or calibrated(configuration, arguments.cores, Path(directory, "now.json"))
            files = [given]
        rows = list(compared(configuration, [calibrations.read(file) for file in files], arguments.cores, wall))
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    with open(arguments.output, "w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for row in rows:
        print("  ".join(shown(row[column]) for column in COLUMNS))


def calibrated(configuration: Configuration, cores: int, output: Path) -> Path:
    settings = json.dumps(dict(configuration.settings))
    step = [sys.executable, "scripts/calibrate.py", "--side-by-side", str(cores), "--config", settings]
    subprocess.run([*step, "--output", str(output)], cwd=ROOT, check=True)
    return output


def trained(settings: dict[str, Any], cores: int) -> float:
    """Seconds that Snakemake takes for all trainings and their data, and one table of all of them."""
    given = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in settings.items()]
    target = f"{settings['results']}/demo/summary/runs.csv"
    command = [sys.executable, "-m", "snakemake", "--cores", str(cores), target, "--config", *given]
    start = time.perf_counter()
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def compared(
    configuration: Configuration, given: list[calibrations.Calibration], cores: int, wall: float | None
) -> Iterable[dict[str, Any]]:
    """Rows for every task, for all jobs, for the whole wall, and the median of the errors of single runs."""
    runs = [run for run in all_runs(configuration) if Path(run.directory, "run.json").is_file()]
    expected = {run.id: fmean(cost_of(run, calibration).loop for calibration in given) for run in runs}
    measured = {run.id: recorded(Path(run.directory, "run.json")) for run in runs}
    for task in dict.fromkeys(run.task for run in runs):
        yield row_of(task, [run.id for run in runs if run.task == task], expected, measured)
    yield row_of("all trainings", [run.id for run in runs], expected, measured)
    errors = [abs(expected[name] / measured[name] - 1) for name in expected]
    within = sum(error <= 0.25 for error in errors) / len(errors)
    for what, value in (("median error of a run", median(errors)), ("share of runs within 25 %", within)):
        yield {**dict.fromkeys(COLUMNS), "what": what, "error": value, "runs": len(runs)}
    yield from of_jobs(configuration, given, Machine(cores, given[0].about["threads"]), wall)


def recorded(path: Path) -> float:
    seconds = json.loads(path.read_text(encoding="utf-8"))["seconds"]
    return seconds["training"] + seconds["evaluation"]


def of_jobs(
    configuration: Configuration, given: list[calibrations.Calibration], machine: Machine, wall: float | None
) -> Iterable[dict[str, Any]]:
    plans = [plan_of(configuration, calibration, machine) for calibration in given]
    found = {name: seconds_of_job(configuration, *task_and_seed(plans[0], name)) for name in plans[0].runs}
    measured = {name: seconds for name, seconds in found.items() if seconds is not None}
    expected = {name: fmean(plan.jobs[name].seconds for plan in plans) for name in measured}
    yield row_of("all training jobs, start-up included", list(measured), expected, measured)
    if wall is not None:
        needed = [[plan.jobs[name] for name in plan.needed(["summarise all"])] for plan in plans]
        forecast = fmean(wall_time(jobs, machine.capacity) for jobs in needed)
        yield row_of("wall time", ["wall"], {"wall": forecast}, {"wall": wall})


def task_and_seed(plan: Plan, name: str) -> tuple[str, int]:
    return plan.runs[name][0].task, plan.runs[name][0].seed


def seconds_of_job(configuration: Configuration, task: str, seed: int) -> float | None:
    """Of a training's job, as Snakemake measured it (`together: [model]`)."""
    path = Path(configuration.results, "logs", f"train-{task}-{seed}.tsv")
    if not path.is_file():
        return None
    with open(path, encoding="utf-8") as handle:
        return float(next(csv.DictReader(handle, delimiter="\t"))["s"])


def row_of(what: str, names: list[str], expected: dict[str, float], measured: dict[str, float]) -> dict[str, Any]:
    forecast, found = sum(expected[name] for name in names), sum(measured[name] for name in names)
    return dict(zip(COLUMNS, (what, forecast, found, forecast / found - 1, len(names)), strict=True))


def shown(value: Any) -> str:
    return f"{value:10.3f}" if isinstance(value, float) else f"{'' if value is None else value!s:38}"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--results", type=Path, help="of a finished demo, such as results/demo")
    parser.add_argument("--calibration", type=Path, help="made before; with --results")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks/results/forecast.csv")
    return parser.parse_args()


if __name__ == "__main__":
    main()
