"""Reports of four tags on a moving body, in the text format of UCI's Localization Data for Person Activity.

A line without a header for each report: `sequence,tag,timestamp,date,x,y,z,activity`; the timestamp counts 100 ns, the
sequence is a person's letter and a number, as A01. The reports of a sequence follow each other, in the order of time
but for some that come up to 0.1 s late.

The arrays, one row for each time of a sequence, the sequences one after another, in the order of the text:

    times    (rows,), float32, seconds, in multiples of 0.01 s; the first of each sequence is 0
    values   (rows, 12), float32, metres: x, y and z of each tag; 0 where it did not report
    mask     (rows, 12), bool, whether it did
    labels   (rows,), int64, the class of the first report of the row
    lowest   (rows,), int64, the lowest class of its reports, as Latent-ODE's released code reads them; -1 where it
             reads none: see `UNREAD`
    lengths  (sequences,), int64, how many rows each sequence has
    ids      (sequences,), int64: C05 is 305
"""

import re
from pathlib import Path

import numpy as np

from hidden_dynamics.data import entries
from hidden_dynamics.errors import UserError

COLUMNS = ("sequence", "tag", "timestamp", "date", "x", "y", "z", "activity")
# In the order of Latent-ODE (Rubanova et al., NeurIPS 2019), as are the classes.
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
LATE = 10  # ticks: by how much a report may be older than the one before it


def parse(content: bytes, path: str | Path) -> dict[str, np.ndarray]:
    """The seven arrays of a text.

    Times are rounded to 0.01 s from the sequence's first; what a tag reports at one of these times is averaged.

    Args:
        path: what messages call the text.

    Raises:
        UserError: the text is not what it must be; the message names the file and the line.
    """
    if not content:
        raise UserError(f"{path}: the file is empty; expected lines {','.join(COLUMNS)}", file=path)
    content = content if content.endswith(b"\n") else content + b"\n"
    table = entries.cut(content, COLUMNS, lambda line: (str(path), line + 1))
    ids, sequence = _sequences(table)
    tags = table.codes("tag", list(TAGS), "one of the four tags")
    activities = table.codes("activity", list(ACTIVITIES), "one of the eleven activities")
    ticks = _ticks(table, sequence)
    places = np.column_stack([table.numbers(axis) for axis in AXES])
    order = np.lexsort((ticks, sequence))  # stable: what is of one row stays in the order of the text
    ticks, sequence, tags, activities = (array[order] for array in (ticks, sequence, tags, activities))
    new = (np.diff(ticks, prepend=-1) != 0) | (np.diff(sequence, prepend=-1) != 0)
    first, row = np.flatnonzero(new), np.cumsum(new) - 1
    values, mask = _averaged(row, tags, places[order], len(first))
    classes = np.array(list(ACTIVITIES.values()))[activities]
    read = np.where(activities == list(ACTIVITIES).index(UNREAD), len(CLASSES), classes)
    lowest = np.minimum.reduceat(read, first)
    return {
        "times": (ticks[first] / TICKS).astype(np.float32),
        "values": values,
        "mask": mask,
        "labels": classes[first],
        "lowest": np.where(lowest == len(CLASSES), -1, lowest),
        "lengths": np.bincount(sequence[first]).astype(np.int64),
        "ids": ids,
    }


def _averaged(row: np.ndarray, tags: np.ndarray, places: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Values and mask, (rows, 12), of reports at `places` (reports, 3)."""
    cell, cells = row * len(TAGS) + tags, rows * len(TAGS)
    counts = np.bincount(cell, minlength=cells)
    sums = np.column_stack([np.bincount(cell, axis, minlength=cells) for axis in places.T])
    values = (sums / np.maximum(counts, 1)[:, None]).astype(np.float32)
    mask = np.repeat(counts > 0, len(AXES))
    return values.reshape(rows, -1), mask.reshape(rows, -1)


def _sequences(table: entries.Table) -> tuple[np.ndarray, np.ndarray]:
    """The ids of the sequences, (sequences,), and the place of each line's sequence, (lines,)."""
    names = table.texts("sequence")
    new = np.concatenate([[True], names[1:] != names[:-1]])
    first = np.flatnonzero(new)
    met = names[first].tolist()
    for place, name in enumerate(met):
        here = np.arange(len(names)) == first[place]
        if not re.fullmatch(rb"[A-Z]\d\d", name):
            table.refuse(here, "sequence", "a letter and two digits")
        if name in met[:place]:
            table.refuse(here, "sequence", "a sequence that did not end before")
    ids = [100 * (name[0] - ord("A") + 1) + int(name[1:]) for name in met]
    return np.array(ids, np.int64), np.cumsum(new) - 1


def _ticks(table: entries.Table, sequence: np.ndarray) -> np.ndarray:
    """The time of each line since its sequence's first, (lines,) int64, in ticks."""
    stamps = table.numbers("timestamp")  # as float64, as in Latent-ODE: exact to 12.8 microseconds
    table.refuse((stamps < 0) | (stamps >= 2.0**63), "timestamp", "a number of 100 ns that 63 bits hold")
    same = np.diff(sequence, prepend=-1) == 0
    table.refuse(same & (np.diff(stamps, prepend=0) < -LATE * STEP), "timestamp", "times that do not go back by 0.1 s")
    starts = np.flatnonzero(~same)
    return np.round((stamps - np.minimum.reduceat(stamps, starts)[sequence]) / STEP).astype(np.int64)
