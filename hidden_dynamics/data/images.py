"""Images averaged to a smaller side."""

from collections.abc import Mapping

import numpy as np
from pydantic import Field

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.errors import UserError


class Settings(Entry):
    side: int | None = Field(None, ge=1)  # to which images are averaged; None: they stay whole


def side_of(dataset: str, settings: Mapping[str, object], whole: int) -> int:
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
