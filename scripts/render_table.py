"""Render one table of a paper: results from the summary of its runs, or hyperparameters from the configuration.

Writes <output>.csv, .md, .tex and .html.
"""

import _bootstrap  # noqa: F401, I001
import argparse
import json
from pathlib import Path

from hidden_dynamics.configuration import Configuration, known, load
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.rendering.hyperparameter_table import hyperparameter_table
from hidden_dynamics.rendering.results_table import read_summary, results_table
from hidden_dynamics.rendering.tables import Table, write_table


def main() -> None:
    arguments = parse()
    configuration = load(None if arguments.config is None else read_settings(arguments.config))
    table = render(configuration, arguments.artifact, arguments.summary)
    write_table(table.frame, arguments.output, table.title, table.notes, table.data)


def render(configuration: Configuration, artifact: str, summary: Path | None) -> Table:
    kind = configuration.artifacts[known(artifact, configuration.artifacts, "artifact", "--artifact")]["kind"]
    if kind == "hyperparameter_table":
        return hyperparameter_table(configuration, artifact)
    if kind != "results_table":
        raise UserError(f"--artifact: {artifact} is not a table (its kind is {kind}).")
    if summary is None:
        raise UserError(f"--summary is needed: {artifact} is made from the summary of its runs.")
    return results_table(configuration, artifact, read_summary(summary))


def read_settings(text: str) -> dict:
    """The content of config.yaml from JSON, whose keys are all text: numbers (sizes) become numbers again."""
    try:
        settings = json.loads(text, object_pairs_hook=_with_number_keys)
    except json.JSONDecodeError as error:
        raise UserError(f"--config is not valid JSON: {error}") from None
    if not isinstance(settings, dict):
        raise UserError(f"--config must be a JSON object, found {text}")
    return settings


def _with_number_keys(pairs: list[tuple[str, object]]) -> dict:
    return {int(key) if key.isdigit() else key: value for key, value in pairs}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifact", required=True, help="name in config/artifacts.yaml, e.g. momentumrnn_table1")
    parser.add_argument("--summary", type=Path, help="CSV of the artifact's runs; not needed for hyperparameters")
    parser.add_argument("--config", help="the content of config.yaml as JSON; default: config.yaml itself")
    parser.add_argument("--output", required=True, type=Path, help="path of the files to write, without their ending")
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
