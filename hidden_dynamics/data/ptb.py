"""Penn Treebank, word by word (MomentumRNN, Section 3.4 and Appendix A.3): the 10,000-word text of Mikolov et al.

Three text files, a sentence a line, prepared by their authors: lower case, no punctuation, numbers as N and every word
beyond the vocabulary as <unk>.
"""

from pathlib import Path

import numpy as np

from hidden_dynamics.data import text
from hidden_dynamics.data.settings import whole_numbers, within
from hidden_dynamics.errors import UserError

FILES = {"train": "ptb.train.txt", "validation": "ptb.valid.txt", "test": "ptb.test.txt"}
WORDS = 10_000  # <unk>, N and <eos> among them
TOKENS = {"train": 929_589, "validation": 73_760, "test": 82_430}


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """Number the words of the three files in the directory `raw`.

    Args:
        raw: the directory of the three files.
        settings: `words`, how many of the training text are kept, from its beginning; all if it is not given. The
            vocabulary stays that of the whole text.

    Returns:
        What `text.number` gives: `train` (words,), `validation` (73760,) and `test` (82430,), int32;
        `vocabulary` (10000,).

    Raises:
        UserError: a setting is unknown or out of range, a file is missing, empty or not UTF-8, or the files do not have
            10,000 different words together.
    """
    words = _words(settings)
    splits = {split: text.read_lines(Path(raw, name)) for split, name in FILES.items()}
    arrays = text.number(splits)
    found = len(arrays["vocabulary"])
    if found != WORDS:
        each = ", ".join(f"{FILES[split]} {len(np.unique(arrays[split])):,}" for split in FILES)
        raise UserError(
            f"{raw}: expected {WORDS:,} different words ({text.END} among them) in the three files, found {found:,} "
            f"({each}). Delete them and fetch them again (scripts/fetch.py): other versions of the corpus do not fit."
        )
    return arrays | {"train": arrays["train"][:words]}


def stand_in(settings: dict) -> dict[str, np.ndarray]:
    """Random arrays of the names, types and shapes that `prepare` gives."""
    return text.stand_in(TOKENS | {"train": _words(settings)}, WORDS)


def _words(settings: dict) -> int:
    (words,) = whole_numbers("ptb", {"words": TOKENS["train"], **settings}, {"words": 1})
    within("ptb", {"words": words}, "words", 1, TOKENS["train"])
    return words
