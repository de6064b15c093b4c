"""Human Activity: five people, each of whom moves five times, with tags on ankles, chest and belt (ACE-NODE, 4.5).

The Localization Data for Person Activity of the UCI repository, as Latent-ODE (Rubanova et al., NeurIPS 2019) reads
them: a line without a header for each report, `sequence,tag,timestamp,date,x,y,z,activity`. The timestamp counts
100 ns; the sequence is a person's letter and a number, as A01. Some reports come up to 0.1 s late.
"""

import io
from pathlib import Path

import numpy as np
import pandas as pd

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.data import tag_reports

FILE = "ConfLongDemo_JSI.txt"
STEP = 10_000_000 // tag_reports.TICKS  # 100 ns in a tick


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """The arrays of `tag_reports`, of 25 sequences."""
    typed(Entry, settings, "human_activity")  # none are known
    return parse(Path(raw, FILE).read_bytes())


def parse(content: bytes) -> dict[str, np.ndarray]:
    """The arrays of a text of reports; times are rounded to 0.01 s from the sequence's first."""
    table = pd.read_csv(
        io.BytesIO(content),
        names=["sequence", "tag", "stamp", "date", *tag_reports.AXES, "activity"],
        dtype={
            "sequence": "category",
            "tag": pd.CategoricalDtype(list(tag_reports.TAGS)),
            "stamp": np.float64,  # as in Latent-ODE: exact to 12.8 microseconds
            "activity": pd.CategoricalDtype(list(tag_reports.ACTIVITIES)),
        },
    )
    names = table["sequence"].cat.categories
    ids = np.array([100 * (ord(name[0]) - ord("A") + 1) + int(name[1:]) for name in names])
    since = table["stamp"] - table.groupby("sequence", observed=True)["stamp"].transform("min")
    return tag_reports.sequences(
        ids[table["sequence"].cat.codes],
        np.round(since.to_numpy() / STEP).astype(np.int64),
        table["tag"].cat.codes.to_numpy(np.int64),
        table["activity"].cat.codes.to_numpy(),
        table[list(tag_reports.AXES)].to_numpy(np.float64),
    )
