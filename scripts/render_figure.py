"""Draw one figure from its summary, as PDF and PNG.

    python scripts/render_figure.py --artifact momentumrnn_figure3 --output results/demo/figures/momentumrnn_figure3 \
        --summary results/demo/summary/momentumrnn_figure3.csv \
        --curves results/demo/summary/momentumrnn_figure3.curves.csv
"""

import _bootstrap  # noqa: F401  isort: skip

import argparse
from pathlib import Path

from hidden_dynamics.configuration import known, load, parse_settings
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.rendering import figures


def main() -> None:
    arguments = parse_arguments()
    configuration = load(parse_settings(arguments.config))
    name = arguments.artifact
    kind = configuration.artifacts[known(name, configuration.artifacts, "artifact", "config/artifacts.yaml")]["kind"]
    if kind == "curves":
        if not (arguments.summary and arguments.curves):
            raise UserError(
                f"{name} is a figure of curves: give --summary and --curves, which scripts/summarise.py writes."
            )
        summary, curves = figures.read_rows(arguments.summary), figures.read_rows(arguments.curves)
        figure = figures.curves_figure(configuration, name, summary, curves)
    elif kind == "copying_example":
        figure = figures.copying_figure(configuration, name)
    else:
        raise UserError(f"{name} is not a figure but a {kind.replace('_', ' ')}.")
    figures.save(figure, arguments.output)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifact", required=True, help="name of a figure")
    parser.add_argument("--summary", type=Path, help="CSV with a row per run (figures of curves)")
    parser.add_argument("--curves", type=Path, help="CSV with a row per point (figures of curves)")
    parser.add_argument("--config", help="settings as JSON, merged over config.yaml")
    parser.add_argument("--output", required=True, type=Path, help="where to write, without .pdf and .png")
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
