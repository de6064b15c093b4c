"""SVHN, from the two MATLAB files of its cropped digits, "format 2" (ACE-NODE, Section 4.1).

Verify a file's digest before it is read, as scripts/prepare.py does: scipy's reader (1.17) runs nothing of what a file
says, but bytes altered in the middle of one can make it crash.
"""

from pathlib import Path

import numpy as np

from hidden_dynamics.data import images

SIDE, CHANNELS = 32, 3


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """`train_images` (73257, side, side, 3) and `test_images` (26032, side, side, 3), uint8, red, green and blue;
    `train_labels` (73257,) and `test_labels` (26032,), uint8, the digits 0..9, of which the files call 0 ten;
    `levels` (), float32, 255."""
    from scipy.io import loadmat  # here, because importing scipy takes time that the other datasets need not wait for

    side = images.side_of("svhn", settings, SIDE)
    arrays = {"levels": np.array(255, np.float32)}
    for split in ("train", "test"):
        variables = loadmat(Path(raw, f"{split}_32x32.mat"))
        pixels = np.ascontiguousarray(variables["X"].transpose(3, 0, 1, 2))
        arrays[f"{split}_images"] = images.averaged(pixels, side)
        arrays[f"{split}_labels"] = (variables["y"][:, 0] % 10).astype(np.uint8)
    return arrays
