"""Start or continue the runs of docs/evidence/PLAN.md, block by block, in its order.

    nice python tools/plan_runs.py --results DIRECTORY [--cores N] [--mirror DIRECTORY] [--until BLOCK]

One thread a run, N at a time. What is there already stays; what was killed goes on. Blocks: A1-A3, M1, A8, M6b, M6a,
M9. Work from a clone of its own, at a commit that stays. Results, data and checkpoints are below DIRECTORY.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CELLS = ["lstm", "momentum_lstm", "adam_lstm", "rmsprop_lstm", "sr_lstm"]


class Block(NamedTuple):
    """Runs of a task: some models of one of the paper's sizes, in the first part of their training or all of it."""

    name: str
    task: str
    models: list[str]
    size: int
    epochs: int | None = None


BLOCKS = [
    Block("A1-A3", "physionet_splits", ["latent_ode", "ace_latent_ode", "ode_rnn", "rnn_impute", "rnn_gru_d"], 20),
    Block("M1", "pmnist", ["lstm", "momentum_lstm"], 128, 13),
    Block("A8", "physionet_extrapolation", ["latent_ode", "ace_latent_ode"], 20),
    Block("M6b", "adding", CELLS, 128, 20),  # of 100 iterations
    Block("M6a", "copying_1k", CELLS, 190, 2000),  # of one
    *(Block("M9", "pmnist_dtriv", ["dtriv", "momentum_dtriv"], 170, epochs) for epochs in (50, 100, 150)),
]


def main() -> int:
    """The code of the first Snakemake that did not end well, such as one that was interrupted; else 0."""
    options = parse()
    for block in BLOCKS:
        print(f"{block.name}: {block.task}, {', '.join(block.models)}", flush=True)
        code = subprocess.run(command(block, options), cwd=ROOT).returncode
        if code or block.name == options.until:
            return code
    return 0


def command(block: Block, options: argparse.Namespace) -> list[str]:
    """Of Snakemake: the runs' own records are its targets."""
    results, mirror = options.results.resolve(), options.mirror and str(options.mirror.resolve())
    training = {} if block.epochs is None else {"training": {"epochs": block.epochs}}
    settings = {
        "scale": "paper",
        "device": "cpu",
        "results": str(results / "results"),
        "data": {"directory": str(results / "data"), "mirror": mirror},
        "overrides": {"tasks": {block.task: training} if training else {}},
    }
    seeds = range(15 if block.task == "physionet_splits" else 5)
    runs = results / "results" / "paper" / "runs" / block.task
    targets = [f"{runs}/{model}-n{block.size}/seed{seed}/run.json" for seed in seeds for model in block.models]
    given = [f"{name}={json.dumps(value)}" for name, value in settings.items()]
    threads = ["--set-threads", f"train_{block.task}=1"]
    return ["snakemake", *targets, "--cores", str(options.cores), *threads, "--config", *given]


def parse() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--results", type=Path, required=True, help="where results, data and checkpoints are")
    options.add_argument("--cores", type=int, default=1, help="runs at a time (default: %(default)s)")
    options.add_argument("--mirror", type=Path, help="directory with the datasets")
    options.add_argument("--until", choices=[block.name for block in BLOCKS], help="the last block")
    return options.parse_args()


if __name__ == "__main__":
    sys.exit(main())
