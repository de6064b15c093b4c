"""PhysioNet 2012: the first 48 hours of stays in intensive care, and who died (ACE-NODE, Sections 4.3 and 4.4).

Sets A and B of the PhysioNet/CinC challenge of 2012, 4,000 records each, as Latent-ODE (Rubanova et al., NeurIPS 2019)
reads them. ACE-NODE classifies set A, and interpolates and extrapolates both.

A record is a file `<id>.txt` with the header `Time,Parameter,Value`, the line `00:00,RecordID,<id>`, and then a line
for each measurement: time since admission (hh:mm, until 48:00), parameter and value. The outcomes of a set of records
are a CSV table with a line for each.

The authors' repository has a file of each set, in the order in which their code took the records and then split them: a
list of (id, times, values, mask, label) that torch saved. Of it the ids alone are used.

The arrays have a row for each time of a stay, the stays one after another:

times    (rows,), float32, hours, in multiples of a quantum; the first of each stay is 0
values   (rows, 41), float32, in the units of the challenge, -1 for an unknown height, weight or sex included; 0
         where a parameter was not measured
mask     (rows, 41), bool, whether it was
lengths  (stays,), int64, how many rows each stay has
ids      (stays,), int64, ascending where no other order is asked for
died     (stays,), bool, whether the patient died in the hospital
"""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from pydantic import AfterValidator, Field

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.data import archives, ragged
from hidden_dynamics.errors import UserError

MEMBERS = "[0-9]*.txt"  # base names of records in an archive
# In the order of Latent-ODE (Rubanova et al., NeurIPS 2019); the first five are descriptors, known at admission.
PARAMETERS = (
    *("Age", "Gender", "Height", "ICUType", "Weight", "Albumin", "ALP", "ALT", "AST", "Bilirubin", "BUN"),
    *("Cholesterol", "Creatinine", "DiasABP", "FiO2", "GCS", "Glucose", "HCO3", "HCT", "HR", "K", "Lactate", "Mg"),
    *("MAP", "MechVent", "Na", "NIDiasABP", "NIMAP", "NISysABP", "PaCO2", "PaO2", "pH", "Platelets", "RespRate"),
    *("SaO2", "SysABP", "Temp", "TroponinI", "TroponinT", "Urine", "WBC"),
)
ADMISSION = len(PARAMETERS)  # in the place of a parameter, where a line says only that the stay has a row
QUANTUM = 0.016  # hours, to which Latent-ODE rounds; less than the minute to which times are known


def _in_order(sets: list) -> list:
    if sets not in (["a"], ["b"], ["a", "b"]):
        raise ValueError("expected [a], [b] or [a, b]")
    return sets


class Settings(Entry):
    sets: Annotated[list, AfterValidator(_in_order)] = ["a"]
    quantisation: float = Field(QUANTUM, ge=0.001, le=1)  # hours
    order: Literal["number", "released"] = "number"


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """The arrays of all sets together: 4,000 records of each, in their `order`."""
    chosen = typed(Settings, settings, "physionet2012")
    parts = []
    for name in chosen.sets:
        records = archives.members(Path(raw, f"set-{name}.tar"), MEMBERS)
        outcomes = Path(raw, f"Outcomes-{name}.txt").read_bytes()
        part = parse((content for _, content in records), outcomes, chosen.quantisation)
        parts.append(part if chosen.order == "number" else as_released(part, Path(raw, f"set-{name}_0.016.pt")))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def parse(records: Iterable[bytes], outcomes: bytes, quantum: float = QUANTUM) -> dict[str, np.ndarray]:
    """The arrays of a set of records, in any order, and of the table of their outcomes.

    A time is rounded to a multiple of the quantum, in hours, halves to the even one, and what was measured of a
    parameter until that changes is averaged, as in Latent-ODE.
    """
    lines = b"".join(record.partition(b"\n")[2].rstrip(b"\n") + b"\n" for record in records)
    parameters = pd.CategoricalDtype([*PARAMETERS, "RecordID"])
    table = pd.read_csv(
        io.BytesIO(lines),
        names=["time", "parameter", "value"],
        dtype={"time": "category", "parameter": parameters, "value": np.float64},
    )
    hours = np.array([int(time[:2]) + int(time[3:]) / 60 for time in table["time"].cat.categories])
    parameter, value = table["parameter"].cat.codes.to_numpy(), table["value"].to_numpy()
    first = parameter == ADMISSION  # of its record, whose id is the value
    ids = value[first].astype(np.int64)[np.cumsum(first) - 1]
    ticks = np.round(hours[table["time"].cat.codes] / quantum).astype(np.int64)
    arrays = ragged.ragged(ids, ticks, parameter, value, len(PARAMETERS) + 1, quantum)
    arrays |= {name: np.ascontiguousarray(arrays[name][:, :ADMISSION]) for name in ("values", "mask")}
    died = pd.read_csv(io.BytesIO(outcomes), index_col="RecordID")["In-hospital_death"]
    return arrays | {"died": died.loc[arrays["ids"]].to_numpy() == 1}


def as_released(arrays: dict[str, np.ndarray], path: Path) -> dict[str, np.ndarray]:
    """A set's arrays in the order of the records in the authors' file, which is read as data: nothing in it is run. A
    `UserError` where it is something else, or its ids are not the set's."""
    import torch  # here alone: it takes seconds

    try:
        records = torch.load(path, map_location="cpu", weights_only=True)
        ids = np.array([int(number) for number, _times, _values, _mask, _label in records])
    except Exception as error:  # another file raises almost anything
        raise _not_the_order(
            path, f"as a list of (id, times, values, mask, label), saved by torch ({error!r})"
        ) from error
    if not np.array_equal(np.sort(ids), arrays["ids"]):
        raise _not_the_order(
            path, f"as the order of {len(arrays['ids'])} records: it has other ids, {len(ids)} of them"
        )
    stays = np.searchsorted(arrays["ids"], ids)
    lengths = arrays["lengths"][stays]
    shifts = ragged.starts(arrays["lengths"])[stays] - ragged.starts(lengths)
    rows = np.arange(len(arrays["times"])) + np.repeat(shifts, lengths)
    return {name: array[rows if name in ("times", "values", "mask") else stays] for name, array in arrays.items()}


def _not_the_order(path: Path, problem: str) -> UserError:
    advice = f"Delete it and {path.name}.sha256, and run again, or take the variant patient_order as published."
    return UserError(f"{path} cannot be read {problem}. {advice}", file=path)
