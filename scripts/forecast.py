"""Say what a scale will cost before it is run: hours of GPUs or cores, wall time, disk and memory, for each artifact.

    python scripts/forecast.py --calibration results/demo/calibration.json --output results/demo/forecast

Prints a table and writes it to <output>.md and .csv. Nothing is trained or downloaded. Runs that are there, of this
specification and code, count as finished. The method and its errors: docs/forecast.md.
"""

import _bootstrap  # noqa: F401  isort: skip

import argparse
import csv
import os
from pathlib import Path

from hidden_dynamics.system.arguments import positive
from hidden_dynamics.configuration import Configuration, load, parse_settings
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.system.files import atomic
from hidden_dynamics.measurements.forecast import calibration as calibrations
from hidden_dynamics.measurements.forecast.calibration import Calibration
from hidden_dynamics.measurements.forecast.jobs import Machine, plan_of
from hidden_dynamics.measurements.forecast.report import as_csv, as_markdown, forecast
from hidden_dynamics.measurements.forecast.selection import setting


def main() -> None:
    arguments = parse_arguments()
    configuration = load(parse_settings(arguments.config))
    calibration = calibration_of(configuration, arguments.calibration)
    machine = machine_of(configuration, calibration, arguments.cores or os.cpu_count() or 1)
    result = forecast(configuration, calibration, machine, plan_of(configuration, calibration, machine))
    text, rows = as_markdown(configuration, calibration, machine, result), as_csv(result)
    with atomic(arguments.output.with_suffix(".md")) as handle:
        handle.write(text)
    with atomic(arguments.output.with_suffix(".csv")) as handle:
        writer = csv.DictWriter(handle, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(text)


def calibration_of(configuration: Configuration, path: Path | None) -> Calibration:
    """The stored calibration that the settings name, or the one at `path`."""
    name = setting(configuration, "calibration")
    if name is not None:
        return calibrations.read(calibrations.path_of(name), name)
    if path is None:
        raise UserError("--calibration is needed: scripts/calibrate.py makes one; or set forecast.calibration.")
    return calibrations.read(path)


def machine_of(configuration: Configuration, calibration: Calibration, cores: int) -> Machine:
    """What the forecast is for: the GPUs that the settings name, where the calibration is that of one; or the cores."""
    on_gpu = calibration.about["device"] != "cpu"
    return Machine(
        cores=cores,
        threads=calibration.about["threads"],
        gpus=setting(configuration, "gpus") if on_gpu else 0,
        runs_per_gpu=calibration.about["side_by_side"] if on_gpu else 1,
    )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calibration", type=Path, help="file of scripts/calibrate.py; not with forecast.calibration")
    parser.add_argument("--config", help="settings as JSON, merged over config.yaml")
    parser.add_argument("--cores", type=positive, help="CPU cores that there will be; default: this machine's")
    parser.add_argument("--output", required=True, type=Path, help="path of the files to write, without their ending")
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
