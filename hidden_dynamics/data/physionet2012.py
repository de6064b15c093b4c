"""PhysioNet 2012: the first 48 hours of stays in intensive care, and who died (ACE-NODE, Sections 4.3 and 4.4).

Sets A and B of the PhysioNet/CinC challenge of 2012, 4,000 records each, as Latent-ODE (Rubanova et al., NeurIPS 2019)
reads them: see `stay_records`. ACE-NODE classifies set A, and interpolates and extrapolates both.
"""

from pathlib import Path
from typing import Any

import numpy as np

from hidden_dynamics.data import archives, stay_records
from hidden_dynamics.data.settings import with_defaults, within
from hidden_dynamics.data.streams import generator
from hidden_dynamics.errors import UserError

SETS = ("a", "b")
RECORDS, ROWS = 4000, 75  # of a set; of a record, on average
DEFAULTS: dict[str, Any] = {
    "sets": ["a"],  # which of the two
    "quantisation": stay_records.QUANTUM,  # hours
}


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """Read archives and outcomes in the directory `raw`.

    Args:
        raw: the directory of set-<set>.tar and Outcomes-<set>.txt.
        settings: `DEFAULTS`, changed.

    Returns:
        The arrays of `stay_records`, of all sets together: 4,000 records of each.

    Raises:
        UserError: a setting is unknown or out of range, or a file is missing, damaged or not what it must be; the
            message names it, in an archive too, and the line.
    """
    chosen = _checked(settings)
    parts = [_read(Path(raw), name, chosen["quantisation"]) for name in chosen["sets"]]
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    if (np.diff(whole["ids"]) <= 0).any():
        place = int(np.argmax(np.diff(whole["ids"]) <= 0)) + 1
        file = Path(raw, _archive(chosen["sets"][-1]))
        raise UserError(f"{file}: expected ids above those of the other set, found {whole['ids'][place]}", file=file)
    return whole


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


def _archive(name: str) -> str:
    return f"set-{name}.tar"


def _read(raw: Path, name: str, quantum: float) -> dict[str, np.ndarray]:
    archive, outcomes = raw / _archive(name), raw / f"Outcomes-{name}.txt"
    try:
        table = outcomes.read_bytes()
    except FileNotFoundError:
        raise UserError(
            f"{outcomes}: there is no such file; fetch it first (scripts/fetch.py)", file=outcomes
        ) from None
    records = archives.fetched_members(archive, stay_records.MEMBERS)
    arrays = stay_records.parse(records, str(archive), table, str(outcomes), quantum)
    if len(arrays["ids"]) != RECORDS:
        raise UserError(f"{archive}: expected {RECORDS:,} records, found {len(arrays['ids']):,}", file=archive)
    return arrays


def _checked(settings: dict) -> dict[str, Any]:
    chosen = with_defaults("physionet2012", settings, DEFAULTS)
    if chosen["sets"] not in (["a"], ["b"], ["a", "b"]):
        raise UserError(f"physionet2012: sets must be [a], [b] or [a, b], found {chosen['sets']}", key="sets")
    within("physionet2012", chosen, "quantisation", 0.001, 1)
    return chosen
