"""Is it momentum, or only the scale? Filters side by side, on the adding problem (Hochreiter & Schmidhuber 1997).

    python docs/examples/filters.py --figure filters.png [--iterations 500]

Momentum's filter v_t = mu v_{t-1} + s g_t changes two things: it remembers, by mu, and it scales, by s. The control has
the same s and mu = 0: what momentum does is the difference between these two curves, not the one to the plain cell.
On this problem it hinders: after 500 iterations the loss with momentum is the highest of the four.
It needs matplotlib beside the library, and prints the loss at the end; who always says 1, the mean, has 0.167.
"""

import argparse

import torch
from matplotlib.figure import Figure
from torch import nn

import hidden_dynamics.nn as hd

FILTERS = {
    "plain LSTM": hd.Identity(),
    "momentum": hd.Momentum(mu=0.6, s=0.6),
    "scale only": hd.Momentum(mu=0.0, s=0.6),
    "Adam": hd.Adam(mu=0.6, s=0.6, beta=0.99),
}


def adding_problem(length: int, batch: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Numbers from 0 to 1, two of them marked, (length, batch, 2); and the sum of the two, (batch,)."""
    numbers, marks = torch.rand(length, batch), torch.zeros(length, batch)
    for low, high in ((0, length // 2), (length // 2, length)):
        marks[torch.randint(low, high, (batch,)), torch.arange(batch)] = 1
    return torch.stack([numbers, marks], -1), (numbers * marks).sum(0)


def losses(filter: nn.Module, iterations: int) -> list[float]:
    """The training loss of each iteration; weights and data are the same for every filter."""
    torch.manual_seed(0)
    rnn, readout = hd.LSTM(2, 48, filter=filter), nn.Linear(48, 1)
    parameters = [*rnn.parameters(), *readout.parameters()]
    optimiser, found = torch.optim.Adam(parameters, lr=0.01), []
    for _ in range(iterations):
        x, target = adding_problem(12, 64)
        output, _ = rnn(x)
        loss = nn.functional.mse_loss(readout(output[-1]).squeeze(-1), target)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        found.append(loss.item())
    return found


def main() -> None:
    torch.set_num_threads(1)  # what is this small is slower when shared out
    parser = argparse.ArgumentParser()
    parser.add_argument("--figure", required=True)
    parser.add_argument("--iterations", type=int, default=500)  # 20 or more
    given, figure = parser.parse_args(), Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for name, filter in FILTERS.items():
        found = torch.tensor(losses(filter, given.iterations))
        smooth = found.unfold(0, 20, 1).mean(1)  # over 20 iterations
        axes.semilogy(range(20, 20 + len(smooth)), smooth, label=name)
        print(f"{name}: {smooth[-1]:.4f}")
    axes.set(xlabel="iteration", ylabel="mean squared error")
    axes.legend()
    figure.savefig(given.figure)


if __name__ == "__main__":
    main()
