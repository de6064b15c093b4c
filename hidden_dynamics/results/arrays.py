"""Arrays of a file of ours, held to the kinds and shapes that they should have."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


def read_arrays(
    path: Path, expected: Mapping[str, tuple[str, str]], finite: Iterable[str]
) -> dict[str, NDArray] | None:
    """The arrays of an .npz file, checked; None where it has none.

    Args:
        expected, finite: as for `check_shapes`.

    Raises:
        KeyError: an array is missing.
        ValueError: an array is not what it should be.
        OSError, zipfile.BadZipFile: the file is missing, or no archive.
    """
    with np.load(path, allow_pickle=False) as archive:
        if not archive.files:
            return None
        arrays = {name: archive[name] for name in expected}
    check_shapes(arrays, expected, finite)
    return arrays


def check_shapes(arrays: Mapping[str, NDArray], expected: Mapping[str, tuple[str, str]], finite: Iterable[str]) -> None:
    """Refuse arrays of other kinds than expected, of shapes that do not fit each other, or with numbers not finite.

    Args:
        expected: of each array the kind of its numbers (i: whole, f: floating, b: truth) and its shape, a letter for
            each length.
        finite: the names of those that are finite everywhere.

    Raises:
        ValueError: one is not as it should be.
    """
    lengths: dict[str, int] = {}
    for name, (kind, letters) in expected.items():
        array = arrays[name]
        if array.dtype.kind != kind or array.ndim != len(letters):
            raise ValueError(f"{name} has the shape {array.shape} of {array.dtype}, expected ({', '.join(letters)})")
        for letter, length in zip(letters, array.shape, strict=True):
            if lengths.setdefault(letter, length) != length:
                raise ValueError(f"{name} has {letter} = {length}, and others have {lengths[letter]}")
    for name in finite:
        if not np.isfinite(arrays[name]).all():
            raise ValueError(f"{name} is not finite everywhere")
