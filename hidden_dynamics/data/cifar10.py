"""CIFAR-10, from the six files of its binary version (ACE-NODE, Section 4.1).

The binary version, because the one for Python is pickled, and to unpickle is to run what the file says.
"""

from pathlib import Path

import numpy as np

from hidden_dynamics.data import archives, images

ARCHIVE = "cifar-10-binary.tar"
FILES = {"train": tuple(f"data_batch_{number}.bin" for number in range(1, 6)), "test": ("test_batch.bin",)}
# A record is the label, then the red, green and blue values, each row by row.
SIDE, CHANNELS = 32, 3


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """`train_images` (50000, side, side, 3) and `test_images` (10000, side, side, 3), uint8, red, green and blue;
    `train_labels` (50000,) and `test_labels` (10000,), uint8 in 0..9; `levels` (), float32, 255."""
    side = images.side_of("cifar10", settings, SIDE)
    contents = dict(archives.members(Path(raw, ARCHIVE), "*.bin"))
    arrays: dict[str, np.ndarray] = {"levels": np.array(255, np.float32)}
    for split, names in FILES.items():
        content = b"".join(contents[name] for name in names)
        records = np.frombuffer(content, np.uint8).reshape(-1, 1 + CHANNELS * SIDE * SIDE)
        planes = records[:, 1:].reshape(-1, CHANNELS, SIDE, SIDE)
        arrays[f"{split}_images"] = images.averaged(planes.transpose(0, 2, 3, 1), side)
        arrays[f"{split}_labels"] = records[:, 0].copy()
    return arrays
