"""Text as word-level language models take it: lines of words, the words numbered, every line closed by <eos>."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

END = "<eos>"  # closes every line
SPLITS = ("train", "validation", "test")

Line = Sequence[str]


def read_lines(path: str | Path) -> list[list[str]]:
    """The words of each line of a file; a line without words counts too."""
    content = Path(path).read_text(encoding="utf-8")
    return [line.split() for line in content.removesuffix("\n").split("\n")]


def number(splits: Mapping[str, Sequence[Line]]) -> dict[str, np.ndarray]:
    """The lines' words, numbered by their first appearance, as in AWD-LSTM, through train, then validation, then test:
    each (tokens,), int32 in 0..V-1, <eos> after every line; and `vocabulary`, (V,), the words by number."""
    tokens = {split: [word for line in splits[split] for word in (*line, END)] for split in SPLITS}
    vocabulary = list(dict.fromkeys(word for split in SPLITS for word in tokens[split]))
    numbers = {word: index for index, word in enumerate(vocabulary)}
    arrays = {split: np.array([numbers[word] for word in words], np.int32) for split, words in tokens.items()}
    return arrays | {"vocabulary": np.array(vocabulary, np.str_)}
