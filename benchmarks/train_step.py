"""Time and memory of one training step of each LSTM, against torch's own nn.LSTM, and of DTRIV against a plain loop.

    python benchmarks/train_step.py
    python benchmarks/train_step.py --device cuda --reference

The step is that of pixel-by-pixel MNIST: 128 sequences of 784 scalars, forward, the mean square of the last hidden
state, backward. Every round times every variant once, nn.LSTM among them, so that what else the machine does falls on
all alike; a ratio is the median over the rounds of the ratios within a round. Memory is the peak beyond what the
process held before the step: on a GPU what torch allocated, on the CPU the resident memory of a fresh process for each.
"""

import argparse
import functools
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
from shared import (  # noqa: E402
    add_clock,
    circumstances,
    compared,
    parse,
    peak_mib,
    peak_of_fresh_process,
    prepare,
    times,
    write,
)
from torch import Tensor, nn  # noqa: E402

from hidden_dynamics.models.recurrent.lstm import LSTM, NAGLSTM, SRLSTM, AdamLSTM, MomentumLSTM, RMSPropLSTM  # noqa: E402
from hidden_dynamics.models.recurrent.orthogonal import DTRIV, MomentumDTRIV  # noqa: E402


class PlainLoop(nn.Module):
    """MomentumDTRIV, or DTRIV where mu = 0 and s = 1, with everything left to autograd.

    As one would write it first: A is a free matrix of which the part above the diagonal counts, Q = base exp(A - A^T).
    """

    def __init__(self, n: int, mu: float, s: float, K: int | float):
        super().__init__()
        self.mu, self.s, self.K = mu, s, K
        self.weight_ih, self.bias = nn.Parameter(2**0.5 * torch.randn(n, 1)), nn.Parameter(0.01 * torch.randn(n))
        self.A = nn.Parameter(torch.zeros(n, n))
        self.register_buffer("base", torch.linalg.qr(torch.randn(n, n))[0])

    def matrix(self) -> Tensor:
        upper = self.A.triu(1)
        return self.base @ torch.matrix_exp(upper - upper.T)

    def forward(self, x: Tensor) -> tuple[Tensor, None]:
        if self.K == 1:
            with torch.no_grad():
                self.base.copy_(self.matrix())
                self.A.zero_()
        q = self.matrix()
        h = v = x.new_zeros(x.shape[1], q.shape[0])
        for x_t in x:
            y = x_t @ self.weight_ih.t()
            if self.mu > 0:
                v = y = self.mu * v + self.s * y
            z = y + h @ q
            h = torch.sign(z) * torch.relu(z.abs() + self.bias)
        return h.unsqueeze(0), None


def k_of(n: int) -> float:
    """K of the paper at a size: how often the base of exp(A) moves."""
    return 1 if n <= 170 else float("inf")


VARIANTS = {  # hyperparameters of the paper's MNIST runs; they have no influence on the time
    "nn.LSTM": lambda n, **options: nn.LSTM(1, n),
    "LSTM": lambda n, **options: LSTM(1, n, **options),
    "Momentum": lambda n, **options: MomentumLSTM(1, n, mu=0.6, s=0.6, **options),
    "NAG": lambda n, **options: NAGLSTM(1, n, s=1.0, **options),
    "SR": lambda n, **options: SRLSTM(1, n, s=1.0, restart=2, **options),
    "Adam": lambda n, **options: AdamLSTM(1, n, mu=0.6, s=0.6, beta=0.1, **options),
    "RMSProp": lambda n, **options: RMSPropLSTM(1, n, s=0.6, beta=0.9, **options),
    "plain DTRIV": lambda n, **options: PlainLoop(n, 0.0, 1.0, k_of(n)),
    "DTRIV": lambda n, **options: DTRIV(1, n, K=k_of(n), **options),
    "plain MomentumDTRIV": lambda n, **options: PlainLoop(n, 0.6, 0.9, k_of(n)),
    "MomentumDTRIV": lambda n, **options: MomentumDTRIV(1, n, mu=0.6, s=0.9, K=k_of(n), **options),
}
STOCK, PLAIN = "nn.LSTM", "plain "


def baseline_of(name: str) -> str:
    """What a variant is compared with: the plain loop of it, or torch's LSTM."""
    name = name.removeprefix(PLAIN)
    return PLAIN + name if PLAIN + name in VARIANTS else STOCK


def main() -> None:
    options = parse_arguments()
    prepare(options)
    if options.memory_of:
        print(peak_memory(options.memory_of, options.sizes[0], options))
        return
    rows = []
    for size in options.sizes:
        rows += measure(size, options)
        write(rows, options.output)  # what is done is kept where a run is stopped
    print_table(rows)
    print(f"\nWritten to {options.output}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[128, 256], help="hidden units (default: 128 256)")
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds, after one that is not (default: 5)")
    parser.add_argument("--reference", action="store_true", help="also time the loop over time (one round; slow)")
    parser.add_argument("--steps", type=int, default=784, help="length of a sequence (default: 784)")
    parser.add_argument("--batch", type=int, default=128, help="sequences (default: 128)")
    parser.add_argument("--memory-of", choices=list(VARIANTS), help=argparse.SUPPRESS)
    add_clock(parser)
    return parse(parser, "train_step")


def training_step(model: nn.Module, x: torch.Tensor) -> None:
    model.zero_grad()
    model(x)[0][-1].square().mean().backward()


def measure(size: int, options: argparse.Namespace) -> list[dict]:
    x = torch.rand(options.steps, options.batch, 1, device=options.device)
    models = {name: make(size).to(options.device) for name, make in VARIANTS.items()}
    rounds = times({name: functools.partial(training_step, model, x) for name, model in models.items()}, options)
    memory = {name: memory_in_mib(name, size, models[name], x, options) for name in models}
    rows = []
    for name in models:
        baseline = baseline_of(name)
        ratio, seconds = compared(rounds, name, baseline)
        row = {
            "size": size,
            "variant": name,
            "seconds": round(seconds, 4),
            "baseline": baseline,
            "ratio": round(ratio.median, 3),
            "ratio_lowest": round(ratio.low, 3),
            "ratio_highest": round(ratio.high, 3),
            "times_faster_than_reference": "",
            "peak_memory_mib": round(memory[name], 1),
            "memory_ratio": round(memory[name] / memory[baseline], 3) if memory[baseline] else "",
            **circumstances(options),
        }
        if options.reference and name not in (STOCK, baseline):
            reference = VARIANTS[name](size, backend="reference").to(options.device)
            (taken,) = times({name: functools.partial(training_step, reference, x)}, options, rounds=1)
            row["times_faster_than_reference"] = round(taken[name] / row["seconds"], 1)
        rows.append(row)
    return rows


def memory_in_mib(name: str, size: int, model: nn.Module, x: torch.Tensor, options: argparse.Namespace) -> float:
    if x.is_cuda:
        return peak_mib(functools.partial(training_step, model, x), options)
    return peak_of_fresh_process(__file__, name, options, sizes=size, steps=options.steps, batch=options.batch)


def peak_memory(name: str, size: int, options: argparse.Namespace) -> float:
    """MiB by which a training step raises this process's peak resident memory; for a process that did nothing else."""
    training_step(VARIANTS[name](8), torch.rand(4, 2, 1))  # what the libraries load at their first use is not counted
    model, x = VARIANTS[name](size), torch.rand(options.steps, options.batch, 1)
    return peak_mib(functools.partial(training_step, model, x), options)


def print_table(rows: list[dict]) -> None:
    print(f"{rows[0]['device']}, {rows[0]['threads']} threads, torch {rows[0]['torch']}, {rows[0]['date']}")
    print("\n   N  variant              seconds    ratio  (range)         memory    ratio  over the loop")
    for row in rows:
        print(
            f"{row['size']:4}  {row['variant']:19} {row['seconds']:8.3f}  {row['ratio']:7.2f}"
            f"  ({row['ratio_lowest']:.2f} - {row['ratio_highest']:.2f})  {row['peak_memory_mib']:6.0f} MiB"
            f"  {row['memory_ratio']:>7}  {row['times_faster_than_reference'] or '-':>13}"
        )


if __name__ == "__main__":
    main()
