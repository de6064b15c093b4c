"""Render one table of a paper: results from the summary of its runs, costs from their measurement, times to an accuracy
from both, silhouette scores from the measured image features, or hyperparameters from the configuration.

Writes <output>.csv, .md, .tex and .html.
"""

import _bootstrap  # noqa: F401, I001
import argparse
from pathlib import Path

from hidden_dynamics.configuration import Configuration, known, load, parse_settings
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.artifacts.kinds.cost_table.drawing import cost_table, read_costs
from hidden_dynamics.artifacts.kinds.hyperparameter_table.drawing import hyperparameter_table
from hidden_dynamics.artifacts.row_verdicts import Marks, read_marks
from hidden_dynamics.artifacts.kinds.results_table.drawing import read_summary, results_table
from hidden_dynamics.artifacts.kinds.silhouette_table.drawing import read_features, silhouette_table
from hidden_dynamics.artifacts.tables import Table, write_table
from hidden_dynamics.artifacts.kinds.time_to_accuracy_table.drawing import time_to_accuracy_table


def main() -> None:
    arguments = parse()
    configuration = load(parse_settings(arguments.config))
    files = (arguments.summary, arguments.costs, arguments.features)
    table = render(configuration, arguments.artifact, *files, read_marks(arguments.claims))
    write_table(table.frame, arguments.output, table.title, table.notes, table.data)


def render(
    configuration: Configuration,
    artifact: str,
    summary: Path | None,
    costs: Path | None,
    features: Path | None = None,
    marks: Marks | None = None,
) -> Table:
    kind = configuration.artifacts[known(artifact, configuration.artifacts, "artifact", "--artifact")]["kind"]
    if kind == "hyperparameter_table":
        return hyperparameter_table(configuration, artifact)
    if kind == "results_table":
        return results_table(configuration, artifact, read_summary(needed(summary, "--summary", artifact)), marks)
    if kind == "cost_table":
        return cost_table(configuration, artifact, read_costs(needed(costs, "--costs", artifact)), marks)
    if kind == "time_to_accuracy_table":
        runs = read_summary(needed(summary, "--summary", artifact))
        measured = read_costs(needed(costs, "--costs", artifact))
        return time_to_accuracy_table(configuration, artifact, runs, measured, marks=marks)
    if kind == "silhouette_table":
        return silhouette_table(configuration, artifact, read_features(needed(features, "--features", artifact)), marks)
    raise UserError(f"--artifact: {artifact} is not a table (its kind is {kind}).")


def needed(path: Path | None, option: str, artifact: str) -> Path:
    if path is None:
        made_from = {
            "--summary": "the summary of its runs",
            "--costs": "the costs measured on this machine",
            "--features": "the image features of its runs",
        }[option]
        raise UserError(f"{option} is needed: {artifact} is made from {made_from}.")
    return path


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifact", required=True, help="name in config/artifacts.yaml, e.g. momentumrnn_table1")
    parser.add_argument("--summary", type=Path, help="CSV of the artifact's runs; not needed for hyperparameters")
    parser.add_argument("--costs", type=Path, help="CSV of scripts/measure_cost.py; for tables of time and memory")
    parser.add_argument("--features", type=Path, help="CSV of scripts/measure_features.py; for tables of silhouettes")
    parser.add_argument("--claims", type=Path, help="CSV of scripts/judge_claims.py; its verdicts mark the rows")
    parser.add_argument("--config", help="settings as JSON, merged over config.yaml")
    parser.add_argument("--output", required=True, type=Path, help="path of the files to write, without their ending")
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
