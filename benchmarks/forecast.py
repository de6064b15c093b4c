"""The forecast held to real runs: seconds of each training.

    python benchmarks/forecast.py [--output benchmarks/results/forecast.csv]
    python benchmarks/forecast.py --results results/demo [--calibration results/demo/calibration.json]

Calibrates, trains every model of the demo with one seed through Snakemake in a new directory, calibrates again, and
compares the mean of both forecasts with the seconds that the runs recorded. With --results, a finished demo of this
machine is compared instead. Nothing else may run on the machine meanwhile.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from hidden_dynamics.configuration import Configuration, load, parse_settings  # noqa: E402
from hidden_dynamics.configuration.runs import Run, all_runs  # noqa: E402
from hidden_dynamics.measurements.forecast.calibration import Calibration, cost_of, read  # noqa: E402
from hidden_dynamics.results.run_files import RunFiles, is_finished  # noqa: E402

COLUMNS = ("what", "forecast", "measured", "error", "runs")


def main() -> None:
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory() as directory:
        if arguments.results is None:
            settings = {"results": f"{directory}/results", "data": {"directory": f"{directory}/data"}, "seeds": [0]}
            before = calibrated(settings, Path(directory, "before.json"))
            train(settings)
            files = [before, calibrated(settings, Path(directory, "after.json"))]
        else:
            settings = {"results": str(arguments.results.parent), "scale": arguments.results.name}
            files = [arguments.calibration or calibrated(settings, Path(directory, "now.json"))]
        rows = list(compared(load(parse_settings(json.dumps(settings))), [read(file) for file in files]))
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    with open(arguments.output, "w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for row in rows:
        print("  ".join(shown(row[column]) for column in COLUMNS))


def calibrated(settings: dict[str, Any], output: Path) -> Path:
    step = [sys.executable, "scripts/calibrate.py", "--config", json.dumps(settings), "--output", str(output)]
    subprocess.run(step, cwd=ROOT, check=True)
    return output


def train(settings: dict[str, Any]) -> None:
    """Train all runs, through Snakemake, on all cores."""
    given = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in settings.items()]
    summary = f"{settings['results']}/demo/summary/runs.csv"
    command = [sys.executable, "-m", "snakemake", "--cores", "all", summary, "--config", *given]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def compared(configuration: Configuration, calibrations: Sequence[Calibration]) -> Iterable[dict[str, Any]]:
    """Rows for every task and for all runs, the median of the errors of single runs, and how many are within 25 %."""
    runs = [run for run in all_runs(configuration) if is_finished(configuration, run)]
    pairs = {
        run.id: (fmean(cost_of(run, made.of(run)).seconds for made in calibrations), recorded(run)) for run in runs
    }
    for task in dict.fromkeys(run.task for run in runs):
        yield row_of(task, [pairs[run.id] for run in runs if run.task == task])
    yield row_of("all runs", list(pairs.values()))
    errors = [abs(forecast / measured - 1) for forecast, measured in pairs.values()]
    within = sum(error <= 0.25 for error in errors) / len(errors)
    for what, value in (("median error of a run", median(errors)), ("share of runs within 25 %", within)):
        yield {**dict.fromkeys(COLUMNS), "what": what, "error": value, "runs": len(runs)}


def recorded(run: Run) -> float:
    """Seconds of a run's iterations and evaluations."""
    return sum(RunFiles(Path(run.directory)).record()["seconds"].values())


def row_of(what: str, pairs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    forecast, measured = (sum(part) for part in zip(*pairs, strict=True))
    return dict(zip(COLUMNS, (what, forecast, measured, forecast / measured - 1, len(pairs)), strict=True))


def shown(value: Any) -> str:
    return f"{value:10.3f}" if isinstance(value, float) else f"{'' if value is None else value!s:38}"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, help="of a finished demo, such as results/demo")
    parser.add_argument("--calibration", type=Path, help="made before; with --results")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks/results/forecast.csv")
    return parser.parse_args()


if __name__ == "__main__":
    main()
