"""Images averaged to a smaller side."""

from collections.abc import Mapping

import numpy as np
from pydantic import Field

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.errors import UserError


class Settings(Entry):
    side: int | None = Field(None, ge=1)  # to which images are averaged; None: they stay whole


def side_of(dataset: str, settings: Mapping[str, object], whole: int) -> int:
    """The setting `side` of a dataset of square images, to which they are averaged, or else `whole`, their own; a
    `UserError` where it does not divide that, or another setting is given."""
    side = whole if (chosen := typed(Settings, settings, dataset).side) is None else chosen
    if whole % side:
        raise UserError(f"{dataset}: the setting 'side' must divide {whole}, found {side}", key="side")
    return side


def averaged(images: np.ndarray, side: int) -> np.ndarray:
    """Images (n, H, H) or (n, H, H, channels), uint8, as (n, side, side, ...), where `side` divides H: each pixel the
    mean of a square of pixels, rounded to a whole level, halves up."""
    count, whole, _, *channels = images.shape
    square = whole // side
    sums = images.reshape(count, side, square, side, square, *channels).sum((2, 4), np.uint32)
    return ((2 * sums + square**2) // (2 * square**2)).astype(np.uint8, order="C")
