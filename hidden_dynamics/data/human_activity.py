"""Human Activity: five people, each of whom moves five times, with tags on ankles, chest and belt (ACE-NODE, 4.5).

The Localization Data for Person Activity of the UCI repository, as Latent-ODE (Rubanova et al., NeurIPS 2019) reads
them: a line without a header for each report, `sequence,tag,timestamp,date,x,y,z,activity`. The timestamp counts
100 ns; the sequence is a person's letter and a number, as A01. Some reports come up to 0.1 s late.

The arrays have a row for each time of a sequence, the sequences one after another:

times    (rows,), float32, seconds, in multiples of 0.01 s; the first of each sequence is 0
values   (rows, 12), float32, metres: x, y and z of each tag; 0 where it did not report
mask     (rows, 12), bool, whether it did
labels   (rows,), int64, the class of the first report of the row
lowest   (rows,), int64, the lowest class of its reports, as Latent-ODE's released code reads them; -1 where it
         reads none: see `UNREAD`
lengths  (sequences,), int64, how many rows each sequence has
ids      (sequences,), int64: C05 is 305
"""

import io
from pathlib import Path

import numpy as np

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.data.ragged import ragged
from hidden_dynamics.errors import UserError

FILE = "ConfLongDemo_JSI.txt"
# In the order of Latent-ODE, as are the classes.
TAGS = {
    "010-000-024-033": "left ankle",
    "010-000-030-096": "right ankle",
    "020-000-033-111": "chest",
    "020-000-032-221": "belt",
}
AXES = ("x", "y", "z")
CLASSES = ("walking", "falling", "lying", "sitting", "standing up", "on all fours", "sitting on the ground")
ACTIVITIES = {
    "walking": 0,
    "falling": 1,
    "lying down": 2,
    "lying": 2,
    "sitting down": 3,
    "sitting": 3,
    "standing up from lying": 4,
    "standing up from sitting": 4,
    "standing up from sitting on the ground": 4,
    "on all fours": 5,
    "sitting on the ground": 6,
}
# Latent-ODE's code spells this one "... sit on grnd", so that such a report has no class there. The UCI file's rows are
# of one activity each: nothing else makes `lowest` differ from `labels` there.
UNREAD = "standing up from sitting on the ground"
TICKS = 100  # in a second: times are rounded to one
STEP = 10_000_000 // TICKS  # 100 ns in a tick


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """The arrays of 25 sequences."""
    typed(Entry, settings, "human_activity")  # none are known
    return parse(Path(raw, FILE).read_bytes())


def parse(content: bytes) -> dict[str, np.ndarray]:
    """The arrays of a text of reports, in any order; times are rounded to 0.01 s from the sequence's first, and what a
    tag reports at one time is averaged."""
    import pandas as pd  # here: trainings read TICKS, and need no pandas

    table = pd.read_csv(
        io.BytesIO(content),
        names=["sequence", "tag", "stamp", "date", *AXES, "activity"],
        dtype={
            "sequence": "category",
            "tag": pd.CategoricalDtype(list(TAGS)),
            "stamp": np.float64,  # as in Latent-ODE: exact to 12.8 microseconds
            "activity": pd.CategoricalDtype(list(ACTIVITIES)),
        },
    )
    unknown = np.flatnonzero((table["tag"].cat.codes < 0) | (table["activity"].cat.codes < 0))
    if unknown.size:
        line = f"line {unknown[0] + 1}"
        raise UserError(f"{FILE}: {line} has a tag or an activity that is not known", FILE, line)
    names = table["sequence"].cat.categories
    numbers = np.array([100 * (ord(name[0]) - ord("A") + 1) + int(name[1:]) for name in names])
    since = table["stamp"] - table.groupby("sequence", observed=True)["stamp"].transform("min")
    ids, ticks = numbers[table["sequence"].cat.codes], np.round(since.to_numpy() / STEP).astype(np.int64)
    tag, activity = table["tag"].cat.codes.to_numpy(np.int64), table["activity"].cat.codes.to_numpy()
    coordinates = (tag[:, None] * len(AXES) + np.arange(len(AXES))).ravel()
    reports = np.repeat(np.arange(len(ids)), len(AXES))
    places = table[list(AXES)].to_numpy(np.float64).ravel()
    arrays = ragged(ids[reports], ticks[reports], coordinates, places, len(TAGS) * len(AXES), 1 / TICKS)
    _, first, row = np.unique(ids * (ticks.max() + 1) + ticks, return_index=True, return_inverse=True)
    classes = np.array(list(ACTIVITIES.values()))[activity]
    lowest = np.full(len(first), len(CLASSES))
    np.minimum.at(lowest, row, np.where(activity == list(ACTIVITIES).index(UNREAD), len(CLASSES), classes))
    return arrays | {"labels": classes[first], "lowest": np.where(lowest == len(CLASSES), -1, lowest)}
