"""Write text from a trained language model, to see what it learnt.

    python tools/generate.py results/demo/runs/ptb/momentum_lstm-n64/seed0 --words 200
    python tools/generate.py results/demo/runs/ptb/momentum_lstm-n64/seed0 --prompt "the object" --temperature 0.7

The network is the one that the run's run.json describes, with the weights that were best on the validation text; the
prepared data must be there, because it has the words. Words are drawn one by one, each given all before it; <eos> ends
a line, and is one of the words counted. The text goes to stdout, remarks go to stderr. The same seed gives the same
text.
"""

import argparse
import itertools
import os
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the repository, where the library is
from hidden_dynamics.configuration import load, parse_settings  # noqa: E402
from hidden_dynamics.data.text import UNKNOWN  # noqa: E402
from hidden_dynamics.errors import run_main  # noqa: E402
from hidden_dynamics.results import generation  # noqa: E402
from hidden_dynamics.system.arguments import positive, seed  # noqa: E402
from hidden_dynamics.training import devices  # noqa: E402


def main() -> None:
    arguments = parse_arguments()
    trained = generation.load(arguments.run, load(parse_settings(arguments.config)))
    # In one thread, because their number may change the rounding, and with it the text.
    devices.set_arithmetic(1, trained.run.spec["precision"])
    prompt, unknown = generation.read_prompt(arguments.prompt, trained.vocabulary)
    drawn = generation.sample(
        trained.network,
        trained.vocabulary,
        prompt,
        arguments.words,
        arguments.temperature,
        torch.Generator().manual_seed(arguments.seed),
        [UNKNOWN] if arguments.no_unknown else [],
    )
    if trained.diverged_at is not None:
        print(f"{trained.run.id} diverged at iteration {trained.diverged_at}; its best weights write", file=sys.stderr)
    if unknown:
        print(f"not in the vocabulary, and so read as {UNKNOWN}: {', '.join(unknown)}", file=sys.stderr)
    try:
        for piece in generation.as_text(itertools.chain(prompt, drawn)):
            print(piece, end="", flush=True)
    except BrokenPipeError:  # whoever reads it, such as head, has enough; Python would write the rest again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="directory of a run, such as results/demo/runs/ptb/momentum_lstm-n64/seed0")
    parser.add_argument("--words", type=positive, default=200, help="words to draw (default: 200)")
    parser.add_argument(
        "--temperature",
        type=float,
        default=1.0,
        help="below 1, likely words become likelier; 0 always takes the likeliest (default: 1)",
    )
    parser.add_argument("--seed", type=seed, default=0, help="of the draws (default: 0)")
    parser.add_argument("--prompt", default="", help="words that the text begins with, as a new line")
    parser.add_argument("--no-unknown", action="store_true", help=f"never draw {UNKNOWN}")
    parser.add_argument("--config", help="settings as JSON, merged over config.yaml; data.directory is what counts")
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
