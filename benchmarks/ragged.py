"""Time of one training step on utterances of different lengths, against padding them.

    python benchmarks/ragged.py
    python benchmarks/ragged.py --device cuda --rounds 20

The data is TIMIT-shaped: the lengths of 512 utterances are 50 + 440 B frames, rounded down, B drawn from the beta
distribution with parameters 2 and 4.07 (mean 195, standard deviation 78), the longest set to 490; the frames are
noise. A step is that of the task: make the batch, forward, the loss, backward. Every round draws a batch without
replacement and times it in each way, the order of the ways changing from round to round:

- ragged: as training does (hidden_dynamics.models.ragged);
- batch: every utterance padded to the longest of its batch;
- data set: every utterance padded to the longest of all, 490 frames.

A ratio is the median over the rounds of the ratios within a round. `rows` are the steps of sequences that were run.
"""

import argparse
import datetime
import functools
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import torch  # noqa: E402
from shared import add_clock, compared, parse, prepare, times, write  # noqa: E402
from torch import Tensor  # noqa: E402

from hidden_dynamics.data.speech import BINS  # noqa: E402
from hidden_dynamics.measurements.interleaved import WARM_UP, processor  # noqa: E402
from hidden_dynamics.models.ragged import CPU_SEGMENT, GPU_SEGMENT, segments, valid_steps  # noqa: E402
from hidden_dynamics.models.recurrent.lstm import LSTM, MomentumLSTM  # noqa: E402
from hidden_dynamics.models.recurrent.orthogonal import DTRIV, MomentumDTRIV  # noqa: E402
from hidden_dynamics.models.recurrent_network import RecurrentNetwork  # noqa: E402
from hidden_dynamics.tasks.speech import SpeechPrediction  # noqa: E402

SHORTEST, LONGEST, UTTERANCES = 50, 490, 512
MODELS = {  # core, hyperparameters of the paper's TIMIT runs, batch sizes
    "LSTM": (LSTM, {"hidden_size": 158, "forget_bias": -4.0}, (32, 128)),
    "Momentum": (MomentumLSTM, {"hidden_size": 158, "forget_bias": -4.0, "mu": 0.3, "s": 0.1}, (32, 128)),
    "DTRIV": (DTRIV, {"hidden_size": 224, "initialisation": "henaff", "K": "inf"}, (128,)),
    "MomentumDTRIV": (
        MomentumDTRIV,
        {"hidden_size": 224, "initialisation": "henaff", "K": "inf", "mu": 0.3, "s": 0.1},
        (128,),
    ),
}


class PaddedNetwork(RecurrentNetwork):
    """The same answers with everything computed, up to the longest of the batch or to `steps`."""

    steps: int | None = None

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        if self.steps is not None:
            x = torch.cat([x, x.new_zeros(self.steps - x.shape[0], *x.shape[1:])])
        return self.readout(valid_steps(self.core(x)[0], lengths))


def main() -> None:
    options = parse_arguments()
    prepare(options)
    rng = np.random.default_rng(0)
    task = make_task(rng, options.longest, torch.device(options.device))
    rows = []
    for name in options.models:
        for size in MODELS[name][2]:
            rows += measure(name, size, task, rng, options)
            write(rows, options.output)  # what is done is kept where a run is stopped
    print_table(rows)
    print(f"\nWritten to {options.output}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS), help="default: all")
    parser.add_argument("--longest", type=int, default=LONGEST, help="frames of the longest (default: 490)")
    parser.add_argument("--rounds", type=int, default=7, help="timed rounds, after two that are not (default: 7)")
    add_clock(parser)
    return parse(parser, "ragged")


def make_task(rng: np.random.Generator, longest: int, device: torch.device) -> SpeechPrediction:
    shortest = SHORTEST * longest // LONGEST
    lengths = (shortest + (longest - shortest) * rng.beta(2, 4.07, UTTERANCES)).astype(np.int64)
    lengths[lengths.argmax()] = longest
    arrays = {"train_frames": rng.standard_normal((lengths.sum(), BINS), dtype=np.float32), "train_lengths": lengths}
    for split in ("validation", "test"):  # not used
        arrays |= {f"{split}_frames": arrays["train_frames"][: lengths[0]], f"{split}_lengths": lengths[:1]}
    return SpeechPrediction(arrays, {"target": "next"}, 0, device)


def measure(
    name: str, size: int, task: SpeechPrediction, rng: np.random.Generator, options: argparse.Namespace
) -> list[dict]:
    core, hyperparameters, _ = MODELS[name]
    networks = {
        "ragged": RecurrentNetwork(task, core, **hyperparameters),
        "batch": PaddedNetwork(task, core, **hyperparameters),
        "data set": PaddedNetwork(task, core, **hyperparameters),
    }
    networks["data set"].steps = options.longest
    drawn = [rng.permutation(task.train_size)[:size] for _ in range(WARM_UP + options.rounds)]
    steps = {
        way: functools.partial(training_step, network.to(options.device), task, iter(drawn))
        for way, network in networks.items()
    }
    rounds = times(steps, options)
    rows = [rows_run(-np.sort(-task.train.lengths[chosen]), options) for chosen in drawn[WARM_UP:]]
    return [
        {
            "model": name,
            "size": hyperparameters["hidden_size"],
            "batch": size,
            "way": way,
            **figures(way, rounds),
            "rows": round(mean(run[way] for run in rows)),
            "rounds": options.rounds,
            "device": torch.cuda.get_device_name() if options.device == "cuda" else processor(),
            "threads": options.threads,
            "clock": options.clock,
            "torch": torch.__version__,
            "date": datetime.date.today().isoformat(),
        }
        for way in networks
    ]


def training_step(network: RecurrentNetwork, task: SpeechPrediction, drawn: Iterator[np.ndarray]) -> None:
    network.zero_grad()
    task.loss(network, task.batch(0, next(drawn))).backward()


def figures(way: str, rounds: list[dict[str, float]]) -> dict:
    ratio, seconds = compared(rounds, way, "ragged")
    return {
        "seconds": round(seconds, 4),
        "ragged_is_faster": round(ratio.median, 2),
        "lowest": round(ratio.low, 2),
        "highest": round(ratio.high, 2),
    }


def rows_run(lengths: np.ndarray, options: argparse.Namespace) -> dict[str, int]:
    pieces = segments(torch.from_numpy(lengths), GPU_SEGMENT if options.device == "cuda" else CPU_SEGMENT)
    return {
        "ragged": sum((end - start) * count for start, end, count in pieces),
        "batch": int(lengths[0]) * len(lengths),
        "data set": options.longest * len(lengths),
    }


def print_table(rows: list[dict]) -> None:
    print(f"{rows[0]['device']}, {rows[0]['threads']} threads, torch {rows[0]['torch']}, {rows[0]['date']}")
    print("\nmodel            N  batch  padded to   seconds    rows  ragged is faster (range)")
    for row in rows:
        print(
            f"{row['model']:13} {row['size']:4} {row['batch']:6}  {row['way']:9} {row['seconds']:9.3f} {row['rows']:7}"
            f"  {row['ragged_is_faster']:.2f} ({row['lowest']:.2f} - {row['highest']:.2f})"
        )


if __name__ == "__main__":
    main()
