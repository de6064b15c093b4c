"""Human Activity: five people, each of whom moves five times, with tags on ankles, chest and belt (ACE-NODE, 4.5).

The Localization Data for Person Activity of the UCI repository, as Latent-ODE (Rubanova et al., NeurIPS 2019) reads
them: see `tag_reports`.
"""

from pathlib import Path

import numpy as np

from hidden_dynamics.data import tag_reports
from hidden_dynamics.data.settings import whole_numbers
from hidden_dynamics.data.streams import generator
from hidden_dynamics.errors import UserError

FILE = "ConfLongDemo_JSI.txt"
SEQUENCES, REPORTS = 25, 164_860


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """Read the file in the directory `raw`.

    Args:
        raw: the directory of the file.
        settings: none are known.

    Returns:
        The arrays of `tag_reports`, of 25 sequences.

    Raises:
        UserError: the file is missing or not what it must be; the message names the file, the line and the column.
    """
    whole_numbers("human_activity", settings, {})
    path = Path(raw, FILE)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file; fetch it first (scripts/fetch.py)", file=path) from None
    arrays = tag_reports.parse(content, path)
    if len(arrays["ids"]) != SEQUENCES:
        raise UserError(f"{path}: expected {SEQUENCES} sequences, found {len(arrays['ids'])}", file=path)
    return arrays


def stand_in(settings: dict) -> dict[str, np.ndarray]:
    """Random arrays of the names and types that `prepare` gives, and of about their shapes."""
    whole_numbers("human_activity", settings, {})
    random, length = generator(0, "stand-in"), REPORTS // SEQUENCES
    rows, tags = length * SEQUENCES, len(tag_reports.TAGS)
    times = np.cumsum(random.integers(1, 5, (SEQUENCES, length)), axis=1)  # 2.5 ticks apart, on average
    mask = np.repeat(random.integers(tags, size=rows)[:, None] == np.arange(tags), len(tag_reports.AXES), axis=1)
    labels = random.integers(len(tag_reports.CLASSES), size=rows)
    return {
        "times": ((times - times[:, :1]).reshape(-1) / tag_reports.TICKS).astype(np.float32),
        "values": np.where(mask, random.random(mask.shape), 0).astype(np.float32),
        "mask": mask,
        "labels": labels,
        "lowest": labels.copy(),
        "lengths": np.full(SEQUENCES, length, np.int64),
        "ids": np.array([100 * person + take for person in range(1, 6) for take in range(1, 6)], np.int64),
    }
