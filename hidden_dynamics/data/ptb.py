"""Penn Treebank, word by word (MomentumRNN, Section 3.4 and Appendix A.3): the 10,000-word text of Mikolov et al.

Three text files, a sentence a line, prepared by their authors: lower case, no punctuation, numbers as N and every word
beyond the vocabulary as <unk>.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from pydantic import Field

from hidden_dynamics.configuration.entries import Entry, typed

FILES = {"train": "ptb.train.txt", "validation": "ptb.valid.txt", "test": "ptb.test.txt"}
TRAIN = 929_589  # words of the training text, an <eos> after every line among them
END = "<eos>"  # closes every line


class Settings(Entry):
    words: int = Field(TRAIN, ge=1, le=TRAIN)  # of the training text, from its beginning


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """The words as `number` gives them: `train` (words,), `validation` (73760,) and `test` (82430,), int32;
    `vocabulary` (10000,), of the whole text, however much of it is kept."""
    words = typed(Settings, settings, "ptb").words
    arrays = number({split: read_lines(Path(raw, name)) for split, name in FILES.items()})
    return arrays | {"train": arrays["train"][:words]}


def read_lines(path: Path) -> list[list[str]]:
    """The words of each line of a file; a line without words counts too."""
    content = path.read_text(encoding="utf-8")
    return [line.split() for line in content.removesuffix("\n").split("\n")]


def number(splits: Mapping[str, Sequence[Sequence[str]]]) -> dict[str, np.ndarray]:
    """The lines' words, numbered by their first appearance, as in AWD-LSTM, through train, then validation, then test:
    each (tokens,), int32 in 0..V-1, <eos> after every line; and `vocabulary`, (V,), the words by number."""
    tokens = {split: [word for line in splits[split] for word in (*line, END)] for split in FILES}
    vocabulary = list(dict.fromkeys(word for words in tokens.values() for word in words))
    numbers = {word: index for index, word in enumerate(vocabulary)}
    arrays = {split: np.array([numbers[word] for word in words], np.int32) for split, words in tokens.items()}
    return arrays | {"vocabulary": np.array(vocabulary, np.str_)}
