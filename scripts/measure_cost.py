"""Measure the costs of training and evaluating each model on this machine: time and memory per sample.

    python scripts/measure_cost.py --artifact momentumrnn_table14

The models, the task and the size are the artifact's, as run at the scale; the prepared data must be there. Times are
taken in rounds, every model once in each, in an order that rotates: a ratio to the baseline is the median of the ratios
within the rounds. Memory is the peak beyond what was held before: on a GPU what torch allocated, on the CPU the
resident memory of a fresh process for each model. All is measured in several processes, one after another.

Writes one row per model, quantity and process (hidden_dynamics.results.measured.Cost) to <results>/<scale>/costs/,
where tables find it, or to --output; an empty cell means "none".
"""

import _bootstrap  # noqa: F401  isort: skip

from pathlib import Path

from hidden_dynamics.artifacts import artifact_named
from hidden_dynamics.artifacts.kinds.cost_table import MeasuredCosts
from hidden_dynamics.configuration import load, parse_settings
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.measurements.cost_measurement import Circumstances, measure
from hidden_dynamics.results.measured import Cost
from hidden_dynamics.results.rows import write_rows
from hidden_dynamics.system.arguments import parser, positive
from hidden_dynamics.training import devices


def main() -> None:
    options = parser(__doc__, "--artifact", "--config", "--device", "--threads")
    options.add_argument("--output", type=Path, help="CSV to write, of a measurement that no table is to show")
    options.add_argument("--processes", type=positive, help="processes, one after another; default: the scale's")
    options.add_argument("--rounds", type=positive, default=5, help="timed rounds of each (default: %(default)s)")
    options.add_argument("--batch", type=positive, help="samples in a batch; default: the task's")
    given = options.parse_args()
    configuration = load(parse_settings(given.config))
    artifact = artifact_named(configuration, given.artifact, "--artifact")
    if not isinstance(artifact, MeasuredCosts):
        raise UserError(f"{artifact.name} shows no measured costs (its kind is {artifact.settings.kind}).")
    runs, baseline = artifact.measured_runs(), artifact.published.baseline
    if baseline not in [run.model for run in runs]:
        text = f"config/artifacts.yaml: {artifact.name} must have {baseline}: the others are held to it."
        raise UserError(text, file="config/artifacts.yaml", key=f"{artifact.name}.models")
    batch_size = given.batch or runs[0].spec["training"]["batch_size"]
    threads = given.threads or configuration.scale.threads
    devices.set_arithmetic(threads, configuration.settings.precision)
    device = devices.choose(given.device or configuration.device_of(runs[0].task))
    with devices.turn(device, configuration.runs_per_gpu) as device:
        processes = given.processes or configuration.scale.processes
        circumstances = Circumstances(device, threads, batch_size, processes, given.rounds)
        rows = list(measure(configuration, runs, baseline, circumstances))
    write_rows(given.output or artifact.inputs()["costs"], list(Cost.model_fields), rows)
    for row in rows:
        place = f"{row['process']} {row['model']:16} {row['quantity']:18}"
        print(f"{place} {row['value']:10.4g} {row['unit']}, ratio {row['ratio']}")


if __name__ == "__main__":
    run_main(main)
