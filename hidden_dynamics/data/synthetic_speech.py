"""Synthetic speech: a generated stand-in for TIMIT that needs no network. Nobody says it, and it says nothing."""

from pathlib import Path

import numpy as np

from hidden_dynamics.configuration.entries import typed
from hidden_dynamics.data.generated import Utterances
from hidden_dynamics.data.streams import generator


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """The arrays of `speech.pack`."""
    chosen = typed(Utterances, settings, "synthetic_speech")
    return chosen.drawn(generator(chosen.seed, "synthetic_speech"))
