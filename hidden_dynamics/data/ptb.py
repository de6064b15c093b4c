"""Penn Treebank, word by word (MomentumRNN, Section 3.4 and Appendix A.3): the 10,000-word text of Mikolov et al.

Three text files, a sentence a line, prepared by their authors: lower case, no punctuation, numbers as N and every word
beyond the vocabulary as <unk>.
"""

from pathlib import Path

import numpy as np
from pydantic import Field

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.data import text

FILES = {"train": "ptb.train.txt", "validation": "ptb.valid.txt", "test": "ptb.test.txt"}
TRAIN = 929_589  # words of the training text, an <eos> after every line among them


class Settings(Entry):
    words: int = Field(TRAIN, ge=1, le=TRAIN)  # of the training text, from its beginning


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """The words as `text.number` gives them: `train` (words,), `validation` (73760,) and `test` (82430,), int32;
    `vocabulary` (10000,), of the whole text, however much of it is kept."""
    words = typed(Settings, settings, "ptb").words
    splits = {split: text.read_lines(Path(raw, name)) for split, name in FILES.items()}
    arrays = text.number(splits)
    return arrays | {"train": arrays["train"][:words]}
