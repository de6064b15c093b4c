"""Movements of people with tags, generated: a sequence is one activity after another. A stand-in for Human Activity."""

from pathlib import Path

import numpy as np

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.configuration.schema import Seed, Whole
from hidden_dynamics.data.generated import MOVEMENTS, Series
from hidden_dynamics.data.streams import generator


class Settings(Entry):
    sequences: Whole = 20
    reports: Whole = 200  # of a sequence, on average, at nine of ten tenths of a second
    seed: Seed = 0


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """The arrays of `human_activity`."""
    chosen = typed(Settings, settings, "tagged_movements")
    end = chosen.reports / 9
    movements = Series(series=chosen.sequences, rows=chosen.reports, tick=0.1, end=end, lasting=40, **MOVEMENTS)
    return movements.drawn(generator(chosen.seed, "tagged_movements"))
