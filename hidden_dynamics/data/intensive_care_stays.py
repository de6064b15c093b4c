"""Stays in intensive care, generated: a patient is of one of four kinds, one of which dies."""

from pathlib import Path

import numpy as np

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.configuration.schema import Seed, Whole
from hidden_dynamics.data.generated import STAYS, Series
from hidden_dynamics.data.streams import generator


class Settings(Entry):
    stays: Whole = 200
    visits: Whole = 12  # hours of the 49 with measurements, on average
    seed: Seed = 0


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """The arrays of `physionet2012`."""
    chosen = typed(Settings, settings, "intensive_care_stays")
    stays = Series(series=chosen.stays, rows=chosen.visits, tick=1.0, **STAYS)
    return stays.drawn(generator(chosen.seed, "intensive_care_stays"))
