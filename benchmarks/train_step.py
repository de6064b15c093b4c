"""Time and memory of one training step of each LSTM, against torch's own nn.LSTM.

    python benchmarks/train_step.py
    python benchmarks/train_step.py --device cuda --reference

The step is that of pixel-by-pixel MNIST: 128 sequences of 784 scalars, forward, the mean square of the last hidden
state, backward. Every round times every variant once, nn.LSTM among them, so that what else the machine does falls on
all alike; a ratio is the median over the rounds of the ratios within a round. Memory is the peak beyond what the
process held before the step: on a GPU what torch allocated, on the CPU the resident memory of a fresh process for each.
"""

import argparse
import csv
import datetime
import platform
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
from torch import nn  # noqa: E402

from hidden_dynamics.recurrent import (  # noqa: E402
    LSTM,
    NAGLSTM,
    SRLSTM,
    AdamLSTM,
    MomentumLSTM,
    RMSPropLSTM,
)

VARIANTS = {  # hyperparameters of the paper's MNIST runs; they have no influence on the time
    "nn.LSTM": lambda n, **options: nn.LSTM(1, n),
    "LSTM": lambda n, **options: LSTM(1, n, **options),
    "Momentum": lambda n, **options: MomentumLSTM(1, n, mu=0.6, s=0.6, **options),
    "NAG": lambda n, **options: NAGLSTM(1, n, s=1.0, **options),
    "SR": lambda n, **options: SRLSTM(1, n, s=1.0, restart=2, **options),
    "Adam": lambda n, **options: AdamLSTM(1, n, mu=0.6, s=0.6, beta=0.1, **options),
    "RMSProp": lambda n, **options: RMSPropLSTM(1, n, s=0.6, beta=0.9, **options),
}
STOCK = "nn.LSTM"


def main() -> None:
    options = parse_arguments()
    prepare(options)
    if options.memory_of:
        print(peak_memory(options.memory_of, options.sizes[0], options))
        return
    rows = [row for size in options.sizes for row in measure(size, options)]
    print_table(rows)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    with options.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"\nWritten to {options.output}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[128, 256], help="hidden units (default: 128 256)")
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds, after one that is not (default: 5)")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--reference", action="store_true", help="also time the loop over time (one round; slow)")
    parser.add_argument("--steps", type=int, default=784, help="length of a sequence (default: 784)")
    parser.add_argument("--batch", type=int, default=128, help="sequences (default: 128)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="torch's threads")
    parser.add_argument("--output", type=Path, help="CSV (default: benchmarks/results/train_step-DEVICE.csv)")
    parser.add_argument("--memory-of", choices=list(VARIANTS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device cuda: torch finds no GPU")
    options.output = options.output or ROOT / "benchmarks" / "results" / f"train_step-{options.device}.csv"
    return options


def prepare(options: argparse.Namespace) -> None:
    torch.manual_seed(0)
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)  # as training does: else what decays towards 0 becomes slow


def training_step(model: nn.Module, x: torch.Tensor) -> None:
    model.zero_grad()
    model(x)[0][-1].square().mean().backward()


def seconds(model: nn.Module, x: torch.Tensor) -> float:
    synchronise(x)
    start = time.perf_counter()
    training_step(model, x)
    synchronise(x)
    return time.perf_counter() - start


def synchronise(x: torch.Tensor) -> None:
    if x.is_cuda:
        torch.cuda.synchronize()


def measure(size: int, options: argparse.Namespace) -> list[dict]:
    x = torch.rand(options.steps, options.batch, 1, device=options.device)
    models = {name: make(size).to(options.device) for name, make in VARIANTS.items()}
    for model in models.values():
        seconds(model, x)
    rounds = [{name: seconds(model, x) for name, model in models.items()} for _ in range(options.rounds)]
    memory = {name: memory_in_mib(name, size, models[name], x, options) for name in models}
    rows = []
    for name in models:
        ratios = [times[name] / times[STOCK] for times in rounds]
        row = {
            "size": size,
            "variant": name,
            "seconds": round(median(times[name] for times in rounds), 4),
            "ratio_to_nn_lstm": round(median(ratios), 3),
            "ratio_lowest": round(min(ratios), 3),
            "ratio_highest": round(max(ratios), 3),
            "times_faster_than_reference": "",
            "peak_memory_mib": round(memory[name], 1),
            "memory_ratio_to_nn_lstm": round(memory[name] / memory[STOCK], 3) if memory[STOCK] else "",
            **circumstances(options),
        }
        if options.reference and name != STOCK:
            reference = VARIANTS[name](size, backend="reference").to(options.device)
            row["times_faster_than_reference"] = round(seconds(reference, x) / row["seconds"], 1)
        rows.append(row)
    return rows


def memory_in_mib(name: str, size: int, model: nn.Module, x: torch.Tensor, options: argparse.Namespace) -> float:
    if x.is_cuda:
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        training_step(model, x)
        return (torch.cuda.max_memory_allocated() - before) / 2**20
    shape = ["--steps", options.steps, "--batch", options.batch, "--threads", options.threads]
    command = [sys.executable, __file__, "--memory-of", name, "--sizes", size, *shape]
    return float(subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout)


def peak_memory(name: str, size: int, options: argparse.Namespace) -> float:
    """MiB by which a training step raises this process's peak resident memory; for a process that did nothing else."""
    training_step(VARIANTS[name](8), torch.rand(4, 2, 1))  # what the libraries load at their first use is not counted
    model, x = VARIANTS[name](size), torch.rand(options.steps, options.batch, 1)
    before = peak_resident_mib()
    training_step(model, x)
    return peak_resident_mib() - before


def peak_resident_mib() -> float:
    # Not getrusage: what it calls a process's peak includes that of the process it was forked from.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 2**10


def circumstances(options: argparse.Namespace) -> dict:
    return {
        "steps": options.steps,
        "batch": options.batch,
        "rounds": options.rounds,
        "device": torch.cuda.get_device_name() if options.device == "cuda" else processor(),
        "threads": options.threads,
        "torch": torch.__version__,
        "date": datetime.date.today().isoformat(),
    }


def processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def print_table(rows: list[dict]) -> None:
    print(f"{rows[0]['device']}, {rows[0]['threads']} threads, torch {rows[0]['torch']}, {rows[0]['date']}")
    print("\n   N  variant    seconds  to nn.LSTM  (range)         memory  to nn.LSTM  over the loop")
    for row in rows:
        print(
            f"{row['size']:4}  {row['variant']:9} {row['seconds']:8.3f}  {row['ratio_to_nn_lstm']:10.2f}"
            f"  ({row['ratio_lowest']:.2f} - {row['ratio_highest']:.2f})  {row['peak_memory_mib']:6.0f} MiB"
            f"  {row['memory_ratio_to_nn_lstm']:>9}  {row['times_faster_than_reference'] or '-':>13}"
        )


if __name__ == "__main__":
    main()
