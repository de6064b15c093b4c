"""The last row of a table: what the best possible predictor scores on the runs' test sets, where it is known.

It is no model: nothing is ranked against it, held to it or judged.
"""

import json
import math
from collections.abc import Mapping, Sequence

from hidden_dynamics.artifacts.comparison import Record
from hidden_dynamics.artifacts.kinds.results_table import ResultsTable
from hidden_dynamics.errors import UserError
from hidden_dynamics.results.statistics import mean_and_std

MODEL = "limit"
LABEL = "Limit (optimal predictor)"
NOTE = (
    f"{LABEL}: what the best possible predictor, which knows the process that generated the data, scores on the test "
    "sets of the same seeds. On average no model scores better; on one test set one may, by chance. It is no model, "
    "and is not ranked or judged."
)


def limits(artifact: ResultsTable, summary: Sequence[dict[str, str]]) -> list[Record]:
    """A record for each task and metric of which runs recorded a limit; mean and deviation are over their seeds.

    Raises:
        UserError: runs of one seed have different limits.
    """
    configuration, records = artifact.configuration, []
    for task in artifact.settings.tasks:
        by_seed = _by_seed(task, [row for row in summary if row["task"] == task and row["limits"]])
        for metric in artifact.metrics_on(task) if by_seed else ():
            factor = configuration.metrics[metric].factor
            mean, std = mean_and_std(limit[metric] * factor for limit in by_seed.values())
            about = {"artifact": artifact.name, "scale": configuration.scale_name, "task": task}
            seeds = {"seeds": " ".join(sorted(by_seed, key=int)), "runs": len(by_seed), "n": len(by_seed)}
            about |= {"model": MODEL, "label": LABEL, "metric": metric}
            records.append(about | seeds | {"mean": mean, "std": std})
    return records


def _by_seed(task: str, rows: Sequence[dict[str, str]]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        limit = json.loads(row["limits"])
        if not _same(found.setdefault(row["seed"], limit), limit):
            text = f"{task}, seed {row['seed']}: its runs differ in limits, so in their test sets: run snakemake again."
            raise UserError(text, key="limits")
    return found


def _same(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """But for rounding: machines add in different orders."""
    return one.keys() == other.keys() and all(math.isclose(one[key], other[key], rel_tol=1e-6) for key in one)
