"""Records of stays in intensive care, in the text format of the PhysioNet/CinC challenge of 2012.

A record is a file `<id>.txt` with the header `Time,Parameter,Value`, the line `00:00,RecordID,<id>`, and then a line
for each measurement: time since admission (hh:mm, until 48:00), parameter and value, in the order of time. -1 stands
where a height, weight or sex is not known. The outcomes of a set of records are a CSV table with a line for each.

The arrays, one row for each time of a record, the records one after another:

    times    (rows,), float32, hours, in multiples of a quantum; the first of each record is 0
    values   (rows, 41), float32, in the units of the record, -1 included; 0 where a parameter was not measured
    mask     (rows, 41), bool, whether it was
    lengths  (records,), int64, how many rows each record has
    ids      (records,), int64, ascending
    died     (records,), bool, whether the patient died in the hospital
"""

from collections.abc import Iterable

import numpy as np

from hidden_dynamics.data import entries
from hidden_dynamics.errors import UserError

# In the order of Latent-ODE (Rubanova et al., NeurIPS 2019); the first five are descriptors, known at admission.
PARAMETERS = (
    *("Age", "Gender", "Height", "ICUType", "Weight", "Albumin", "ALP", "ALT", "AST", "Bilirubin", "BUN"),
    *("Cholesterol", "Creatinine", "DiasABP", "FiO2", "GCS", "Glucose", "HCO3", "HCT", "HR", "K", "Lactate", "Mg"),
    *("MAP", "MechVent", "Na", "NIDiasABP", "NIMAP", "NISysABP", "PaCO2", "PaO2", "pH", "Platelets", "RespRate"),
    *("SaO2", "SysABP", "Temp", "TroponinI", "TroponinT", "Urine", "WBC"),
)
COLUMNS = ("Time", "Parameter", "Value")
OUTCOMES = ("RecordID", "SAPS-I", "SOFA", "Length_of_stay", "Survival", "In-hospital_death")
HOURS = 48
QUANTUM = 0.016  # hours, to which Latent-ODE rounds; less than the minute to which times are known
MEMBERS = "[0-9]*.txt"  # base names of records in an archive
TIMES = tuple(f"{minute // 60:02}:{minute % 60:02}" for minute in range(60 * HOURS + 1))


def parse(
    records: Iterable[tuple[str, bytes]], path: str, outcomes: bytes, outcomes_path: str, quantum: float = QUANTUM
) -> dict[str, np.ndarray]:
    """The six arrays of a set of records.

    A time is rounded to a multiple of the quantum, halves to the even one, and what was measured of a parameter until
    that changes is averaged, as in Latent-ODE.

    Args:
        records: base name and content of each, in any order; every one once.
        path: what messages call the archive.
        outcomes: the table of outcomes.
        outcomes_path: what messages call it.
        quantum: hours, above 0.

    Raises:
        UserError: a record or the outcomes are not what they must be; the message names the file, in the archive too,
            and the line.
    """
    contents = _by_id(records, path)
    ids = np.array(sorted(contents), np.int64)
    died = _died(outcomes, outcomes_path, ids, path)
    table, lengths = _cut(contents, path)
    record = np.repeat(np.arange(len(ids)), lengths)
    minutes = table.codes("Time", TIMES, f"a time hh:mm from {TIMES[0]} to {TIMES[-1]}")
    parameters = table.codes("Parameter", (*PARAMETERS, "RecordID"), "one of the 41 parameters")
    values = table.numbers("Value")
    same = np.diff(record, prepend=-1) == 0
    table.refuse(same & (parameters == len(PARAMETERS)), "Parameter", "one of the 41 parameters")
    table.refuse(same & (np.diff(minutes, prepend=0) < 0), "Time", "times that do not go back")
    times, row = _rows(minutes, same, quantum)
    shape = len(times), len(PARAMETERS)
    measured = np.flatnonzero(same)  # all but the line of the RecordID
    cell = row[measured] * shape[1] + parameters[measured]
    counts = np.bincount(cell, minlength=shape[0] * shape[1])
    sums = np.bincount(cell, values[measured], minlength=len(counts))
    return {
        "times": times.astype(np.float32),
        "values": (sums / np.maximum(counts, 1)).astype(np.float32).reshape(shape),
        "mask": (counts > 0).reshape(shape),
        "lengths": np.diff(row[np.cumsum(lengths) - 1], prepend=-1).astype(np.int64),
        "ids": ids,
        "died": died,
    }


def write(
    identity: int, minutes: Iterable[int], parameters: Iterable[str], values: Iterable[float]
) -> tuple[str, bytes]:
    """Base name and content of a record of these measurements."""
    lines = [f"{TIMES[0]},RecordID,{identity}"]
    lines += [
        f"{TIMES[minute]},{name},{value:g}" for minute, name, value in zip(minutes, parameters, values, strict=True)
    ]
    return f"{identity}.txt", "\n".join([",".join(COLUMNS), *lines, ""]).encode()


def write_outcomes(died: dict[int, bool]) -> bytes:
    """The table of outcomes of records by id; all but the death is unknown."""
    lines = [f"{identity},-1,-1,-1,-1,{int(dead)}" for identity, dead in died.items()]
    return "\n".join([",".join(OUTCOMES), *lines, ""]).encode()


def _by_id(records: Iterable[tuple[str, bytes]], path: str) -> dict[int, bytes]:
    """The lines of each record after its header, each ended by a newline, in the order of the ids."""
    contents: dict[int, bytes] = {}
    for name, content in records:
        file, number = f"{path}: {name}", name.removesuffix(".txt")
        if not number.isdigit():
            raise UserError(f"{file}: expected the name <id>.txt", file=file)
        if int(number) in contents:
            raise UserError(f"{file}: the record {number} is there twice", file=file)
        contents[int(number)] = _lines(content, number, file)
    if not contents:
        raise UserError(f"{path}: expected records {MEMBERS}, found none", file=path)
    return {number: contents[number] for number in sorted(contents)}


def _lines(content: bytes, number: str, file: str) -> bytes:
    """The lines of a record after its header."""
    expected = (",".join(COLUMNS), f"{TIMES[0]},RecordID,{number}", "a measurement")
    header, first, rest = (content.split(b"\n", 2) + [b""] * 2)[:3]
    wrong = header != expected[0].encode(), first != expected[1].encode(), not rest
    if any(wrong):
        place = wrong.index(True)
        found = (header, first, rest)[place][:80].decode(errors="replace")
        about = f"found {found!r}" if found else "the record is empty" if place != 1 else "the record ends"
        key = f"line {place + 1}"
        raise UserError(f"{file}: {key}: expected {expected[place]}, {about}", file=file, key=key)
    return content[len(header) + 1 :] + (b"" if rest.endswith(b"\n") else b"\n")


def _cut(contents: dict[int, bytes], path: str) -> tuple[entries.Table, np.ndarray]:
    """All lines of all records but headers, and how many of each record."""
    lengths = np.array([content.count(b"\n") for content in contents.values()])
    after, numbers = np.cumsum(lengths), list(contents)

    def place(line: int) -> tuple[str, int]:
        record = int(np.searchsorted(after, line, side="right"))
        return f"{path}: {numbers[record]}.txt", int(line - (after[record] - lengths[record])) + 2

    return entries.cut(b"".join(contents.values()), COLUMNS, place), lengths


def _rows(minutes: np.ndarray, same: np.ndarray, quantum: float) -> tuple[np.ndarray, np.ndarray]:
    """Times of the rows, (rows,) float64 hours, and the row of each line, (lines,).

    Args:
        minutes: (lines,).
        same: (lines,), whether a line is of the same record as the one before it.
    """
    ticks = np.round((minutes // 60 + (minutes % 60) / 60) / quantum)
    new = ~same | (np.diff(ticks, prepend=-1) != 0)
    return ticks[new] * quantum, np.cumsum(new) - 1


def _died(content: bytes, path: str, ids: np.ndarray, records: str) -> np.ndarray:
    """Whether the patient of each record died: (records,), bool."""
    header, _, lines = content.partition(b"\n")
    if header != ",".join(OUTCOMES).encode():
        raise UserError(f"{path}: line 1: expected the columns {','.join(OUTCOMES)}", file=path, key="line 1")
    lines = lines if lines.endswith(b"\n") or not lines else lines + b"\n"
    table = entries.cut(lines, OUTCOMES, lambda line: (path, line + 2))
    found, death = (table.numbers(column) for column in (OUTCOMES[0], OUTCOMES[-1]))
    order = np.argsort(found, kind="stable")
    twice = np.zeros(len(found), bool)
    twice[order[1:]] = np.diff(found[order]) == 0
    table.refuse(twice, OUTCOMES[0], "one outcome of a record, it is the second")
    table.refuse((death != 0) & (death != 1), OUTCOMES[-1], "0 or 1")
    table.refuse(~np.isin(found, ids), OUTCOMES[0], f"the outcome of a record that is in {records}")
    without = ids[~np.isin(ids, found)]
    if len(without):
        file = f"{records}: {without[0]}.txt"
        raise UserError(f"{file}: the record has no outcome in {path}", file=file, key=f"RecordID {without[0]}")
    return death[order] == 1
