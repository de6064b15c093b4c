"""What the benchmarks share: their command line, rounds of timing, peaks of memory, rows of a CSV.

A benchmark puts the repository on the path before it imports this.
"""

import argparse
import csv
import datetime
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import torch

from hidden_dynamics.measurements.interleaved import WARM_UP, interleaved, ratios_within_rounds
from hidden_dynamics.measurements.processes import allocated_beyond, processor, resident_beyond
from hidden_dynamics.system.arguments import positive
from hidden_dynamics.training import devices

RESULTS = Path(__file__).resolve().parent / "results"
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


class Ratio(NamedTuple):
    """A ratio over rounds, and the lowest and the highest of a round."""

    median: float
    low: float
    high: float


def add_clock(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--clock",
        choices=list(CLOCKS),
        default="wall",
        help="cpu: this process's CPU time, for one thread on a busy CPU",
    )


def parse(parser: argparse.ArgumentParser, benchmark: str, device: str = "cpu") -> argparse.Namespace:
    """The command line, with the options of every benchmark that trains; refuses a GPU that is not there, and names the
    output after the device."""
    parser.add_argument("--device", choices=["cpu", "cuda"], default=device)
    parser.add_argument("--threads", type=positive, default=torch.get_num_threads(), help="torch's threads")
    parser.add_argument("--output", type=Path, help=f"CSV (default: benchmarks/results/{benchmark}-DEVICE.csv)")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device cuda: torch finds no GPU")
    options.output = options.output or RESULTS / f"{benchmark}-{options.device}.csv"
    return options


def prepare(options: argparse.Namespace) -> None:
    torch.manual_seed(0)
    devices.set_arithmetic(options.threads, "fp32")  # as training does: cuDNN's own choice would be TF32


def times(
    actions: Mapping[str, Callable[[], Any]],
    options: argparse.Namespace,
    rounds: int | None = None,
    warm_up: int = WARM_UP,
) -> list[dict[str, float]]:
    """Seconds of each action, round by round; by the wall clock where a benchmark knows no other."""
    wait = torch.cuda.synchronize if options.device == "cuda" else lambda: None
    clock = CLOCKS[getattr(options, "clock", "wall")]
    return interleaved(actions, rounds or options.rounds, clock=clock, wait=wait, warm_up=warm_up)


def compared(rounds: Sequence[Mapping[str, float]], name: str, baseline: str) -> tuple[Ratio, float]:
    """How many times as long as the baseline something took, and its seconds: of the rounds, the medians."""
    return median_with_range(ratios_within_rounds(rounds, name, baseline)), median(each[name] for each in rounds)


def median_with_range(ratios: Sequence[float]) -> Ratio:
    return Ratio(median(ratios), min(ratios), max(ratios))


def peak_mib(action: Callable[[], Any], options: argparse.Namespace) -> float:
    """MiB by which an action raises the peak of what torch has allocated on a GPU, or of what this process holds; the
    latter for a process that did nothing else."""
    if options.device == "cuda":
        return allocated_beyond(action, torch.device(options.device)) / 2**20
    (peak,) = resident_beyond([action])
    return peak / 2**20


def peak_of_fresh_process(benchmark: str, subject: str, options: argparse.Namespace, **sizes: Any) -> float:
    """What a benchmark, a file, answers to --memory-of a subject: on the same device, at the sizes given."""
    given = {"memory-of": subject, "threads": options.threads, "device": options.device, **sizes}
    command = [sys.executable, benchmark, *(text for key, value in given.items() for text in (f"--{key}", str(value)))]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def circumstances(options: argparse.Namespace) -> dict:
    return {
        "steps": options.steps,
        "batch": options.batch,
        "rounds": options.rounds,
        **machine(options),
    }


def machine(options: argparse.Namespace) -> dict:
    return {
        "device": torch.cuda.get_device_name() if options.device == "cuda" else processor(),
        "threads": options.threads,
        "torch": torch.__version__,
        "date": datetime.date.today().isoformat(),
    }


def write(rows: list[dict], output: Path) -> None:
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
