"""MNIST, from the four IDX files of the original distribution (MomentumRNN, Section 3.1 and Appendix A.1)."""

from pathlib import Path

import numpy as np

from hidden_dynamics.data import images

SIDE = 28
FILES = {"train": "train", "test": "t10k"}  # how their names begin


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """`train_images` (60000, side^2) and `test_images` (10000, side^2), uint8, each image row by row; `train_labels`
    (60000,) and `test_labels` (10000,), uint8 in 0..9; `levels` (), float32, 255: a pixel's value is `image / levels`.
    """
    side = images.side_of("mnist", settings, SIDE)
    arrays = {"levels": np.array(255, np.float32)}
    for split, name in FILES.items():
        pixels = read_idx(Path(raw, f"{name}-images-idx3-ubyte"))
        arrays[f"{split}_images"] = images.averaged(pixels, side).reshape(len(pixels), side * side)
        arrays[f"{split}_labels"] = read_idx(Path(raw, f"{name}-labels-idx1-ubyte"))
    return arrays


def read_idx(path: str | Path) -> np.ndarray:
    """An IDX file of unsigned bytes: two zero bytes, the type code (8), the number of dimensions, each dimension as a
    big-endian uint32, then the entries, the last dimension running fastest."""
    content = Path(path).read_bytes()
    shape = np.frombuffer(content, ">u4", content[3], offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * content[3]).reshape(shape)
