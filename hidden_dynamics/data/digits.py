"""The 8x8 handwritten digits embedded in scikit-learn: a small stand-in for image data that needs no network.

They are the test part of UCI's Optical Recognition of Handwritten Digits: 1,797 images with grey levels 0 to 16.
"""

from pathlib import Path

import numpy as np
from pydantic import Field

from hidden_dynamics.configuration.entries import Entry, typed

SPLIT_SEED = 0
SIZE, TEST_SIZE = 1797, 360  # a fifth
SIDE = 8


class Settings(Entry):
    enlarge: int = Field(1, ge=1)  # the side of the square that each pixel becomes


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """`train_images` (1437, 64 * enlarge^2) and `test_images` (360, 64 * enlarge^2), uint8 in 0..16, each image row by
    row; `train_labels` and `test_labels`, uint8 in 0..9; `levels` (), float32, 16.

    The split is always the same (seed 0), with the classes in the same proportions in both parts.
    """
    # Here, because importing scikit-learn takes a second that the other datasets need not wait for.
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    enlarge = typed(Settings, settings, "digits").enlarge
    pixels, labels = load_digits(return_X_y=True)
    pixels = pixels.reshape(-1, SIDE, SIDE).repeat(enlarge, 1).repeat(enlarge, 2).reshape(len(pixels), -1)
    parts = train_test_split(
        pixels.astype(np.uint8), labels.astype(np.uint8), test_size=TEST_SIZE, stratify=labels, random_state=SPLIT_SEED
    )
    names = ("train_images", "test_images", "train_labels", "test_labels")
    arrays = {name: np.asarray(part) for name, part in zip(names, parts, strict=True)}
    return arrays | {"levels": np.array(16, np.float32)}
