"""Images averaged to a smaller side, and images that stand in for a dataset's where only their shapes matter."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import Field

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.data.streams import generator
from hidden_dynamics.errors import UserError

DIFFERENT = 256  # images that are drawn; the others are copies
BLOCK = 4  # side of the squares of equal pixels: something smooth for a solver to see


class Settings(Entry):
    side: int | None = Field(None, ge=1)  # to which images are averaged; None: they stay whole


def side_of(dataset: str, settings: Mapping[str, Any], whole: int) -> int:
    """The one setting of a dataset of square images: `side`, to which they are averaged; `whole`, theirs, if not given.

    Raises:
        UserError: another setting is given, or a side that does not divide `whole`.
    """
    side = whole if (chosen := typed(Settings, settings, dataset).side) is None else chosen
    if whole % side:
        raise UserError(f"{dataset}: the setting 'side' must divide {whole}, found {side}", key="side")
    return side


def averaged(images: np.ndarray, side: int) -> np.ndarray:
    """Each pixel the mean of a square of pixels, rounded to a whole level, halves up.

    Levels stay what they are, so a task divides by the same number as for whole images; rounding adds at most half a
    level.

    Args:
        images: (n, H, H) or (n, H, H, channels), uint8, where `side` divides H.

    Returns:
        (n, side, side) or (n, side, side, channels), uint8.
    """
    count, whole, _, *channels = images.shape
    square = whole // side
    sums = images.reshape(count, side, square, side, square, *channels).sum((2, 4), np.uint32)
    return ((2 * sums + square**2) // (2 * square**2)).astype(np.uint8, order="C")


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
