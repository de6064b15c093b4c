"""How alike runs of one seed are: the correlation over seeds of two models' reported numbers.

    python tools/seed_correlations.py results/demo/runs/adding/lstm-n32 results/demo/runs/adding/momentum_lstm-n32

Prints, for each metric that both models' runs report, the number of seeds, Pearson's correlation and its 95 % interval
(Fisher's z). It takes four seeds or more, and a dozen to say something: with 12 the interval is a whole unit wide.
"""

import argparse
import math
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the repository, where the library is
from hidden_dynamics.errors import UserError, run_main  # noqa: E402
from hidden_dynamics.results.run_files import RunFiles  # noqa: E402

FEWEST = 4
PLACES = ("iteration", "epoch")  # where the reported evaluation is; no numbers of a model


def main() -> None:
    arguments = parse_arguments()
    one, other = reported(arguments.one), reported(arguments.other)
    seeds = sorted(one.keys() & other.keys())
    if len(seeds) < FEWEST:
        raise UserError(
            f"{len(seeds)} seeds finished in both {arguments.one} and {arguments.other}; {FEWEST} are needed."
        )
    for metric in one[seeds[0]]:
        pairs = [(one[seed][metric], other[seed].get(metric, math.nan)) for seed in seeds]
        if metric not in PLACES and np.isfinite(pairs).all() and np.ptp(pairs, axis=0).all():
            rho, low, high = correlation(np.array(pairs))
            print(f"{metric}: n = {len(seeds)}, rho = {rho:.2f} ({low:.2f} to {high:.2f})")


def reported(model: Path) -> dict[str, dict[str, float]]:
    """The reported evaluation of each seed that finished."""
    records = {path.parent.name: RunFiles(path.parent).record() for path in model.glob("seed*/run.json")}
    return {seed: record["reported"]["metrics"] for seed, record in records.items() if record["status"] == "finished"}


def correlation(pairs: np.ndarray) -> tuple[float, float, float]:
    """(rho, low, high) of (n, 2) numbers."""
    rho = float(np.corrcoef(pairs.T)[0, 1])
    z, half = math.atanh(rho), 1.96 / math.sqrt(len(pairs) - 3)
    return rho, math.tanh(z - half), math.tanh(z + half)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("one", "other"):
        parser.add_argument(name, type=Path, help="directory of a model's runs, which are in seed0, seed1, …")
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
