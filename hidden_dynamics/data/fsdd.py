"""The Free Spoken Digit Dataset: six speakers say the digits 0 to 9, 50 times each. A stand-in for TIMIT.

Recordings 0 to 4 of each digit and speaker are the test set, as the dataset's own README has it; 5 to 9 are the
validation set and the other 40 the training set.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.data import archives, speech

ARCHIVE = "recordings.tar"


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """The frames, as `speech.pack` has them, of train (2,400 utterances), validation (300) and test (300), each in the
    order of digits, speakers and numbers."""
    typed(Entry, settings, "fsdd")  # none are known
    path = Path(raw, ARCHIVE)
    splits: dict[str, list[np.ndarray]] = {"train": [], "validation": [], "test": []}
    for (_, _, index), content, name in sorted(_recordings(path)):
        split = "test" if index < 5 else "validation" if index < 10 else "train"
        splits[split].append(speech.frames(speech.read(content, name, speech.RATE), name))
    return speech.pack(splits)


def _recordings(path: Path) -> Iterator[tuple[tuple[int, str, int], bytes, str]]:
    """(digit, speaker, number), content and name of each recording."""
    for name, content in archives.members(path, "*.wav"):
        parts = re.fullmatch(r"(\d)_([a-z]+)_(\d+)\.wav", name)
        if parts:
            yield (int(parts[1]), parts[2], int(parts[3])), content, f"{path}: {name}"
