"""The default command from a clean state: its time, that of the first figure, and the share that is not training.

    python benchmarks/pipeline.py [--cores 2] [--output benchmarks/results/pipeline.csv]

Runs `snakemake --cores N` with its results and data in a new directory, then a dry run of the whole paper scale. The
overhead is what remains of cores x wall time when the seconds inside training loops (steps and evaluations, from each
run.json) are taken away: start-up of Python and torch, Snakemake, data, summaries, rendering, and cores that had
nothing to do.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory() as directory:
        start = time.time()
        wall = timed(
            "--cores",
            str(arguments.cores),
            "--config",
            f"results={directory}/results",
            f"data={{directory: {directory}/data}}",
        )
        first = min(path.stat().st_mtime for path in Path(directory).glob("results/*/figures/*.png")) - start
        runs = [json.loads(path.read_text()) for path in Path(directory).glob("results/*/runs/*/*/*/run.json")]
    loops = sum(run["seconds"]["training"] + run["seconds"]["evaluation"] for run in runs)
    figures = {
        "cores": arguments.cores,
        "wall_seconds": round(wall, 1),
        "first_figure_seconds": round(first, 1),
        "runs": len(runs),
        "training_loop_seconds": round(loops, 1),
        "overhead": round(1 - loops / (arguments.cores * wall), 3),
        "paper_dry_run_seconds": round(timed("--cores", "1", "--dry-run", "--config", "scale=paper"), 1),
    }
    for name, value in figures.items():
        print(f"{name}: {value}")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    with open(arguments.output, "w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, list(figures), lineterminator="\n")
        writer.writeheader()
        writer.writerow(figures)


def timed(*options: str) -> float:
    """Seconds that `snakemake` takes with these options; it must succeed."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "snakemake", *options], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks/results/pipeline.csv")
    return parser.parse_args()


if __name__ == "__main__":
    main()
