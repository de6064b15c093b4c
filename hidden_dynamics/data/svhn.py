"""SVHN, from the two MATLAB files of its cropped digits, "format 2" (ACE-NODE, Section 4.1).

Verify a file's digest before it is read, as scripts/prepare.py does: scipy's reader (1.17) runs nothing of what a file
says, but bytes altered in the middle of one can make it crash.
"""

from pathlib import Path

import numpy as np

from hidden_dynamics.data import images
from hidden_dynamics.errors import UserError

FILES = {"train": ("train_32x32.mat", 73_257), "test": ("test_32x32.mat", 26_032)}
SHAPE = (32, 32, 3)  # rows, columns and red, green, blue
DIGITS = 10  # the labels are 1 to 10, where 10 stands for the digit 0


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """Read the MATLAB files in the directory `raw`.

    Args:
        raw: the directory of the two files.
        settings: `side`, to which images are averaged (`images.averaged`); 32 if it is not given.

    Returns:
        `train_images` (73257, side, side, 3) and `test_images` (26032, side, side, 3), uint8, rows, columns and red,
        green, blue; `train_labels` (73257,) and `test_labels` (26032,), uint8, the digits 0..9; `levels` (), float32,
        255: a pixel's value is `image / levels`, in [0, 1].

    Raises:
        UserError: a setting is unknown or does not fit, or a file is missing or not what it must be; the message names
            it, what was expected and what was found.
    """
    side = images.side_of("svhn", settings, SHAPE[0])
    arrays = {"levels": np.array(255, np.float32)}
    for split, (name, count) in FILES.items():
        pixels, arrays[f"{split}_labels"] = _split(Path(raw, name), count)
        arrays[f"{split}_images"] = images.averaged(pixels, side)
    return arrays


def stand_in(settings: dict) -> dict[str, np.ndarray]:
    """Random arrays of the names, types and shapes that `prepare` gives."""
    side = images.side_of("svhn", settings, SHAPE[0])
    channels = SHAPE[-1]
    return images.stand_in({split: count for split, (_, count) in FILES.items()}, side, channels, levels=255)


def _split(path: Path, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Images (count, 32, 32, 3) and digits (count,) of one file, uint8."""
    variables = _variables(path)
    pixels, labels = (_variable(path, variables, name) for name in ("X", "y"))
    if pixels.dtype != np.uint8 or pixels.shape != (*SHAPE, count):
        raise UserError(
            f"{path}: expected X of uint8 and shape {(*SHAPE, count)}, found {pixels.dtype} and {pixels.shape}"
        )
    if labels.dtype.kind not in "iuf" or labels.shape != (count, 1):
        raise UserError(
            f"{path}: expected y of numbers and shape {(count, 1)}, found {labels.dtype} and {labels.shape}"
        )
    strange = labels[~np.isin(labels, range(1, DIGITS + 1))]
    if len(strange):
        raise UserError(f"{path}: expected labels 1 to {DIGITS} in y, found {strange[0]}")
    return np.ascontiguousarray(pixels.transpose(3, 0, 1, 2)), (labels[:, 0] % DIGITS).astype(np.uint8)


def _variables(path: Path) -> dict[str, np.ndarray]:
    # Here, because importing scipy takes time that the other datasets need not wait for.
    from scipy.io import loadmat, matlab

    try:
        with open(path, "rb") as handle:
            version, _ = matlab.matfile_version(handle)
            if version != 1:
                raise ValueError("its header is that of another version of the format")
            return loadmat(handle, variable_names=("X", "y"))
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file; fetch it first (scripts/fetch.py)") from None
    except Exception as error:  # a damaged file raises almost anything, according to where the damage is
        raise UserError(
            f"{path}: expected a MATLAB file of version 5, found a damaged or other one ({error})"
        ) from error


def _variable(path: Path, variables: dict[str, np.ndarray], name: str) -> np.ndarray:
    if name not in variables:
        found = [other for other in variables if not other.startswith("__")]  # the rest is about the file itself
        raise UserError(f"{path}: expected a variable {name}, found {', '.join(found) or 'none'}")
    return variables[name]
