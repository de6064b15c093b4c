"""Write golden vectors of the recurrent cells, for those who port them: published/golden_cells.npz.

    python tools/golden.py

tests/test_golden.py holds the cells to the file.

Of each cell, in float64, under its name and a slash: the weights, the input `x` (T, batch, d), the initial state 0, the
`output` (T, batch, N), and the gradients of sum(output^2) with respect to x (`gradient.x`) and to each weight. Of an
orthogonal cell, `Q` is B exp(A) of its `base` B and `skew` A.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
import torch  # noqa: E402

import hidden_dynamics.nn as hd  # noqa: E402

FILE = ROOT / "published/golden_cells.npz"
STEPS, BATCH, D, N = 7, 2, 3, 4
MOMENTUM = {"mu": 0.6, "s": 0.5}
ADAM = {"mu": 0.6, "s": 0.5, "beta": 0.9}
RESTART = {"s": 0.5, "restart": 3, "phase": 1}
RMSPROP = {"s": 0.5, "beta": 0.9}
CELLS = {
    "LSTM": {},
    "MomentumLSTM": MOMENTUM,
    "AdamLSTM": ADAM,
    "RMSPropLSTM": RMSPROP,
    "NAGLSTM": {"s": 0.5},
    "SRLSTM": RESTART,
    "DTRIV": {},
    "MomentumDTRIV": MOMENTUM,
    "AdamDTRIV": ADAM,
    "RMSPropDTRIV": RMSPROP,
    "SRDTRIV": RESTART,
}


def vectors(name: str) -> dict[str, np.ndarray]:
    """The arrays of one cell; its weights are drawn at random, since the initial ones are mostly 0."""
    generator = torch.Generator().manual_seed(0)
    with torch.random.fork_rng():
        torch.manual_seed(0)  # of an orthogonal matrix's base
        cell = getattr(hd, name)(D, N, **CELLS[name], dtype=torch.float64).eval()
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.copy_(0.5 * torch.randn(parameter.shape, dtype=torch.float64, generator=generator))
    x = torch.randn(STEPS, BATCH, D, dtype=torch.float64, generator=generator).requires_grad_()
    output = cell(x)[0]
    output.square().sum().backward()
    weights = {key: value.numpy() for key, value in cell.state_dict().items()}
    gradients = {f"gradient.{key}": value.grad.numpy() for key, value in cell.named_parameters()}
    arrays = {"x": x.detach().numpy(), "output": output.detach().numpy(), "gradient.x": x.grad.numpy()}
    if name.endswith("DTRIV"):
        arrays["Q"] = cell.orthogonal_l0().detach().numpy()
    return {f"{name}/{key}": array for key, array in {**weights, **arrays, **gradients}.items()}


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    np.savez(FILE, **{key: array for name in CELLS for key, array in vectors(name).items()})


if __name__ == "__main__":
    main()
