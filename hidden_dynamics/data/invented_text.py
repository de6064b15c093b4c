"""An invented text: a generated stand-in for Penn Treebank that needs no network."""

from pathlib import Path

import numpy as np

from hidden_dynamics.configuration.entries import typed
from hidden_dynamics.data.generated import Words
from hidden_dynamics.data.streams import generator


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """The arrays of `ptb.number`."""
    chosen = typed(Words, settings, "invented_text")
    return chosen.drawn(generator(chosen.seed, "invented_text"))
