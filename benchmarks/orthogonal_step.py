"""Time of one training step of DTRIV and MomentumDTRIV, against the same models as plain autograd loops.

    python benchmarks/orthogonal_step.py
    python benchmarks/orthogonal_step.py --device cuda
    python benchmarks/orthogonal_step.py --sizes 32 --steps 50 --batch 8 --rounds 1

The step is that of permuted pixel-by-pixel MNIST: 128 sequences of 784 scalars, forward, cross-entropy of a readout of
the last hidden state, backward through the recurrence and through the making of Q, clipping, and a step of both
optimisers. K is the paper's at that size: 1 up to 170 units, infinity above. Every round times every variant once, so
that what else the machine does falls on all alike; a ratio is the median over the rounds of the ratios within a round.
"""

import argparse
import functools
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
from shared import circumstances, median_with_range, parse, prepare, times, write  # noqa: E402
from torch import Tensor, nn  # noqa: E402

from hidden_dynamics.measurements.interleaved import ratios_within_rounds  # noqa: E402
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

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        return {"main": [self.weight_ih, self.bias], "orthogonal": [self.A]}

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


VARIANTS = {
    "DTRIV": lambda n, K: DTRIV(1, n, K=K),
    "MomentumDTRIV": lambda n, K: MomentumDTRIV(1, n, mu=0.6, s=0.9, K=K),
    "DTRIV, plain loop": lambda n, K: PlainLoop(n, 0.0, 1.0, K),
    "MomentumDTRIV, plain loop": lambda n, K: PlainLoop(n, 0.6, 0.9, K),
}
PLAIN = ", plain loop"


class Training:
    """A model, a readout, and the two optimisers of Table 6."""

    def __init__(self, name: str, n: int, device: str):
        self.model = VARIANTS[name](n, 1 if n <= 170 else float("inf")).to(device)
        self.readout = nn.Linear(n, 10, device=device)
        groups = self.model.parameter_groups()
        main = [*groups["main"], *self.readout.parameters()]
        self.parameters = [*main, *groups["orthogonal"]]
        self.optimisers = [
            torch.optim.RMSprop(main, lr=7e-4),
            torch.optim.RMSprop(groups["orthogonal"], lr=2e-4),
        ]

    def step(self, x: Tensor, labels: Tensor) -> None:
        for optimiser in self.optimisers:
            optimiser.zero_grad()
        nn.functional.cross_entropy(self.readout(self.model(x)[0][-1]), labels).backward()
        nn.utils.clip_grad_norm_(self.parameters, 1.0)
        for optimiser in self.optimisers:
            optimiser.step()


def main() -> None:
    options = parse_arguments()
    prepare(options)
    rows = []
    for size in options.sizes:
        rows += measure(size, options)
        write(rows, options.output)  # what is done is kept where a run is stopped
    print_table(rows)
    print(f"\nWritten to {options.output}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[170, 512], help="hidden units (default: 170 512)")
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds, after two that are not (default: 5)")
    parser.add_argument("--steps", type=int, default=784, help="length of a sequence (default: 784)")
    parser.add_argument("--batch", type=int, default=128, help="sequences (default: 128)")
    return parse(parser, "orthogonal_step")


def measure(size: int, options: argparse.Namespace) -> list[dict]:
    x = torch.rand(options.steps, options.batch, 1, device=options.device)
    labels = torch.randint(10, (options.batch,), device=options.device)
    trainings = {name: Training(name, size, options.device) for name in VARIANTS}
    rounds = times({name: functools.partial(t.step, x, labels) for name, t in trainings.items()}, options)
    rows = []
    for name in VARIANTS:
        faster = median_with_range(ratios_within_rounds(rounds, name.removesuffix(PLAIN) + PLAIN, name))
        to_dtriv = median_with_range(ratios_within_rounds(rounds, name, "DTRIV"))
        row = {
            "size": size,
            "variant": name,
            "seconds": round(median(seconds[name] for seconds in rounds), 4),
            "times_faster_than_plain": round(faster.median, 3),
            "lowest": round(faster.low, 3),
            "highest": round(faster.high, 3),
            "ratio_to_dtriv": round(to_dtriv.median, 3),
            "ratio_lowest": round(to_dtriv.low, 3),
            "ratio_highest": round(to_dtriv.high, 3),
            **circumstances(options),
        }
        rows.append(row)
    return rows


def print_table(rows: list[dict]) -> None:
    print(f"{rows[0]['device']}, {rows[0]['threads']} threads, torch {rows[0]['torch']}, {rows[0]['date']}")
    print("\n   N  variant                    seconds  over the plain loop    to DTRIV")
    for row in rows:
        print(
            f"{row['size']:4}  {row['variant']:25} {row['seconds']:8.3f}  {row['times_faster_than_plain']:5.2f}"
            f" ({row['lowest']:.2f} - {row['highest']:.2f})  {row['ratio_to_dtriv']:5.2f}"
            f" ({row['ratio_lowest']:.2f} - {row['ratio_highest']:.2f})"
        )


if __name__ == "__main__":
    main()
