"""An ACE-NODE of one's own: series that are observed at irregular times, and what they are at others.

    python docs/examples/ace_node.py [--iterations 300]

Each series is a decaying oscillation with a rhythm of its own, seen 20 times at random between 0 and 1. A GRU reads
what is seen and gives h(0); the attention starts at a(0) = W h(0) + b. Both evolve by networks f and g, which see
h' = h * sigmoid(a). Prints the error at ten other times of new series; a constant, their mean, has 1.
"""

import argparse

import torch
from torch import Tensor, nn

import hidden_dynamics.nn as hd

SIZE, SEEN, ASKED = 16, 20, 10


def series(many: int) -> tuple[Tensor, ...]:
    """Times and values of what is seen, (many, SEEN) each, ascending, and of what is asked, (many, ASKED), after 0."""
    phase, rhythm = 2 * torch.pi * torch.rand(many, 1), 4 + 8 * torch.rand(many, 1)
    times = torch.rand(many, SEEN).sort(1).values, 1 - torch.rand(many, ASKED)
    return tuple(each for t in times for each in (t, torch.exp(-t) * torch.cos(rhythm * t + phase)))


class Dynamics(nn.Sequential):
    """f or g: a rate of change, of the shape of h'. Time is given, and does not enter."""

    def forward(self, t: Tensor, attended: Tensor) -> Tensor:
        return super().forward(attended)


class ACENODE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.start = nn.GRU(2, SIZE, batch_first=True), nn.Linear(SIZE, SIZE)
        f, g = (Dynamics(nn.Linear(SIZE, 32), nn.Tanh(), nn.Linear(32, SIZE)) for _ in range(2))
        self.integral = hd.Integral(hd.CoEvolving(f, g), hd.Solver("dopri5", rtol=1e-3, atol=1e-3, adjoint=False))
        self.readout = nn.Linear(SIZE, 1)

    def forward(self, seen: Tensor, values: Tensor, asked: Tensor) -> Tensor:
        """The values at the times asked for, (many, ASKED): the solver walks once over those of all series."""
        _, h = self.encoder(torch.stack([seen, values], -1).flip(1))  # the latest first: h is (1, many, SIZE) at time 0
        order = asked.flatten().argsort()
        times, counts = torch.cat([torch.zeros(1), asked.flatten()]).double().unique(return_counts=True)
        offsets = torch.cat([torch.zeros(2, dtype=torch.int64), counts[1:].cumsum(0)])  # no row at 0
        rows, _ = self.integral.of_rows((h, self.start(h)), times, offsets, order // ASKED)
        return self.readout(rows[0])[order.argsort()].view_as(asked)


def main() -> None:
    torch.set_num_threads(1)  # what is this small is slower when shared out
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=300)
    torch.manual_seed(0)
    network = ACENODE()
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(parser.parse_args().iterations):
        *given, expected = series(64)
        optimiser.zero_grad()
        nn.functional.mse_loss(network(*given), expected).backward()
        optimiser.step()
    *given, expected = series(1000)
    with torch.inference_mode():
        print(f"error: {nn.functional.mse_loss(network(*given), expected) / expected.var():.3f}")


if __name__ == "__main__":
    main()
