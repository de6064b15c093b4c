"""MNIST, from the four IDX files of the original distribution (MomentumRNN, Section 3.1 and Appendix A.1)."""

import math
from pathlib import Path

import numpy as np

from hidden_dynamics.data import images
from hidden_dynamics.errors import UserError

UNSIGNED_BYTE = 0x08  # the type code of an IDX file whose entries are bytes
SIDE = 28
IMAGES = {"train": ("train-images-idx3-ubyte", 60_000), "test": ("t10k-images-idx3-ubyte", 10_000)}
LABELS = {"train": ("train-labels-idx1-ubyte", 60_000), "test": ("t10k-labels-idx1-ubyte", 10_000)}


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """Read the decompressed IDX files in the directory `raw`.

    A pixel's value is `image / levels`, in [0, 1]: the authors' code neither normalises by mean and deviation nor
    binarises, although the paper speaks of binary images.

    Args:
        raw: the directory of the four files.
        settings: `side`, to which images are averaged (`images.averaged`); 28 if it is not given.

    Returns:
        `train_images` (60000, side^2) and `test_images` (10000, side^2), uint8, each image row by row;
        `train_labels` (60000,) and `test_labels` (10000,), uint8 in 0..9; `levels` (), float32, 255.

    Raises:
        UserError: a setting is unknown or does not fit, or a file is missing or not what it must be; the message names
            it, what was expected and what was found.
    """
    side = images.side_of("mnist", settings, SIDE)
    arrays = {"levels": np.array(255, np.float32)}
    for split, (name, count) in IMAGES.items():
        pixels = _read(Path(raw, name), (count, SIDE, SIDE))
        arrays[f"{split}_images"] = images.averaged(pixels, side).reshape(count, side * side)
    for split, (name, count) in LABELS.items():
        labels = _read(Path(raw, name), (count,))
        if labels.max() > 9:
            raise UserError(f"{Path(raw, name)}: expected labels 0 to 9, found {labels.max()}")
        arrays[f"{split}_labels"] = labels
    return arrays


def stand_in(settings: dict) -> dict[str, np.ndarray]:
    """Random arrays of the names, types and shapes that `prepare` gives."""
    side = images.side_of("mnist", settings, SIDE)
    return images.stand_in({split: count for split, (_, count) in IMAGES.items()}, side, channels=1, levels=255)


def read_idx(path: str | Path) -> np.ndarray:
    """Read an IDX file of unsigned bytes.

    The format: two zero bytes, the type code, the number of dimensions, each dimension as a big-endian uint32, then the
    entries, the last dimension running fastest.

    Raises:
        UserError: `path` is missing, is no IDX file of bytes, or its length is not what its header announces.
    """
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file; fetch it first (scripts/fetch.py)") from None
    magic = content[:4]
    if len(magic) < 4 or magic[:3] != bytes([0, 0, UNSIGNED_BYTE]):
        raise UserError(
            f"{path}: expected an IDX file of bytes (magic number 00 00 08 ..), found {magic.hex(' ') or 'nothing'}"
        )
    dimensions = magic[3]
    start = 4 + 4 * dimensions
    if len(content) < start:
        raise UserError(f"{path}: expected a header of {start} bytes, found {len(content)}: the file is broken off")
    shape = tuple(int(size) for size in np.frombuffer(content, ">u4", dimensions, offset=4))
    length = start + math.prod(shape)
    if len(content) != length:
        raise UserError(f"{path}: expected {length:,} bytes for its shape {shape}, found {len(content):,}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def _read(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    array = read_idx(path)
    if array.shape != shape:
        raise UserError(f"{path}: expected shape {shape}, found {array.shape}")
    return array
