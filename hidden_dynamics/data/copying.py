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

from hidden_dynamics.data.settings import whole_numbers
from hidden_dynamics.data.streams import generator
from hidden_dynamics.errors import UserError

BLANK = 0


def sample_letters(rng: np.random.Generator, count: int, letters: int = 10, alphabet: int = 8) -> np.ndarray:
    """Draw `count` words of `letters` letters, each uniform on 1..alphabet: (count, letters), uint8."""
    return rng.integers(1, alphabet + 1, size=(count, letters), dtype=np.uint8)


def sequences(letters: np.ndarray, blanks: int, alphabet: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """The task's input and target for each word.

    Args:
        letters: (count, K), the words, in 1..alphabet.
        blanks: L, the number of steps between a word and the marker.
        alphabet: the marker is alphabet + 1.

    Returns:
        inputs, targets: (count, L + 2K), int64. The input is the K letters, L blanks, the marker and K - 1 blanks; the
        target is K + L blanks and the K letters.
    """
    count, word = letters.shape
    inputs = np.full((count, blanks + 2 * word), BLANK, np.int64)
    targets = inputs.copy()
    inputs[:, :word] = letters
    inputs[:, word + blanks] = alphabet + 1
    targets[:, word + blanks :] = letters
    return inputs, targets


def loss_without_memory(blanks: int, letters: int = 10, alphabet: int = 8) -> float:
    """The loss of the best answer without memory: K ln(alphabet) / (L + 2K) nats per step.

    It says "blank" with certainty until the marker and guesses the K letters uniformly after it.
    """
    return letters * math.log(alphabet) / (blanks + 2 * letters)


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """Draw the test words. Training words are drawn as training goes, from streams of their own.

    Args:
        raw: not used: the task is generated.
        settings: `blanks` (L), `letters` (K), `alphabet`, `test_size`, `seed`.

    Returns:
        `test_letters` (test_size, letters), uint8; `blanks`, `letters`, `alphabet` (), int64.

    Raises:
        UserError: a setting is missing, unknown or out of range.
    """
    least = {"blanks": 1, "letters": 1, "alphabet": 1, "test_size": 1, "seed": 0}
    blanks, letters, alphabet, test_size, seed = whole_numbers("copying", settings, least)
    if alphabet > np.iinfo(np.uint8).max:
        raise UserError(f"copying: the setting 'alphabet' must be at most 255, found {alphabet}: a letter is one byte")
    rng = generator(seed, "copying", "test")
    return {
        "test_letters": sample_letters(rng, test_size, letters, alphabet),
        "blanks": np.array(blanks, np.int64),
        "letters": np.array(letters, np.int64),
        "alphabet": np.array(alphabet, np.int64),
    }
