"""Draw one figure as PDF and PNG, from its summary where it shows runs.

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

# By kind: what draws it, and the options that name the files it is drawn from.
KINDS = {
    "curves": (figures.curves_figure, ("summary", "curves")),
    "gradient_norms": (figures.gradient_norms_figure, ("summary",)),
    "ablation": (figures.ablation_figure, ("summary",)),
    "function_evaluations": (figures.function_evaluations_figure, ("summary",)),
    "embedding": (figures.embedding_figure, ("features",)),
    "copying_example": (figures.copying_figure, ()),
}


def main() -> None:
    arguments = parse_arguments()
    configuration = load(parse_settings(arguments.config))
    name = arguments.artifact
    kind = configuration.artifacts[known(name, configuration.artifacts, "artifact", "config/artifacts.yaml")]["kind"]
    if kind not in KINDS:
        raise UserError(f"{name} is not a figure but a {kind.replace('_', ' ')}.")
    draw, options = KINDS[kind]
    if not all(getattr(arguments, option) for option in options):
        raise UserError(
            f"{name} is drawn from runs: give {' and '.join(f'--{option}' for option in options)}, "
            f"which scripts/{'measure_features' if options == ('features',) else 'summarise'}.py writes."
        )
    files = [figures.read_rows(getattr(arguments, option)) for option in options]
    figures.save(draw(configuration, name, *files), arguments.output)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifact", required=True, help="name of a figure")
    parser.add_argument("--summary", type=Path, help="CSV with a row per run (every figure of runs)")
    parser.add_argument("--curves", type=Path, help="CSV with a row per point (figures of curves)")
    parser.add_argument("--features", type=Path, help="CSV of scripts/measure_features.py (figures of image features)")
    parser.add_argument("--config", help="settings as JSON, merged over config.yaml")
    parser.add_argument("--output", required=True, type=Path, help="where to write, without .pdf and .png")
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
