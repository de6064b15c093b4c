"""Text from a trained language model: a run's network with its best weights, and words drawn from it one by one."""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Run
from hidden_dynamics.data.python_topics import words as words_of
from hidden_dynamics.data.text import END, UNKNOWN
from hidden_dynamics.errors import UserError
from hidden_dynamics.results.trained import load_data, load_weights, read_record
from hidden_dynamics.tasks.language import LanguageModelling
from hidden_dynamics.training.building import build, imported


class Trained(NamedTuple):
    """A run that has been trained.

    Attributes:
        network: on the CPU, with the weights of the reported evaluation.
        vocabulary: the words by number, V.
        diverged_at: the iteration whose loss was not finite, or None.
    """

    run: Run
    network: nn.Module
    vocabulary: list[str]
    diverged_at: int | None


def load(directory: str | Path, configuration: Configuration) -> Trained:
    """The network of the run in `directory`, built by its run.json, whatever is configured now.

    Args:
        configuration: says where the prepared data and the run's classes are; nothing else of it counts.

    Raises:
        UserError: it is no run's directory; the run is none of a language model, has not finished, or left no weights;
            the prepared data, whose vocabulary is needed, is missing or is not what the run was trained on.
    """
    run, record = read_record(Path(directory), configuration)
    task_class = imported(run.classes["task_class"])
    if not (isinstance(task_class, type) and issubclass(task_class, LanguageModelling)):
        raise UserError(
            f"{run.id} is no language model: its task is {run.spec['task_class']}. Name a run of a task of "
            f"{LanguageModelling.__module__}.{LanguageModelling.__name__}, such as ptb."
        )
    if record["reported"] is None:  # no evaluation gave a finite number: the weights are those at which it broke
        raise UserError(
            f"{run.id} diverged at iteration {record['diverged_at']} and left no weights that were ever good: there "
            "is nothing to be read from it. Train it with a smaller learning rate or another seed."
        )
    data = load_data(configuration, run, record)
    _, network = build(run, data.arrays, torch.device("cpu"))
    load_weights(network, Path(directory))
    return Trained(run, network, data.arrays["vocabulary"].tolist(), record["diverged_at"])


def read_prompt(text: str, vocabulary: Collection[str]) -> tuple[list[str], list[str]]:
    """A prompt as words of the vocabulary, and those of its words that became <unk> because they are not in it.

    What stands between spaces is a word if the vocabulary has it, as it is or in lower case ("Mr." is mr. on Penn
    Treebank). Otherwise it is taken apart as the data was (`python_topics.words`): numbers are N, there is no
    punctuation, possessives and contractions are words of their own.

    Raises:
        UserError: a word is not in the vocabulary, nor is <unk>.
    """
    known, found = set(vocabulary), []
    for piece in text.split():
        forms = [form for form in (piece, piece.lower()) if form in known]
        found += forms[:1] or words_of(piece)
    missing = [word for word in found if word not in known]
    if missing and UNKNOWN not in known:
        raise UserError(f"not in the vocabulary, which has no {UNKNOWN} either: {', '.join(missing)}. Leave them out.")
    return [word if word in known else UNKNOWN for word in found], missing


def sample(
    network: nn.Module,
    vocabulary: Sequence[str],
    prompt: Sequence[str],
    words: int,
    temperature: float,
    generator: torch.Generator,
    excluded: Collection[str] = (),
) -> Iterator[str]:
    """Draw one word after the other, each from softmax(logits / temperature) given all words before it.

    The text begins as a line of the data does, after <eos>. The network reads every word once: its state is carried.

    Args:
        network: maps (T, 1) words and what it carries to a `LanguageOutput`; on the CPU. It is put into evaluation
            mode.
        vocabulary: the words by number, V, <eos> among them.
        prompt: words of the vocabulary that the text begins with. They are not given again.
        words: how many to draw, <eos> counted.
        temperature: below 1, likely words become likelier; 0 always takes the likeliest.
        generator: of the draws; its state determines the text.
        excluded: words that are never drawn.

    Raises:
        UserError: the temperature is below 0, or not finite.
    """
    if not 0 <= temperature < math.inf:
        raise UserError(f"the temperature must be 0 (always the likeliest word) or a number above, not {temperature}.")
    numbers = {word: number for number, word in enumerate(vocabulary)}
    start = [numbers[word] for word in (END, *prompt)]
    barred = torch.tensor([numbers[word] for word in excluded if word in numbers], dtype=torch.long)
    network.eval()
    return _draw_all(network, vocabulary, start, barred, words, temperature, generator)


def _draw_all(
    network: nn.Module,
    vocabulary: Sequence[str],
    unread: list[int],
    barred: Tensor,
    words: int,
    temperature: float,
    generator: torch.Generator,
) -> Iterator[str]:
    carried = None
    for _ in range(words):
        logits, carried = _read(network, unread, carried)
        number = _draw(logits.index_fill(0, barred, -math.inf), temperature, generator)
        yield vocabulary[number]
        unread = [number]


@torch.no_grad()
def _read(network: nn.Module, numbers: list[int], carried: Any) -> tuple[Tensor, Any]:
    """The logits of the word after those of `numbers`, (V,) in float64, and what the network carries on."""
    output = network(torch.tensor(numbers).unsqueeze(1), carried)
    return output.logits[-1, 0].double(), output.carried


def _draw(logits: Tensor, temperature: float, generator: torch.Generator) -> int:
    if temperature == 0:
        return int(logits.argmax())
    # From the largest down: divided by a small temperature, the logits themselves may not be finite any more.
    weights = torch.softmax((logits - logits.max()) / temperature, dim=0)
    return int(torch.multinomial(weights, 1, generator=generator))


def as_text(words: Iterable[str]) -> Iterator[str]:
    """Pieces of plain text, one for each word: words apart by spaces, <eos> the end of a line; the last line ends."""
    before = ""
    for word in words:
        yield "\n" if word == END else before + word
        before = "" if word == END else " "
    if before:
        yield "\n"
