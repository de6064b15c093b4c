"""CIFAR-10 and SVHN, read from small files in the original formats; averaged images; the enlarged digits."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from raw import pack
from scipy.io import savemat

from hidden_dynamics.data import cifar10, digits, images, svhn
from hidden_dynamics.data.streams import generator


def check_types(arrays: dict[str, np.ndarray]) -> None:
    assert set(arrays) == {"train_images", "train_labels", "test_images", "test_labels", "levels"}
    assert arrays["levels"] == 255 and arrays["levels"].dtype == np.float32 and arrays["levels"].shape == ()
    for name, array in arrays.items():
        assert name == "levels" or array.dtype == np.uint8
        assert array.flags.c_contiguous and array.base is None  # saved as it is, and keeps nothing else in memory


RECORDS = 4
BATCHES = [*cifar10.FILES["train"], *cifar10.FILES["test"]]


def batches() -> dict[str, bytes]:
    """Six files of four records each: a label and 32 x 32 red, green and blue values."""
    rng = generator(0)
    labels = rng.integers(0, 10, (6, RECORDS, 1), np.uint8)
    pixels = rng.integers(0, 256, (6, RECORDS, 3072), np.uint8)
    return {
        name: np.concatenate(parts, axis=1).tobytes()
        for name, *parts in zip(BATCHES, labels, pixels, strict=True)  # one line for each file
    }


def write_archive(directory: Path, contents: dict[str, bytes], mode: str = "w") -> None:
    """As the official archive has them: in a folder, with a description and a list of names of the classes."""
    members = {"batches.meta.txt": b"airplane\n", **contents, "readme.html": b"<html>"}
    packed = pack({f"cifar-10-batches-bin/{name}": content for name, content in members.items()}, mode)
    (directory / "cifar-10-binary.tar").write_bytes(packed)


@pytest.mark.parametrize(("mode", "order"), [("w", list), ("w:gz", list), ("w", reversed)])
def test_cifar10_is_read_plane_by_plane_in_any_order_of_its_files(tmp_path: Path, mode: str, order):
    contents = batches()
    write_archive(tmp_path, {name: contents[name] for name in order(BATCHES)}, mode)
    arrays = cifar10.prepare(tmp_path, {})
    check_types(arrays)
    assert arrays["train_images"].shape == (20, 32, 32, 3) and arrays["test_images"].shape == (4, 32, 32, 3)
    for place, (name, content) in enumerate(contents.items()):
        split, first = ("train", RECORDS * place) if name.startswith("data") else ("test", 0)
        for record in range(RECORDS):
            start = 3073 * record
            assert arrays[f"{split}_labels"][first + record] == content[start]
            image = arrays[f"{split}_images"][first + record]
            for row, column, color in [(0, 0, 0), (0, 31, 1), (31, 0, 2), (5, 7, 0), (17, 30, 2), (31, 31, 2)]:
                assert image[row, column, color] == content[start + 1 + 1024 * color + 32 * row + column]


COUNTS = {"train": 12, "test": 5}


def variables(count: int) -> dict[str, np.ndarray]:
    rng = generator(count)
    return {
        "X": rng.integers(0, 256, (32, 32, 3, count), np.uint8),
        "y": np.arange(count, dtype=np.uint8)[:, None] % 10 + 1,
    }


@pytest.mark.parametrize("dtype", [np.uint8, np.float64, np.int32])
def test_svhn_has_images_first_and_ten_is_the_digit_0(tmp_path: Path, dtype):
    for split, count in COUNTS.items():
        written = variables(count)
        labels = {"y": written["y"].astype(dtype)}
        savemat(tmp_path / f"{split}_32x32.mat", written | labels, do_compression=True)
    arrays = svhn.prepare(tmp_path, {})
    check_types(arrays)
    for split, count in COUNTS.items():
        assert np.array_equal(arrays[f"{split}_images"], variables(count)["X"].transpose(3, 0, 1, 2))
    assert arrays["train_labels"].tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2]


@given(st.data())
def test_averaged_images_are_within_half_a_level_of_the_mean_of_each_square_halves_up(data):
    side, square = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    channels = data.draw(st.sampled_from([(), (1,), (3,)]))
    whole = data.draw(arrays_of.arrays(np.uint8, (2, side * square, side * square, *channels)))
    small = images.averaged(whole, side)
    assert (small.shape, small.dtype) == ((2, side, side, *channels), np.uint8)
    for row, column in np.ndindex(side, side):
        there = whole[:, row * square : (row + 1) * square, column * square : (column + 1) * square]
        error = small[:, row, column] - there.mean((1, 2), np.float64)
        assert (error > -0.5).all() and (error <= 0.5).all()


def test_cifar10_is_averaged_color_by_color(tmp_path: Path):
    write_archive(tmp_path, batches())
    whole, small = cifar10.prepare(tmp_path, {})["test_images"], cifar10.prepare(tmp_path, {"side": 16})["test_images"]
    fours = whole[:, 0:2, 2:4].astype(int).sum((1, 2))
    assert np.array_equal(small[:, 0, 1], (fours + 2) // 4) and small.shape == (RECORDS, 16, 16, 3)


@pytest.mark.parametrize("enlarge", [1, 2, 3])
def test_each_pixel_of_the_digits_becomes_a_square(enlarge: int):
    plain, large = digits.prepare(Path("nowhere"), {}), digits.prepare(Path("nowhere"), {"enlarge": enlarge})
    for split, count in {"train": 1437, "test": 360}.items():
        assert np.array_equal(large[f"{split}_labels"], plain[f"{split}_labels"])
        assert large[f"{split}_images"].shape == (count, (8 * enlarge) ** 2)
        assert large[f"{split}_images"].dtype == np.uint8
        squares = large[f"{split}_images"].reshape(count, 8, enlarge, 8, enlarge)
        assert (squares == plain[f"{split}_images"].reshape(count, 8, 1, 8, 1)).all()
    assert large["levels"] == plain["levels"] == 16
