"""Measure a scale's runs on this machine, for a forecast of their cost.

    python scripts/calibrate.py --output results/demo/calibration.json --config '{"scale": "demo"}'

Runs that cost alike are measured once: an iteration of the real training, or as many as take a second; memory
(hidden_dynamics.measurements.forecast_measurement). As many are measured side by side as runs would be trained here.
Nothing is downloaded or prepared: a dataset that is there is used, in the place of another there are generated arrays
of its shapes. Let nothing else run meanwhile.
"""

import _bootstrap  # noqa: F401  isort: skip

import os
from pathlib import Path

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.configuration import load, parse_settings
from hidden_dynamics.errors import run_main
from hidden_dynamics.measurements.calibration import chosen
from hidden_dynamics.measurements.forecast_measurement import calibrate
from hidden_dynamics.system.arguments import parser
from hidden_dynamics.training import devices


def main() -> None:
    options = parser(__doc__, "--config", "--cores", "--device", "--threads")
    options.add_argument("--output", type=Path, help="calibration to write (JSON); default: <results>/calibration.json")
    arguments = options.parse_args()
    configuration = load(parse_settings(arguments.config))
    artifacts = load_artifacts(configuration)
    runs, _ = chosen(configuration, {name: artifact.runs for name, artifact in artifacts.items()})
    asked = {run.task: arguments.device or configuration.device_of(run.task) for run in runs}
    on = {name: devices.choose(name) for name in dict.fromkeys(asked.values())}
    runs_on = {device: [run for run in runs if on[asked[run.task]] == device] for device in dict.fromkeys(on.values())}
    threads = arguments.threads or configuration.scale.threads
    on_cpu = max(1, (arguments.cores or os.cpu_count() or 1) // threads)
    places = {device: on_cpu if device.type == "cpu" else configuration.runs_per_gpu for device in runs_on}
    output = arguments.output or Path(configuration.paths.calibration)
    for calibration in calibrate(configuration, runs_on, places, threads):
        calibration.write(output)  # what is measured is kept where this is stopped


if __name__ == "__main__":
    run_main(main)
