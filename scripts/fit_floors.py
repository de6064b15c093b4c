"""Fit the classical baselines of tasks: logistic regression, nearest neighbours, ridge regression, and the like.

    python scripts/fit_floors.py --task physionet human_activity --config '{"scale": "paper"}'

The prepared data must be there. Each task's file is <results>/<scale>/floors/<task>.csv, unless --output names one. It
has a row for each baseline, metric and seed (hidden_dynamics.floors.COLUMNS); an empty seed means all seeds, where they
share their data. It has no row where the task's class has no classical baselines.
"""

import _bootstrap  # noqa: F401  isort: skip

import math
import platform
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import sklearn
import torch
from threadpoolctl import threadpool_limits

from hidden_dynamics.configuration import Configuration, known, load, parse_settings
from hidden_dynamics.configuration.runs import Run, runs_on, seeds_are_blocks
from hidden_dynamics.data import prepared
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.floors import COLUMNS, code_of
from hidden_dynamics.floors.fitted import fit
from hidden_dynamics.results.rows import write_rows
from hidden_dynamics.system.arguments import parser
from hidden_dynamics.training import devices
from hidden_dynamics.training.building import task_of

MODULES = {"python": platform.python_version()} | {each.__name__: each.__version__ for each in (np, sklearn, torch)}


def main() -> None:
    options = parser(__doc__, "--seed", "--config")
    options.add_argument("--task", nargs="+", required=True, help="tasks of config/tasks.yaml")
    options.add_argument("--output", type=Path, help="the file to write, of one task (default: where results are)")
    given = options.parse_args()
    configuration = load(parse_settings(given.config))
    if given.output and len(given.task) > 1:
        raise UserError(f"--output is the file of one task, and there are {len(given.task)}", key="--output")
    devices.set_arithmetic(1, "fp32")
    with threadpool_limits(1):
        for task in given.task:
            known(task, configuration.tasks, "task", "--task")
            rows = list(rows_of(configuration, task, given.seed))
            write_rows(given.output or configuration.paths.floors(task), COLUMNS, rows)


def rows_of(configuration: Configuration, task: str, seeds: list[int] | None) -> Iterator[dict[str, object]]:
    """The rows of a task; of its first model's settings, as a task's models share them."""
    seeds = seeds or configuration.seeds_of(task)
    blocks = any(seeds_are_blocks(configuration, task, model) for model in configuration.tasks[task].models)
    first = {run.seed: run for run in reversed(runs_on(configuration, task, seeds if blocks else seeds[:1]))}
    for seed, run in sorted(first.items()):
        yield from (row | {"seed": seed if blocks else None} for row in rows_of_run(configuration, run))


def rows_of_run(configuration: Configuration, run: Run) -> Iterator[dict[str, object]]:
    data = prepared.load(
        configuration.paths.prepared(run.spec["dataset"], run.spec["data"]), run.spec["dataset"], run.spec["data"]
    )
    task_class = run.classes["task_class"]
    about = {"scale": configuration.scale_name, "task": run.task, "data_digest": data.digest}
    about |= {"code": code_of(task_class), "versions": " ".join(f"{name} {version}" for name, version in MODULES.items())}
    for floor, seconds in fit(task_of(run, data.arrays, torch.device("cpu")), task_class, run.seed):
        fitted = {"name": floor.name, "chosen": floor.chosen, "fitted_on": floor.fitted_on}
        for metric, score in floor.scores.items():
            print(f"{run.task}, seed {run.seed}: {floor.name} ({floor.chosen}): {metric} {score:.6g}", flush=True)
            if math.isfinite(score):
                yield about | fitted | {"metric": metric, "score": score, "seconds": f"{seconds:.1f}"}
            else:
                print(f"{metric} of {floor.name} is no number, and left out", flush=True)


if __name__ == "__main__":
    run_main(main)
