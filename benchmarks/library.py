"""The cells and the solver beside their nearest relatives, in one table, within half a minute: docs/library.md's.

    python benchmarks/library.py

Each row times forward and backward of two ways to the same numbers, in rounds, in CPU time of one thread: ours, and
torch's or torchdiffeq's; torchode's too, where it is installed.
"""

import argparse
import datetime
import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch.nn.utils.rnn import pack_padded_sequence  # noqa: E402
from torchdiffeq import odeint  # noqa: E402
from train_step import RESULTS  # noqa: E402

import hidden_dynamics.nn as hd  # noqa: E402
from hidden_dynamics.measurements.interleaved import interleaved, ratios_within_rounds  # noqa: E402
from hidden_dynamics.measurements.processes import processor  # noqa: E402
from hidden_dynamics.results.rows import write_rows  # noqa: E402
from hidden_dynamics.system.arguments import positive  # noqa: E402
from hidden_dynamics.training import devices  # noqa: E402

Action = Callable[[], object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=positive, default=3)
    parser.add_argument("--output", type=Path, default=RESULTS / "library.csv")
    options = parser.parse_args()
    torch.manual_seed(0)
    devices.set_arithmetic(1, "fp32")  # as training does: it keeps memory and flushes denormals
    about = {"rounds": options.rounds, "device": processor(), "torch": torch.__version__}
    about |= {"date": datetime.date.today().isoformat()}
    rows = []
    for title, (theirs, ours) in comparisons().items():
        actions = {"theirs": theirs, "ours": ours}
        rounds = interleaved(actions, options.rounds, clock=time.process_time, wait=lambda: None, warm_up=1)
        ratios, seconds = ratios_within_rounds(rounds, "ours", "theirs"), median(each["ours"] for each in rounds)
        ratio, low, high = (round(value, 3) for value in (median(ratios), min(ratios), max(ratios)))
        rows.append({"what": title, "seconds": round(seconds, 4), "ratio": ratio, "low": low, "high": high, **about})
        print(f"{title}: × {ratio:.2f} ({low:.2f} to {high:.2f}), {seconds:.3f} s", flush=True)
    write_rows(options.output, list(rows[0]), rows)


def comparisons() -> dict[str, tuple[Action, Action]]:
    """Of each row, their way and ours."""
    x, stock = torch.randn(196, 128, 1), nn.LSTM(1, 128)
    cells = {
        "MomentumLSTM against nn.LSTM": hd.MomentumLSTM(1, 128, mu=0.6, s=0.6),
        "AdamLSTM against nn.LSTM": hd.AdamLSTM(1, 128, mu=0.6, s=0.6, beta=0.1),
        "DTRIV against nn.LSTM": hd.DTRIV(1, 128),
        "MomentumDTRIV against nn.LSTM": hd.MomentumDTRIV(1, 128, mu=0.6, s=0.9),
    }
    return {
        **{title: (step(stock, x), step(cell, x)) for title, cell in cells.items()},
        "LSTM, 32 packed sequences of 20 to 119 steps, N = 64": packed(32, 64, 20, 120),
        "LSTM, 128 packed sequences of 20 to 149 steps, N = 128": packed(128, 128, 20, 150),
        "nn.LSTM with denormals flushed, against without": flushed(stock, x),
        **rows_of_an_ode(),
    }


def step(rnn: nn.Module, x: Tensor) -> Action:
    return lambda: rnn(x)[0][-1].square().mean().backward()


def packed(batch: int, size: int, shortest: int, longest: int) -> tuple[Action, Action]:
    lengths = torch.randint(shortest, longest, (batch,)).sort(descending=True).values
    x = pack_padded_sequence(torch.randn(int(lengths[0]), batch, size), lengths)
    stock = nn.LSTM(size, size)
    ours = hd.LSTM.from_torch(stock)
    return tuple(lambda rnn=rnn: rnn(x)[0].data.square().mean().backward() for rnn in (stock, ours))


def flushed(rnn: nn.Module, x: Tensor) -> tuple[Action, Action]:
    def with_denormals(flush: bool) -> None:
        torch.set_flush_denormal(flush)
        step(rnn, x)()
        torch.set_flush_denormal(True)  # as set_arithmetic has it

    return lambda: with_denormals(False), lambda: with_denormals(True)


class Dynamics(nn.Module):
    def __init__(self, size: int = 20, units: int = 50):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(size, units), nn.Tanh(), nn.Linear(units, units), nn.Tanh(), nn.Linear(units, size)
        )

    def forward(self, t: Tensor, y: Tensor) -> Tensor:
        return 8 * self.net(y)


def rows_of_an_ode(times_asked: int = 400, series: int = 150) -> dict[str, tuple[Action, Action]]:
    """Irregular series ask for few rows at each of many times: three here, of 150 series that are solved together."""
    f, start, grid = Dynamics(), torch.randn(series, 20), torch.linspace(0, 1, times_asked)
    tolerances = {"rtol": 1e-3, "atol": 1e-4, "method": "dopri5"}
    integral = hd.Integral(f, hd.Solver(**tolerances, adjoint=False))
    offsets, asked = torch.arange(times_asked + 1) * 3, torch.randint(0, series, (3 * times_asked,))

    def ours() -> None:
        integral.of_rows(start.unsqueeze(0), grid.double(), offsets, asked)[0].square().mean().backward()

    title = f"Integral.of_rows, {times_asked} times, {series} series, against"
    ways: dict[str, Action] = {"torchdiffeq": lambda: odeint(f, start, grid, **tolerances).square().mean().backward()}
    if importlib.util.find_spec("torchode"):
        ways["torchode"] = by_torchode(f, start, grid)
    return {f"{title} {name}": (theirs, ours) for name, theirs in ways.items()}


def by_torchode(f: nn.Module, start: Tensor, grid: Tensor) -> Action:
    import torchode

    term = torchode.ODETerm(f)
    controller = torchode.IntegralController(atol=1e-4, rtol=1e-3, term=term)
    solver = torchode.AutoDiffAdjoint(torchode.Dopri5(term=term), controller)
    asked = grid.expand(len(start), -1).contiguous()
    return lambda: solver.solve(torchode.InitialValueProblem(y0=start, t_eval=asked)).ys.square().mean().backward()


if __name__ == "__main__":
    main()
