"""CIFAR-10, from the six files of its binary version (ACE-NODE, Section 4.1).

The binary version, because the one for Python is pickled, and to unpickle is to run what the file says.
"""

from pathlib import Path

import numpy as np

from hidden_dynamics.data import archives, images
from hidden_dynamics.errors import UserError

ARCHIVE = "cifar-10-binary.tar"
FILES = {
    "train": tuple(f"data_batch_{number}.bin" for number in range(1, 6)),
    "test": ("test_batch.bin",),
}
RECORDS = 10_000  # in each file
SIDE, CHANNELS, CLASSES = 32, 3, 10
RECORD = 1 + CHANNELS * SIDE * SIDE  # bytes: the label, then the red, green and blue values, each row by row


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """Read the archive in the directory `raw`.

    Args:
        raw: the directory of the archive.
        settings: `side`, to which images are averaged (`images.averaged`); 32 if it is not given.

    Returns:
        `train_images` (50000, side, side, 3) and `test_images` (10000, side, side, 3), uint8, rows, columns and red,
        green, blue; `train_labels` (50000,) and `test_labels` (10000,), uint8 in 0..9; `levels` (), float32, 255: a
        pixel's value is `image / levels`, in [0, 1].

    Raises:
        UserError: a setting is unknown or does not fit, or the archive is missing, damaged, or has not what it must
            have; the message names it, what was expected and what was found.
    """
    side = images.side_of("cifar10", settings, SIDE)
    path = Path(raw, ARCHIVE)
    contents = _contents(path)
    arrays = {"levels": np.array(255, np.float32)}
    for split, names in FILES.items():
        records = np.concatenate([_records(contents[name], f"{path}: {name}") for name in names])
        planes = records[:, 1:].reshape(-1, CHANNELS, SIDE, SIDE)
        arrays[f"{split}_images"] = images.averaged(planes.transpose(0, 2, 3, 1), side)
        arrays[f"{split}_labels"] = records[:, 0].copy()
    return arrays


def stand_in(settings: dict) -> dict[str, np.ndarray]:
    """Random arrays of the names, types and shapes that `prepare` gives."""
    side = images.side_of("cifar10", settings, SIDE)
    counts = {split: RECORDS * len(names) for split, names in FILES.items()}
    return images.stand_in(counts, side, CHANNELS, levels=255)


def _contents(path: Path) -> dict[str, bytes]:
    """The bytes of each of the six files by name, whatever else the archive holds."""
    contents = dict(archives.fetched_members(path, "*.bin"))
    expected = [name for names in FILES.values() for name in names]
    missing = [name for name in expected if name not in contents]
    if missing:
        raise UserError(
            f"{path}: expected the files {', '.join(expected)}, found {', '.join(sorted(contents)) or 'none of them'}; "
            f"{', '.join(missing)} missing"
        )
    return contents


def _records(content: bytes, name: str) -> np.ndarray:
    """The records of one file, (10000, 3073) uint8: each a label in 0..9 and an image."""
    if len(content) != RECORDS * RECORD:
        raise UserError(
            f"{name}: expected {RECORDS * RECORD:,} bytes ({RECORDS:,} records of {RECORD:,}), found {len(content):,}"
        )
    records = np.frombuffer(content, np.uint8).reshape(RECORDS, RECORD)
    if (highest := records[:, 0].max()) >= CLASSES:
        raise UserError(f"{name}: expected labels 0 to {CLASSES - 1}, found {highest}")
    return records
