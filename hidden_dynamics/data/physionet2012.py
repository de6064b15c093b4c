"""PhysioNet 2012: the first 48 hours of stays in intensive care, and who died (ACE-NODE, Sections 4.3 and 4.4).

Sets A and B of the PhysioNet/CinC challenge of 2012, 4,000 records each, as Latent-ODE (Rubanova et al., NeurIPS 2019)
reads them. ACE-NODE classifies set A, and interpolates and extrapolates both.

A record is a file `<id>.txt` with the header `Time,Parameter,Value`, the line `00:00,RecordID,<id>`, and then a line
for each measurement: time since admission (hh:mm, until 48:00), parameter and value. The outcomes of a set of records
are a CSV table with a line for each.
"""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hidden_dynamics.data import archives, stay_records
from hidden_dynamics.data.settings import with_defaults, within
from hidden_dynamics.data.streams import generator
from hidden_dynamics.errors import UserError

RECORDS, ROWS = 4000, 75  # of a set; of a record, on average
MEMBERS = "[0-9]*.txt"  # base names of records in an archive
DEFAULTS: dict[str, Any] = {
    "sets": ["a"],  # which of the two
    "quantisation": stay_records.QUANTUM,  # hours
}


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """The arrays of `stay_records`, of all sets together: 4,000 records of each."""
    chosen = _checked(settings)
    parts = []
    for name in chosen["sets"]:
        records = archives.fetched_members(Path(raw, f"set-{name}.tar"), MEMBERS)
        outcomes = Path(raw, f"Outcomes-{name}.txt").read_bytes()
        parts.append(parse((content for _, content in records), outcomes, chosen["quantisation"]))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def parse(records: Iterable[bytes], outcomes: bytes, quantum: float = stay_records.QUANTUM) -> dict[str, np.ndarray]:
    """The arrays of a set of records, in any order, and of the table of their outcomes."""
    lines = b"".join(record.partition(b"\n")[2].rstrip(b"\n") + b"\n" for record in records)
    parameters = pd.CategoricalDtype([*stay_records.PARAMETERS, "RecordID"])
    table = pd.read_csv(
        io.BytesIO(lines),
        names=["time", "parameter", "value"],
        dtype={"time": "category", "parameter": parameters, "value": np.float64},
    )
    hours = np.array([int(time[:2]) + int(time[3:]) / 60 for time in table["time"].cat.categories])
    parameter, value = table["parameter"].cat.codes.to_numpy(), table["value"].to_numpy()
    first = parameter == stay_records.ADMISSION  # of its record, whose id is the value
    ids = value[first].astype(np.int64)[np.cumsum(first) - 1]
    arrays = stay_records.stays(ids, hours[table["time"].cat.codes], parameter, value, quantum)
    died = pd.read_csv(io.BytesIO(outcomes), index_col="RecordID")["In-hospital_death"]
    return arrays | {"died": died.loc[arrays["ids"]].to_numpy() == 1}


def stand_in(settings: dict) -> dict[str, np.ndarray]:
    """Random arrays of the names and types that `prepare` gives, and of about their shapes."""
    chosen = _checked(settings)
    random, records, features = generator(0, "stand-in"), RECORDS * len(chosen["sets"]), len(stay_records.PARAMETERS)
    ticks = np.round(np.arange(60 * stay_records.HOURS + 1) / 60 / chosen["quantisation"])
    grid = np.unique(ticks)[1:] * chosen["quantisation"]
    length = min(ROWS, len(grid))
    times = np.zeros((records, length))
    for record in range(records):
        times[record, 1:] = np.sort(random.choice(grid, length - 1, replace=False, shuffle=False))
    mask = random.random((records * length, features), np.float32) < 0.145
    return {
        "times": times.reshape(-1).astype(np.float32),
        "values": np.where(mask, random.random(mask.shape, np.float32), np.float32(0)),
        "mask": mask,
        "lengths": np.full(records, length, np.int64),
        "ids": np.arange(records, dtype=np.int64),
        "died": np.arange(records) % 7 == 0,  # one in seven
    }


def _checked(settings: dict) -> dict[str, Any]:
    chosen = with_defaults("physionet2012", settings, DEFAULTS)
    if chosen["sets"] not in (["a"], ["b"], ["a", "b"]):
        raise UserError(f"physionet2012: sets must be [a], [b] or [a, b], found {chosen['sets']}", key="sets")
    within("physionet2012", chosen, "quantisation", 0.001, 1)
    return chosen
