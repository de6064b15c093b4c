"""The rows below the models: what naive baselines score on the runs' test sets. They are no models: none is ranked."""

from collections.abc import Sequence

from hidden_dynamics.artifacts.comparison import Record
from hidden_dynamics.artifacts.kinds.results_table import ResultsTable
from hidden_dynamics.results.naive import BY_CHANCE, by_seed
from hidden_dynamics.results.statistics import mean_and_std

MODEL = "naive"
NOTE = (
    "Naive: answers that need no network, on the data of the same seeds; a constant is the best one of the evaluated "
    "set, so that no constant scores better. “k of n learned”: k of the runs beat the best of these by more than "
    f"{100 * BY_CHANCE:g} %, whose median it is, and the others are far behind. Naive baselines are no models, and are "
    "not ranked or judged."
)


def naive(artifact: ResultsTable, summary: Sequence[dict[str, str]]) -> list[Record]:
    """A record for each task, metric and naive baseline that runs recorded; mean and deviation are over their seeds."""
    configuration, records = artifact.configuration, []
    for task in artifact.settings.tasks:
        runs = [row for row in summary if row["task"] == task]
        for metric in artifact.metrics_on(task):
            about = {"artifact": artifact.name, "scale": configuration.scale_name, "task": task, "metric": metric}
            for name, scores in by_seed(runs, metric, configuration.metrics[metric].factor).items():
                mean, std = mean_and_std(scores)
                label = {"model": MODEL, "label": f"Naive: {name}", "runs": len(scores), "n": len(scores)}
                records.append(about | label | {"mean": mean, "std": std})
    return records
