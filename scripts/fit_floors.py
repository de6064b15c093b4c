"""Fit the classical baselines of tasks: logistic regression, nearest neighbours, ridge regression, and the like.

    python scripts/fit_floors.py --task physionet human_activity --config '{"scale": "paper"}'

The prepared data must be there. Each task's file is <results>/<scale>/floors/<task>.csv. It has a row for each
baseline, metric and configured seed (hidden_dynamics.floors.COLUMNS); an empty seed means all seeds, where they share
their data. It has no row where the task's class has no classical baselines.
"""

import _bootstrap  # noqa: F401  isort: skip

import json
import math
import platform
from collections.abc import Iterator, Mapping

import numpy as np
import scipy
import sklearn
import torch

from hidden_dynamics.configuration import Configuration, load, parse_settings
from hidden_dynamics.configuration.runs import check_is_run
from hidden_dynamics.data import prepared
from hidden_dynamics.errors import run_main
from hidden_dynamics.floors import COLUMNS, code_of, runs_of
from hidden_dynamics.floors.fitted import Fitted, fit
from hidden_dynamics.results.rows import write_rows
from hidden_dynamics.system.arguments import parser
from hidden_dynamics.training import devices
from hidden_dynamics.training.building import task_of

NAMED = {each.__name__: each.__version__ for each in (np, scipy, sklearn, torch)}
VERSIONS = " ".join(f"{name} {version}" for name, version in {"python": platform.python_version(), **NAMED}.items())


def main() -> None:
    options = parser(__doc__, "--config")
    options.add_argument("--task", nargs="+", required=True, help="tasks of config/tasks.yaml")
    given = options.parse_args()
    configuration = load(parse_settings(given.config))
    devices.set_arithmetic(1, "fp32")
    fitted: dict[str, list[Fitted]] = {}
    for task in given.task:
        check_is_run(configuration, task)
        rows = list(rows_of(configuration, task, fitted))
        write_rows(configuration.paths.measured("floors", task), COLUMNS, rows)


def rows_of(configuration: Configuration, task: str, fitted: dict[str, list[Fitted]]) -> Iterator[Mapping[str, object]]:
    """Those of a task's file; `fitted` keeps what was fitted until now, which tasks share that differ in how networks
    are trained."""
    for seed, run in runs_of(configuration, task).items():
        task_class = run.classes["task_class"]
        data = prepared.load(configuration.paths.prepared(run.spec["dataset"], run.spec["data"]))
        key = json.dumps([task_class, data.digest, run.spec["task_settings"], run.seed], sort_keys=True)
        if key not in fitted:
            fitted[key] = fit(task_of(run, data.arrays, torch.device("cpu")), task_class, run.seed)
        columns = {"scale": configuration.scale_name, "task": task, "seed": seed, "data_digest": data.digest}
        columns |= {"code": code_of(run), "versions": VERSIONS}
        for floor in fitted[key]:
            columns |= {name: value for name, value in floor._asdict().items() if name != "scores"}
            print(
                f"{task}, seed {run.seed}: {floor.name} ({floor.chosen}), {floor.seconds} s: {floor.scores}", flush=True
            )
            for metric, score in floor.scores.items():
                if math.isfinite(score):
                    yield columns | {"metric": metric, "score": score}
                else:
                    print(f"{metric} is left out: it is no number", flush=True)


if __name__ == "__main__":
    run_main(main)
