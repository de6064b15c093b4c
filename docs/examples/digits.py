"""A MomentumLSTM in the place of nn.LSTM: scikit-learn's digits, 8 x 8 pixels, read one pixel after another.

    python docs/examples/digits.py [--epochs 30]

It needs scikit-learn beside the library, and prints the accuracy on 360 digits that neither network was trained on.
The cell is the only line that differs. One seed shows that both learn, not which of them is the better.
"""

import argparse

import torch
from sklearn.datasets import load_digits
from torch import nn

import hidden_dynamics.nn as hd

CELLS = {
    "nn.LSTM": lambda: nn.LSTM(1, 64),
    "MomentumLSTM": lambda: hd.MomentumLSTM(1, 64, mu=0.6, s=0.6),
}


class Classifier(nn.Module):
    def __init__(self, rnn: nn.Module):
        super().__init__()
        self.rnn, self.readout = rnn, nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, 10), logits of the digits x, (64, batch, 1): time comes first, as in torch."""
        output, (h, c) = self.rnn(x)
        return self.readout(h[-1])


def digits() -> tuple[torch.Tensor, torch.Tensor]:
    """Pixels (64, 1797, 1) from 0 to 1, and labels (1797,), in one random order."""
    images, labels = load_digits(return_X_y=True)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    x = torch.tensor(images, dtype=torch.float32)[order] / 16
    return x.t().unsqueeze(-1), torch.tensor(labels)[order]


def accuracy(network: nn.Module, x: torch.Tensor, labels: torch.Tensor, epochs: int, held_out: int = 360) -> float:
    """On the digits held out, after training on the others."""
    optimiser = torch.optim.Adam(network.parameters(), lr=0.005)
    for _ in range(epochs):
        for batch in (held_out + torch.randperm(len(labels) - held_out)).split(64):
            optimiser.zero_grad()
            nn.functional.cross_entropy(network(x[:, batch]), labels[batch]).backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
    with torch.inference_mode():
        return (network(x[:, :held_out]).argmax(1) == labels[:held_out]).float().mean().item()


def main() -> None:
    torch.set_num_threads(1)  # what is this small is slower when shared out
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=30)
    epochs = parser.parse_args().epochs
    x, labels = digits()
    for name, cell in CELLS.items():
        torch.manual_seed(0)
        print(f"{name}: {accuracy(Classifier(cell()), x, labels, epochs):.3f}")


if __name__ == "__main__":
    main()
