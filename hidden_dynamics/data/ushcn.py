"""USHCN: daily weather at stations of the U.S. Historical Climatology Network (ACE-NODE, Section 4.2).

The file is that of GRU-ODE-Bayes (De Brouwer et al., NeurIPS 2019), which they made of the daily reports of 1996-12-02
to 2000-12-31: a twentieth of them, drawn without a seed. Times 0 to 200 are 0.134 to the day, and those after 150
begin on 1999-12-25. Values are standardised for each element over the whole sample of 1950 to 2000: they have no unit.
`ushcn_stations` makes such series of the stations' own reports.
"""

from pathlib import Path

import numpy as np

from hidden_dynamics.data import sporadic
from hidden_dynamics.data.settings import whole_numbers
from hidden_dynamics.errors import UserError

FILE = "small_chunked_sporadic.csv"
# Features 0 to 4: precipitation, snowfall, snow depth, maximum and minimum temperature.
ELEMENTS = ("PRCP", "SNOW", "SNWD", "TMAX", "TMIN")
SERIES, ROWS = 1114, 350_665
END = 200.0


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """Read the file in the directory `raw`.

    The authors' script writes the times of a station element by element, as each was drawn, and their loader sorts
    what it has read. So the rows of a series may stand in any order here.

    Args:
        raw: the directory of the file.
        settings: none are known.

    Returns:
        The arrays of `sporadic`: 350,665 rows of 1,114 series, with five features.

    Raises:
        UserError: the file is missing or not what it must be; the message names the file, the line and the column.
    """
    whole_numbers("ushcn", settings, {})
    path = Path(raw, FILE)
    arrays = sporadic.read(path, len(ELEMENTS), sort=True)
    found = len(arrays["ids"]), len(arrays["times"])
    if found != (SERIES, ROWS):
        raise UserError(
            f"{path}: expected {ROWS:,} rows of {SERIES:,} series, found {found[1]:,} of {found[0]:,}", file=path
        )
    return arrays


def stand_in(settings: dict) -> dict[str, np.ndarray]:
    """Random arrays of the names and types that `prepare` gives, and of about their shapes."""
    whole_numbers("ushcn", settings, {})
    return sporadic.stand_in(SERIES, ROWS, len(ELEMENTS), END)
