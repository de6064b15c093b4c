"""Images that stand in for a dataset's where it is not there and only their shapes matter."""

from collections.abc import Mapping

import numpy as np

from hidden_dynamics.data.streams import generator

DIFFERENT = 256  # images that are drawn; the others are copies
BLOCK = 4  # side of the squares of equal pixels: something smooth for a solver to see


def stand_in(counts: Mapping[str, int], side: int, channels: int, levels: int) -> dict[str, np.ndarray]:
    """Random images and labels, in ten classes.

    Args:
        counts: images of "train" and "test".

    Returns:
        `<split>_images`, (n, side * side) with one channel, else (n, side, side, channels), uint8 in 0..levels;
        `<split>_labels` (n,) uint8 in 0..9; `levels` (), float32.
    """
    random, blocks = generator(0, "stand-in"), -(-side // BLOCK)
    images = random.integers(0, levels + 1, (DIFFERENT, blocks, blocks, channels), np.uint8)
    images = images.repeat(BLOCK, 1).repeat(BLOCK, 2)[:, :side, :side]
    images = images.reshape(DIFFERENT, side * side) if channels == 1 else np.ascontiguousarray(images)
    arrays: dict[str, np.ndarray] = {"levels": np.array(levels, np.float32)}
    for split, count in counts.items():
        arrays[f"{split}_images"] = np.resize(images, (count, *images.shape[1:]))
        arrays[f"{split}_labels"] = random.integers(0, 10, count).astype(np.uint8)
    return arrays
