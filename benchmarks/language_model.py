"""Words per second of the language model of each LSTM, in training and evaluation, against the plain LSTM.

    python benchmarks/language_model.py
    python benchmarks/language_model.py --device cuda --rounds 20
    python benchmarks/language_model.py --hidden 200 --embedding 100 --vocabulary 2000 --threads 1

The network, its dropouts and the training are those of the task `ptb` at the scale `paper` (config/), but for the sizes
given here; the words are random. Three things are timed, each as the training does it:

- training: a segment that continues the one before: forward, cross-entropy and the two regularisers, backward,
  clipping, a step of SGD with weight decay;
- evaluation: the validation text, in batches of 10, two segments;
- test: the test text, one word wide, two segments.

The row nn.LSTM is the same network with layers of torch's module, whose weights are dropped as AWD-LSTM's code does it.
Memory is the peak of making the network and training it: parameters, gradients, all.
"""

import argparse
import dataclasses
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import torch  # noqa: E402
from shared import compared, machine, parse, peak_mib, peak_of, times, write  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from hidden_dynamics.configuration import load, merge, parse_settings  # noqa: E402
from hidden_dynamics.configuration.runs import Run, resolve  # noqa: E402
from hidden_dynamics.measurements.interleaved import Subject, training_step  # noqa: E402
from hidden_dynamics.models.language_model import LanguageModel, LayerState  # noqa: E402
from hidden_dynamics.models.recurrent.lstm import LSTMState  # noqa: E402
from hidden_dynamics.system.arguments import positive  # noqa: E402
from hidden_dynamics.training import devices, optimisers  # noqa: E402
from hidden_dynamics.training.building import build  # noqa: E402

BASELINE, STOCK = "LSTM", "nn.LSTM"
VARIANTS = {  # class, hyperparameters; they have no influence on the time
    BASELINE: ("LSTM", {}),
    "Momentum": ("MomentumLSTM", {"mu": 0.6, "s": 0.6}),
    "NAG": ("NAGLSTM", {"s": 0.6}),
    "SR": ("SRLSTM", {"s": 0.6, "restart": 2}),
    "Adam": ("AdamLSTM", {"mu": 0.6, "s": 0.6, "beta": 0.999}),
    "RMSProp": ("RMSPropLSTM", {"s": 0.6, "beta": 0.999}),
    STOCK: ("LSTM", {}),
}
EVALUATED = 2  # segments
SIZES = ("hidden", "embedding", "vocabulary", "layers", "batch", "bptt")
GIB = 2**10  # in MiB


class StockModel(LanguageModel):
    """The language model with layers of nn.LSTM."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self.layers = nn.ModuleList(nn.LSTM(layer.input_size, layer.hidden_size) for layer in self.layers)

    def _run(self, layer: nn.LSTM, x: Tensor, start: LayerState | None) -> tuple[Tensor, LSTMState]:
        weight = functional.dropout(layer.weight_hh_l0, self.dropouts.weight, self.training)
        layer._flat_weights[layer._flat_weights_names.index("weight_hh_l0")] = weight
        h, end = layer(x, None if start is None else start[:2])
        return h, LSTMState(end)


def main() -> None:
    options = parse_arguments()
    devices.set_arithmetic(options.threads, "fp32")
    if options.memory_of:
        print(peak_memory(options.memory_of, options))
        return
    sizes = {size: getattr(options, size) for size in SIZES}
    memory = {name: peak_of(__file__, peak_memory, name, options, **sizes) for name in VARIANTS}
    rows = []
    for quantity, (words, action) in quantities(options).items():
        rows += measure(quantity, words, action, memory if quantity == "training" else {}, options)
        write(rows, options.output)  # what is done is kept where a run is stopped
    print_table(rows)
    print(f"\nWritten to {options.output}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hidden", type=positive, default=1150, help="units of all layers but the last")
    parser.add_argument("--embedding", type=positive, default=400, help="of a word, and units of the last layer")
    parser.add_argument("--vocabulary", type=positive, default=10_000, help="different words")
    parser.add_argument("--layers", type=positive, default=3)
    parser.add_argument("--batch", type=positive, default=20, help="texts side by side, in training")
    parser.add_argument("--bptt", type=positive, default=70, help="words of a segment, at least 2")
    parser.add_argument("--rounds", type=positive, default=5, help="timed rounds, after two that are not (default: 5)")
    parser.add_argument("--memory-of", choices=list(VARIANTS), help=argparse.SUPPRESS)
    return parse(parser, "language_model")


def run_of(name: str, options: argparse.Namespace) -> Run:
    """The run that the variant would be on Penn Treebank, at the sizes given."""
    core, hyperparameters = VARIANTS[name]
    changes = {
        "hyperparameters": {
            "hidden_size": options.hidden,
            "embedding_size": options.embedding,
            "layers": options.layers,
            **hyperparameters,
        },
        "task_settings": {"bptt": options.bptt},
    }
    configured = configured_run()
    classes = configured.classes | {"core": f"hidden_dynamics.models.recurrent.lstm.{core}"}
    if name == STOCK:
        classes["network"] = f"{StockModel.__module__}.{StockModel.__name__}"
    return dataclasses.replace(configured, spec=merge(configured.spec, changes), classes=classes)


@functools.cache  # reading the configuration takes as long as a training step of a small network
def configured_run() -> Run:
    return resolve(load(parse_settings('{"scale": "paper"}')), "ptb", "lstm", 1150, 0)


def subject_of(name: str, options: argparse.Namespace) -> Subject:
    """The variant with random words, at a segment of the training text that continues another."""
    run = run_of(name, options)
    task, network = build(run, random_words(run, options), torch.device(options.device))
    batch = task.batch(0, (options.bptt, options.bptt, options.batch))
    return Subject(run, task, network, optimisers.build(network, run.spec["training"]["optimisers"]), batch)


def random_words(run: Run, options: argparse.Namespace) -> dict[str, np.ndarray]:
    batches = {"train": options.batch, **run.spec["task_settings"]["evaluation_batch_sizes"]}
    random = np.random.default_rng(0)
    rows = EVALUATED * options.bptt + 1  # the last is a target alone
    texts = {split: random.integers(options.vocabulary, size=rows * batch) for split, batch in batches.items()}
    return texts | {"vocabulary": np.arange(options.vocabulary).astype(np.str_)}


def quantities(options: argparse.Namespace) -> dict[str, tuple[int, Callable[[Subject], None]]]:
    """What is timed, and how many words it predicts."""
    widths = run_of(BASELINE, options).spec["task_settings"]["evaluation_batch_sizes"]
    evaluated = EVALUATED * options.bptt
    return {
        "training": (options.bptt * options.batch, train),
        "evaluation": (evaluated * widths["validation"], functools.partial(evaluate, split="validation")),
        "test": (evaluated * widths["test"], functools.partial(evaluate, split="test")),
    }


def train(subject: Subject) -> None:
    training_step(subject, subject.batch)


def evaluate(subject: Subject, split: str) -> None:
    subject.network.eval()
    with torch.no_grad():
        (subject.task.evaluate if split == "validation" else subject.task.evaluate_test)(subject.network)


def measure(
    quantity: str,
    words: int,
    action: Callable[[Subject], None],
    memory: dict[str, float],
    options: argparse.Namespace,
) -> list[dict]:
    rounds = times({name: functools.partial(action, subject_of(name, options)) for name in VARIANTS}, options)
    rows = []
    for name in VARIANTS:
        ratio, seconds = compared(rounds, name, BASELINE)
        row = {
            "variant": name,
            "quantity": quantity,
            "seconds": round(seconds, 4),
            "tokens_per_second": round(words / seconds),
            "ratio_to_lstm": round(ratio.median, 3),
            "ratio_lowest": round(ratio.low, 3),
            "ratio_highest": round(ratio.high, 3),
            "peak_memory_gib": round(memory[name], 3) if name in memory else "",
        }
        rows.append(row | {size: getattr(options, size) for size in (*SIZES, "rounds")} | machine(options))
    return rows


def peak_memory(name: str, options: argparse.Namespace) -> float:
    """GiB that making the variant and training it takes at its peak; on a CPU, for a process that did nothing else."""
    train_from_nothing(name, tiny(options))  # what libraries load or allocate at their first use is not counted
    return peak_mib(functools.partial(train_from_nothing, name, options), options) / GIB


def train_from_nothing(name: str, options: argparse.Namespace) -> None:
    """Make the variant and train it for two steps: at the second, there are gradients already."""
    subject = subject_of(name, options)
    for _ in range(2):
        train(subject)


def tiny(options: argparse.Namespace) -> argparse.Namespace:
    sizes = {"hidden": 8, "embedding": 8, "vocabulary": 8, "batch": 2, "bptt": 4}
    return argparse.Namespace(**vars(options) | sizes)


def print_table(rows: list[dict]) -> None:
    print(f"{rows[0]['device']}, {rows[0]['threads']} threads, torch {rows[0]['torch']}, {rows[0]['date']}")
    print("\nvariant   quantity     seconds   words/s   to LSTM  (range)           memory")
    for row in rows:
        memory = f"{row['peak_memory_gib']:.2f} GiB" if row["peak_memory_gib"] else ""
        print(
            f"{row['variant']:9} {row['quantity']:10} {row['seconds']:9.3f} {row['tokens_per_second']:9}"
            f"  {row['ratio_to_lstm']:8.2f}  ({row['ratio_lowest']:.2f} - {row['ratio_highest']:.2f})  {memory:>9}"
        )


if __name__ == "__main__":
    main()
