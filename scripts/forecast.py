"""Forecast the cost of a scale before it is run: hours of GPUs or cores, and memory, for each artifact.

    python scripts/forecast.py --calibration results/demo/calibration.json --output results/demo/forecast

Prints a table and writes it to <output>.md and .csv. Nothing is trained or downloaded. Runs that are there, of this
specification and code, count as finished; what they took stands beside what was forecast. The method and its errors:
docs/forecast.md.
"""

import _bootstrap  # noqa: F401  isort: skip

import os
from pathlib import Path

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.configuration import load, parse_settings
from hidden_dynamics.configuration.schema import Settings
from hidden_dynamics.errors import run_main
from hidden_dynamics.measurements.calibration import Calibration, chosen, read
from hidden_dynamics.measurements.forecast import Machine, as_markdown, forecast, taken
from hidden_dynamics.results.rows import write_rows
from hidden_dynamics.system.arguments import parser
from hidden_dynamics.system.files import atomic


def main() -> None:
    options = parser(__doc__, "--config", "--cores")
    options.add_argument("--calibration", type=Path, help="file of scripts/calibrate.py; default: the scale's own")
    options.add_argument("--output", type=Path, help="path of the files to write, without their ending")
    arguments = options.parse_args()
    configuration = load(parse_settings(arguments.config))
    artifacts = load_artifacts(configuration)
    runs, runs_of = chosen(configuration, {name: artifact.runs for name, artifact in artifacts.items()})
    calibration = read(arguments.calibration or Path(configuration.paths.calibration))
    machines = machines_of(configuration.settings, calibration, arguments.cores or os.cpu_count() or 1)
    rows = list(forecast(configuration, calibration, machines, runs, runs_of))
    text = as_markdown(configuration, calibration, machines, rows, taken(configuration, calibration, runs))
    output = arguments.output or Path(configuration.results, "forecast")
    with atomic(output.with_suffix(".md")) as handle:
        handle.write(text)
    write_rows(output.with_suffix(".csv"), list(rows[0]), rows)
    print(text)


def machines_of(settings: Settings, calibration: Calibration, cores: int) -> dict[str, Machine]:
    """The machine of the forecast for each device of the calibration: the GPUs in the settings, or the cores."""
    threads = min(calibration.threads, cores)
    return {
        device: Machine(cores // threads, threads)
        if device == "cpu"
        else Machine(settings.forecast.gpus * places, 1 / places, on_gpu=True)
        for device, places in calibration.side_by_side.items()
    }


if __name__ == "__main__":
    run_main(main)
