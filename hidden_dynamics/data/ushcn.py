"""USHCN: daily weather at stations of the U.S. Historical Climatology Network (ACE-NODE, Section 4.2).

The file is that of GRU-ODE-Bayes (De Brouwer et al., NeurIPS 2019), which they made of the daily reports of 1996-12-02
to 2000-12-31: a twentieth of them, drawn without a seed. Times 0 to 200 are 0.134 to the day, and those after 150
begin on 1999-12-25. Values are standardised for each element over the whole sample of 1950 to 2000: they have no unit.

It is a CSV table, `ID,Time,Value_0,...,Value_4,Mask_0,...,Mask_4`. Its times are differences of floating-point numbers
(0.1999999999998181 for 0.2), and series share a time where theirs are equal: so they are rounded to tenths.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.data import ragged

FILE = "small_chunked_sporadic.csv"
# Features 0 to 4: precipitation, snowfall, snow depth, maximum and minimum temperature.
ELEMENTS = ("PRCP", "SNOW", "SNWD", "TMAX", "TMIN")
TICK = 0.1


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """The arrays of `ragged`: 350,665 rows of 1,114 series, with five features. The rows of a series may stand in any
    order: the authors' script writes them element by element."""
    typed(Entry, settings, "ushcn")  # none are known
    table = pd.read_csv(Path(raw, FILE))
    values, masks = (table.filter(like=kind).to_numpy() for kind in ("Value_", "Mask_"))
    row, element = np.nonzero(masks)
    ticks = np.round(table["Time"].to_numpy() / TICK).astype(np.int64)
    ids = table["ID"].to_numpy().astype(np.int64)
    return ragged.ragged(ids[row], ticks[row], element, values[row, element], len(ELEMENTS), TICK)
