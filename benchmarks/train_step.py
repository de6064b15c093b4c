"""Time and memory of one training step of each LSTM and orthogonal RNN, against torch's own nn.LSTM.

    python benchmarks/train_step.py
    python benchmarks/train_step.py --device cuda --reference
    python benchmarks/train_step.py --table

The step is that of pixel-by-pixel MNIST: 128 sequences of 784 scalars, forward, the mean square of the last hidden
state, backward.

`--table` is RESULTS.md's: each cell's ratio to nn.LSTM at three sizes, in one thread and in two, in processes that
keep the memory of freed tensors and that do not, within ten minutes; denormal numbers are flushed to zero in all.
"""

import argparse
import contextlib
import datetime
import functools
import math
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
from torch import nn  # noqa: E402

from hidden_dynamics.measurements import processes  # noqa: E402
from hidden_dynamics.measurements.interleaved import interleaved, ratios_within_rounds  # noqa: E402
from hidden_dynamics.models.momentum.filters import Adam, Identity, Momentum, Nesterov, RMSProp  # noqa: E402
from hidden_dynamics.models.recurrent.lstm import LSTM  # noqa: E402
from hidden_dynamics.models.recurrent.orthogonal import DTRIV  # noqa: E402
from hidden_dynamics.results.rows import read_rows, write_rows  # noqa: E402
from hidden_dynamics.system.arguments import positive  # noqa: E402
from hidden_dynamics.training import devices  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
FILTERS = {  # hyperparameters of the paper's MNIST runs; they have no influence on the time
    "": Identity(),
    "Momentum": Momentum(0.6, 0.6),
    "NAG": Nesterov(1.0),
    "SR": Nesterov(1.0, restart=2),
    "Adam": Adam(0.6, 0.6, 0.1),
    "RMSProp": RMSProp(0.6, 0.9),
}
STOCK, GEMMS = "nn.LSTM", "GEMMs"
VARIANTS = {STOCK: lambda n, **options: nn.LSTM(1, n)}
VARIANTS |= {f"{name}LSTM": functools.partial(LSTM, 1, filter=each) for name, each in FILTERS.items()}
VARIANTS |= {  # K, how often the base of exp(A) moves, is the paper's at a size
    f"{name}DTRIV": lambda n, each=each, **options: DTRIV(1, n, K=1 if n <= 170 else math.inf, filter=each, **options)
    for name, each in FILTERS.items()
}
TABLE = {"sizes": [128, 256, 512], "steps": 196, "rounds": 3}
LIMIT = 145  # seconds of each of the table's four processes


def main() -> None:
    options = parse_arguments()
    if options.table:
        print_ratios(options)
        return
    torch.manual_seed(0)
    if options.process == "freed":  # as a process of the user's own
        torch.set_num_threads(options.threads)
        torch.set_flush_denormal(True)
    else:
        devices.set_arithmetic(options.threads, "fp32")  # as training does: it keeps memory, and TF32 is off
    rows = []
    for size in options.sizes:
        rows += measure(size, options)
        write_rows(options.output, list(rows[0]), rows)  # what is done is kept where a run is stopped
    print_table(rows)
    print(f"\nWritten to {options.output}")


def parse_arguments() -> argparse.Namespace:
    """The command line; refuses a GPU that is not there, and names the output after the device."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--sizes", type=int, nargs="+", default=[128, 256], help="hidden units (default: 128 256)")
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds, after one that is not (default: 5)")
    parser.add_argument("--reference", action="store_true", help="also time the loop over time (one round; slow)")
    parser.add_argument("--steps", type=int, default=784, help="length of a sequence (default: 784)")
    parser.add_argument("--batch", type=int, default=128, help="sequences (default: 128)")
    parser.add_argument("--table", action="store_true", help="ratios to nn.LSTM alone, as a table (see above)")
    parser.add_argument("--process", choices=["kept", "freed"], help=argparse.SUPPRESS)
    text = "cpu: this process's CPU time, for one thread on a busy CPU"
    parser.add_argument("--clock", choices=list(CLOCKS), default="wall", help=text)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--threads", type=positive, default=torch.get_num_threads(), help="torch's threads")
    parser.add_argument("--output", type=Path, help="CSV (default: benchmarks/results/train_step-DEVICE.csv)")
    if "--table" in sys.argv:
        parser.set_defaults(**TABLE)
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device cuda: torch finds no GPU")
    options.output = options.output or RESULTS / f"train_step-{options.device}.csv"
    return options


def timed(actions: Mapping[str, Callable[[], object]], options: argparse.Namespace, rounds: int) -> list[dict]:
    """Seconds of each action, round by round."""
    wait = torch.cuda.synchronize if options.device == "cuda" else lambda: None
    return interleaved(actions, rounds, clock=CLOCKS[options.clock], wait=wait, warm_up=1)


def training_step(model: nn.Module, x: torch.Tensor) -> None:
    model.zero_grad()
    model(x)[0][-1].square().mean().backward()


def gemms(n: int, options: argparse.Namespace) -> Callable[[], None]:
    """The matrix products of an orthogonal cell's step, alone: forwards, backwards and of the matrix."""
    h, q = (torch.rand(*shape, device=options.device) for shape in ((options.steps, options.batch, n), (n, n)))
    out, rows = torch.empty_like(h[0]), h.flatten(0, 1)

    def run() -> None:
        for h_t in (*h, *h):
            torch.mm(h_t, q, out=out)
        torch.mm(rows.t(), rows)

    return run


def measure(size: int, options: argparse.Namespace) -> list[dict]:
    x = torch.rand(options.steps, options.batch, 1, device=options.device)
    models = {name: make(size).to(options.device) for name, make in VARIANTS.items()}
    actions = {name: functools.partial(training_step, model, x) for name, model in models.items()}
    rounds = timed({**actions, GEMMS: gemms(size, options)}, options, options.rounds)
    memory = dict.fromkeys(models, 0.0)
    if not options.process:
        memory = {name: memory_in_mib(name, size, models[name], x, options) for name in models}
    rows = []
    for name in models:
        ratios, of_gemms = (ratios_within_rounds(rounds, *pair) for pair in ((name, STOCK), (GEMMS, name)))
        row = {
            "size": size,
            "variant": name,
            "seconds": round(median(each[name] for each in rounds), 4),
            "ratio": round(median(ratios), 3),
            "ratio_lowest": round(min(ratios), 3),
            "ratio_highest": round(max(ratios), 3),
            "gemm_share": round(median(of_gemms), 3) if name.endswith("DTRIV") else "",
            "times_faster_than_reference": "",
            "peak_memory_mib": round(memory[name], 1),
            "memory_ratio": round(memory[name] / memory[STOCK], 3) if memory[STOCK] else "",
            **{name: getattr(options, name) for name in ("steps", "batch", "rounds")},
            "device": torch.cuda.get_device_name() if options.device == "cuda" else processes.processor(),
            "threads": options.threads,
            "torch": torch.__version__,
            "date": datetime.date.today().isoformat(),
        }
        if options.reference and name != STOCK:
            reference = VARIANTS[name](size, backend="reference").to(options.device)
            (taken,) = timed({name: functools.partial(training_step, reference, x)}, options, rounds=1)
            row["times_faster_than_reference"] = round(taken[name] / row["seconds"], 1)
        rows.append(row)
    return rows


def memory_in_mib(name: str, size: int, model: nn.Module, x: torch.Tensor, options: argparse.Namespace) -> float:
    """MiB by which a training step raises the peak of what torch has allocated on a GPU, or of a fresh process."""
    if x.is_cuda:
        return processes.allocated_beyond(functools.partial(training_step, model, x), x.device) / 2**20
    return processes.in_fresh_process("spawn", name, peak_memory, name, size, options)


def peak_memory(name: str, size: int, options: argparse.Namespace) -> float:
    """MiB by which a training step raises this process's peak resident memory; for a process that did nothing else."""
    devices.set_arithmetic(options.threads, "fp32")
    training_step(VARIANTS[name](8), torch.rand(4, 2, 1))  # what the libraries load at their first use is not counted
    model, x = VARIANTS[name](size), torch.rand(options.steps, options.batch, 1)
    (peak,) = processes.resident_beyond([functools.partial(training_step, model, x)])
    return peak / 2**20


def print_table(rows: list[dict]) -> None:
    print(f"{rows[0]['device']}, {rows[0]['threads']} threads, torch {rows[0]['torch']}, {rows[0]['date']}")
    print("\n   N  variant              seconds    ratio  (range)         memory    ratio  over the loop")
    for row in rows:
        print(
            f"{row['size']:4}  {row['variant']:19} {row['seconds']:8.3f}  {row['ratio']:7.2f}"
            f"  ({row['ratio_lowest']:.2f} - {row['ratio_highest']:.2f})  {row['peak_memory_mib']:6.0f} MiB"
            f"  {row['memory_ratio']:>7}  {row['times_faster_than_reference'] or '-':>13}"
        )


def in_table(row: dict[str, str]) -> str:
    if row["variant"] == STOCK:
        return f"{float(row['seconds']):.2f} s"
    return f"{float(row['ratio']):.2f}" + (f" ({float(row['gemm_share']):.0%})" if row["gemm_share"] else "")


def print_ratios(options: argparse.Namespace) -> None:
    """Each cell's ratios at the sizes, by memory and threads, and in brackets, of an orthogonal cell, the share of the
    GEMMs' speed that it reaches; what a process did not come to within its time is left out."""
    columns = {(threads, memory): [] for memory in ("kept", "freed") for threads in (1, 2)}
    for (threads, memory), rows in columns.items():
        output = options.output.with_name(f"table-{memory}-{threads}.csv")
        output.unlink(missing_ok=True)
        given = {"process": memory, "threads": threads, "output": output, "clock": options.clock}
        given |= {name: getattr(options, name) for name in ("steps", "batch", "rounds")}
        command = [sys.executable, __file__, "--sizes", *map(str, options.sizes)]
        command += [f"--{name}={value}" for name, value in given.items()]
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=LIMIT)
        if output.exists():  # the first size was done in time
            rows += read_rows(output)
    print(f"| | {' | '.join(f'{memory}, {threads}' for threads, memory in columns)} |\n{5 * '|---'}|")
    for name in VARIANTS:
        found = [[row for row in rows if row["variant"] == name] for rows in columns.values()]
        cells = [", ".join(map(in_table, rows)) for rows in found]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
