"""A file made as USHCN's was, of the same stations, with another draw of the reports: a stand-in for it.

The steps of GRU-ODE-Bayes (see `ushcn_stations`) were repeated, with a seed, on the files of the network's stations in
NOAA's GHCN-Daily. Units and draw differ from the authors', so models can be compared with one another on it, but not,
digit by digit, with the paper.
"""

from pathlib import Path

import numpy as np

from hidden_dynamics.data import sporadic, ushcn
from hidden_dynamics.data.settings import whole_numbers

FILE = "ushcn_like_small_chunked_sporadic.csv"
SERIES, ROWS = 1107, 347_905


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """Read the file in the directory `raw`.

    Args:
        raw: the directory of the file.
        settings: none are known.

    Returns:
        The arrays of `sporadic`: 347,905 rows of 1,107 series, with the features `ushcn.ELEMENTS`.

    Raises:
        UserError: the file is missing or not what it must be; the message names the file, the line and the column.
    """
    whole_numbers("ushcn_like", settings, {})
    return sporadic.read(Path(raw, FILE), len(ushcn.ELEMENTS))


def stand_in(settings: dict) -> dict[str, np.ndarray]:
    """Random arrays of the names and types that `prepare` gives, and of about their shapes."""
    whole_numbers("ushcn_like", settings, {})
    return sporadic.stand_in(SERIES, ROWS, len(ushcn.ELEMENTS), ushcn.END)
