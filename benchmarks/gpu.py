"""Every figure that the project owes of a GPU: program after program, each with a time limit.

    python benchmarks/gpu.py
    python benchmarks/gpu.py --parts tests cells
    python benchmarks/gpu.py --device cpu --small

A part is one of the repository's own programs. The benchmarks write their CSVs beside --output, which has a row for
each part: its command, its seconds and how it ended. A part that exceeds its limit is ended, keeps what it has
measured, and the next one begins; all limits together are ten minutes, what matters most comes first. The exit status
is 1 where a part failed. The targets are in benchmarks/README.md. With --small, sizes are such that the path is run
and nothing is measured, in five times the limits, for machines that are slow or busy. Without a GPU, pytest skips every
test of the first part.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from shared import machine, parse, write  # noqa: E402

LSTMS = ["--sizes", "128", "256", "512"]
ONCE = ["--rounds", "1", "--threads", "1"]  # on a busy machine, two threads mostly wait for one another
SMALL_LSTMS = ["--sizes", "8", "--steps", "5", "--batch", "2", *ONCE]
SMALL_MODEL = ["--hidden", "8", "--embedding", "8", "--vocabulary", "8", "--batch", "2", "--bptt", "4", *ONCE]
DEMO = '{"scale": "demo", "forecast": {"artifacts": ["momentumrnn_table11"]}}'
# Of all files pytest would stop at those that import what a machine with a GPU may lack.
TESTS = sorted(str(path) for path in (ROOT / "tests").glob("test_*.py") if "pytest.mark.gpu" in path.read_text("utf-8"))
PARTS = {  # seconds; the program; arguments where it measures, and where it only runs
    "tests": (120, ["-m", "pytest", "-n", "0", "-q", "-m", "gpu", *TESTS], [], []),
    "cells": (130, ["benchmarks/train_step.py"], [*LSTMS, "--reference"], SMALL_LSTMS),
    "language": (50, ["benchmarks/language_model.py"], [], SMALL_MODEL),
    "ode": (60, ["benchmarks/ode_step.py", "--tolerance", "1e-3"], [], ["--parts", "steps", "--batch", "2", *ONCE]),
    "calibration": (240, ["scripts/calibrate.py", "--config"], ['{"scale": "paper"}'], [DEMO]),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS), help="default: all")
    parser.add_argument("--small", action="store_true", help="sizes that only show that everything runs")
    options = parse(parser, "gpu", device="cuda")
    rows = []
    for part in options.parts:
        limit, program, whole, small = PARTS[part]
        limit *= 5 if options.small else 1
        command = [*program, *(small if options.small else whole), *rest_of(part, options)]
        print(f"\n{part}: python {' '.join(command)}", flush=True)
        begun = time.monotonic()
        try:
            ended = str(subprocess.run([sys.executable, *command], cwd=ROOT, timeout=limit).returncode)
        except subprocess.TimeoutExpired:
            ended = f"stopped after {limit} s"
        seconds = round(time.monotonic() - begun, 1)
        about = {"part": part, "ended": ended, "seconds": seconds, "command": " ".join(command)}
        rows.append(about | machine(options))
        write(rows, options.output)
    return int(any(row["ended"] != "0" for row in rows))


def rest_of(part: str, options: argparse.Namespace) -> list[str]:
    """The arguments that depend on the options."""
    if part == "tests":
        return []
    if part == "calibration":
        return ["--device", options.device, "--output", str(options.output.with_name("gpu-calibration.json"))]
    output = options.output.with_name(f"{part}-{options.device}.csv")
    return ["--device", options.device, "--output", str(output)]


if __name__ == "__main__":
    sys.exit(main())
