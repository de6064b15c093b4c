"""The copying task (MomentumRNN, Section 3.3 and Appendix A.4): recall K letters after L blanks.

With K = 3, L = 4, blank -, start marker : and time from left to right

    input    b a c - - - - : - -
    target   - - - - - - - b a c

The appendix leaves K and the alphabet open; 10 letters out of 8 are those of the code that it follows (expRNN), where
the blank is 0, the letters are 1 to 8 and the marker is 9.
"""

import math
from pathlib import Path

import numpy as np
from pydantic import Field

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.data.streams import generator

BLANK = 0


def sample_letters(rng: np.random.Generator, count: int, letters: int = 10, alphabet: int = 8) -> np.ndarray:
    """Draw `count` words of `letters` letters, each uniform on 1..alphabet: (count, letters), uint8."""
    return rng.integers(1, alphabet + 1, size=(count, letters), dtype=np.uint8)


def sequences(letters: np.ndarray, blanks: int, alphabet: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """The task's inputs and targets, (count, L + 2K), int64, for words `letters`, (count, K), and L `blanks`.

    The input is the K letters, L blanks, the marker (alphabet + 1) and K - 1 blanks; the target is K + L blanks and
    the K letters.
    """
    count, word = letters.shape
    inputs = np.full((count, blanks + 2 * word), BLANK, np.int64)
    targets = inputs.copy()
    inputs[:, :word] = letters
    inputs[:, word + blanks] = alphabet + 1
    targets[:, word + blanks :] = letters
    return inputs, targets


def loss_without_memory(blanks: int, letters: int, alphabet: int) -> float:
    """The loss of the best answer without memory, K ln(alphabet) / (L + 2K) nats per step: blanks with certainty until
    the marker, letters by chance after it."""
    return letters * math.log(alphabet) / (blanks + 2 * letters)


class Settings(Entry):
    blanks: int = Field(ge=1)  # L
    letters: int = Field(ge=1)  # K
    alphabet: int = Field(ge=1, le=255)  # a letter is one byte
    test_size: int = Field(ge=1)
    seed: int = Field(ge=0)


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """The test words: `test_letters` (test_size, letters), uint8; `blanks`, `letters`, `alphabet` (), int64.

    Training words are drawn as training goes, from streams of their own.
    """
    chosen = typed(Settings, settings, "copying")
    rng = generator(chosen.seed, "copying", "test")
    letters = sample_letters(rng, chosen.test_size, chosen.letters, chosen.alphabet)
    lengths = {name: np.array(getattr(chosen, name), np.int64) for name in ("blanks", "letters", "alphabet")}
    return {"test_letters": letters, **lengths}
