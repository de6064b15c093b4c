"""CIFAR-10 and SVHN, read from small files in the original formats; averaged images; the enlarged digits."""

import io
from pathlib import Path

import numpy as np
import pytest
from conftest import refused
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from raw import pack
from scipy.io import savemat

from hidden_dynamics.configuration import load_datasets
from hidden_dynamics.data import cifar10, digits, images, mnist, svhn
from hidden_dynamics.data.streams import generator


def check_types(arrays: dict[str, np.ndarray]) -> None:
    assert set(arrays) == {"train_images", "train_labels", "test_images", "test_labels", "levels"}
    assert arrays["levels"] == 255 and arrays["levels"].dtype == np.float32 and arrays["levels"].shape == ()
    for name, array in arrays.items():
        assert name == "levels" or array.dtype == np.uint8
        assert array.flags.c_contiguous and array.base is None  # saved as it is, and keeps nothing else in memory


# ------------------------------------------------------------------------------------------------------------- CIFAR-10

RECORDS = 4
BATCHES = [*cifar10.FILES["train"], *cifar10.FILES["test"]]


@pytest.fixture
def few_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cifar10, "RECORDS", RECORDS)


def batches() -> dict[str, bytes]:
    """Six files of four records each: a label and 32 x 32 red, green and blue values."""
    rng = generator(0)
    labels = rng.integers(0, 10, (6, RECORDS, 1), np.uint8)
    pixels = rng.integers(0, 256, (6, RECORDS, 3072), np.uint8)
    return {
        name: np.concatenate(parts, axis=1).tobytes()
        for name, *parts in zip(BATCHES, labels, pixels, strict=True)  # one line for each file
    }


def write_archive(directory: Path, contents: dict[str, bytes], mode: str = "w") -> Path:
    """As the official archive has them: in a folder, with a description and a list of names of the classes."""
    members = {"batches.meta.txt": b"airplane\n", **contents, "readme.html": b"<html>"}
    path = directory / "cifar-10-binary.tar"
    path.write_bytes(pack({f"cifar-10-batches-bin/{name}": content for name, content in members.items()}, mode))
    return path


@pytest.mark.parametrize(("mode", "order"), [("w", list), ("w:gz", list), ("w", reversed)])
def test_cifar10_is_read_plane_by_plane_in_any_order_of_its_files(tmp_path: Path, few_records, mode: str, order):
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


@pytest.mark.parametrize("name", BATCHES)
def test_cifar10_without_one_of_its_files(tmp_path: Path, few_records, name: str):
    path = write_archive(tmp_path, {other: content for other, content in batches().items() if other != name})
    with refused(f"{path}: expected the files data_batch_1.bin, .*, found .*; {name} missing"):
        cifar10.prepare(tmp_path, {})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content[:-1], r"expected 12,292 bytes \(4 records of 3,073\), found 12,291"),
        (lambda content: content[:3073], "found 3,073"),
        (lambda content: content + b"\0", "found 12,293"),
        (lambda content: b"", "found 0"),
        (lambda content: b"\x0a" + content[1:], "expected labels 0 to 9, found 10"),
        (lambda content: content[: 3 * 3073] + b"\xff" + content[3 * 3073 + 1 :], "expected labels 0 to 9, found 255"),
    ],
)
@pytest.mark.parametrize("name", ["data_batch_3.bin", "test_batch.bin"])
def test_a_wrong_file_of_cifar10_is_named(tmp_path: Path, few_records, name: str, change, message: str):
    contents = batches()
    path = write_archive(tmp_path, contents | {name: change(contents[name])})
    with refused(f"{path}: {name}: .*{message}"):
        cifar10.prepare(tmp_path, {})


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_a_broken_off_archive_of_cifar10_is_named(tmp_path: Path, few_records, mode: str):
    path = write_archive(tmp_path, batches(), mode)
    whole = path.read_bytes()
    for length in range(0, len(whole) * 9 // 10, len(whole) // 40):
        path.write_bytes(whole[:length])
        with refused(str(path)):
            cifar10.prepare(tmp_path, {})


def test_an_archive_of_cifar10_that_is_none_or_not_there(tmp_path: Path):
    path = tmp_path / "cifar-10-binary.tar"
    with refused(f"{path}: there is no such file; fetch it first"):
        cifar10.prepare(tmp_path, {})
    path.write_bytes(b"<html>404</html>" * 100)
    with refused(f"{path}: the archive is broken off or damaged"):
        cifar10.prepare(tmp_path, {})
    path.write_bytes(pack({}))
    with refused(f"{path}: expected the files .*, found none of them"):
        cifar10.prepare(tmp_path, {})


def test_the_registry_and_the_module_agree_on_cifar10():
    ((name, file),) = load_datasets()["cifar10"].files.items()
    assert (name, file.count) == (cifar10.ARCHIVE, len(BATCHES))
    assert file.size == len(BATCHES) * cifar10.RECORDS * cifar10.RECORD


@pytest.mark.slow
@pytest.mark.mirror
def test_cifar10_from_a_mirror(from_mirror):
    arrays = cifar10.prepare(from_mirror("cifar10"), {})
    check_types(arrays)
    assert arrays["train_images"].shape == (50_000, 32, 32, 3) and arrays["test_images"].shape == (10_000, 32, 32, 3)
    assert np.bincount(arrays["train_labels"]).tolist() == [5000] * 10
    assert np.bincount(arrays["test_labels"]).tolist() == [1000] * 10
    assert arrays["train_labels"][:5].tolist() == [6, 9, 9, 4, 1]  # a frog, two trucks, a deer, an automobile
    assert arrays["test_labels"][:5].tolist() == [3, 8, 8, 0, 6]  # a cat, two ships, an airplane, a frog
    # The known means and standard deviations of the training pixels' red, green and blue.
    known = [(0.4914, 0.2470), (0.4822, 0.2435), (0.4465, 0.2616)]
    for color, expected in enumerate(known):
        share = np.bincount(arrays["train_images"][..., color].ravel(), minlength=256) / (50_000 * 1024)
        mean = share @ np.arange(256)
        spread = np.sqrt(share @ (np.arange(256) - mean) ** 2)
        assert (mean / 255, spread / 255) == pytest.approx(expected, abs=1e-4)


# ----------------------------------------------------------------------------------------------------------------- SVHN

COUNTS = {"train": 12, "test": 5}


@pytest.fixture
def few_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svhn, "FILES", {split: (f"{split}_32x32.mat", count) for split, count in COUNTS.items()})


def variables(count: int) -> dict[str, np.ndarray]:
    rng = generator(count)
    return {
        "X": rng.integers(0, 256, (32, 32, 3, count), np.uint8),
        "y": np.arange(count, dtype=np.uint8)[:, None] % 10 + 1,
    }


def write_mat(directory: Path, split: str, **changes) -> Path:
    path = directory / f"{split}_32x32.mat"
    kept = {name: value for name, value in (variables(COUNTS[split]) | changes).items() if value is not None}
    savemat(path, kept, do_compression=True)
    return path


@pytest.mark.parametrize("dtype", [np.uint8, np.float64, np.int32])
def test_svhn_has_images_first_and_ten_is_the_digit_0(tmp_path: Path, few_digits, dtype):
    for split, count in COUNTS.items():
        write_mat(tmp_path, split, y=variables(count)["y"].astype(dtype))
    arrays = svhn.prepare(tmp_path, {})
    check_types(arrays)
    for split, count in COUNTS.items():
        written = variables(count)
        assert arrays[f"{split}_images"].shape == (count, 32, 32, 3)
        for number in range(count):
            assert np.array_equal(arrays[f"{split}_images"][number], written["X"][:, :, :, number])
    assert arrays["train_labels"].tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2]


def with_label(label: float) -> np.ndarray:
    labels = variables(12)["y"].astype(float)
    labels[7] = label
    return labels


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": None}, "expected a variable X, found y"),
        ({"y": None}, "expected a variable y, found X"),
        ({"X": None, "y": None, "digitStruct": 1}, "expected a variable X, found none"),
        ({"X": variables(11)["X"]}, r"X of uint8 .* \(32, 32, 3, 12\), found uint8 and \(32, 32, 3, 11\)"),
        ({"X": variables(12)["X"].transpose(3, 0, 1, 2)}, r"found uint8 and \(12, 32, 32, 3\)"),
        ({"X": variables(12)["X"] / 255}, "expected X of uint8 .*, found float64"),
        ({"X": "images"}, "expected X of uint8 .*, found <U6"),
        ({"y": variables(11)["y"]}, r"expected y of numbers and shape \(12, 1\), found uint8 and \(11, 1\)"),
        ({"y": variables(12)["y"][:, 0]}, r"expected y of numbers and shape \(12, 1\), found uint8 and \(1, 12\)"),
        ({"y": np.array([[digit] for digit in range(1, 13)], object)}, "expected y of numbers .*, found object"),
        ({"y": with_label(0)}, "expected labels 1 to 10 in y, found 0"),
        ({"y": with_label(11)}, "expected labels 1 to 10 in y, found 11"),
        ({"y": with_label(1.5)}, "expected labels 1 to 10 in y, found 1.5"),
        ({"y": with_label(np.nan)}, "expected labels 1 to 10 in y, found nan"),
    ],
)
def test_a_wrong_file_of_svhn_is_named(tmp_path: Path, few_digits, changes: dict, message: str):
    write_mat(tmp_path, "test")
    path = write_mat(tmp_path, "train", **changes)
    with refused(f"{path}: .*{message}"):
        svhn.prepare(tmp_path, {})


def test_the_test_file_of_svhn_is_checked_too(tmp_path: Path, few_digits):
    write_mat(tmp_path, "train")
    with refused("test_32x32.mat: there is no such file; fetch it first"):
        svhn.prepare(tmp_path, {})
    path = write_mat(tmp_path, "test", **variables(12))
    with refused(rf"{path}: .*shape \(32, 32, 3, 5\), found uint8 and \(32, 32, 3, 12\)"):
        svhn.prepare(tmp_path, {})


def saved(contents: dict[str, np.ndarray], **options) -> bytes:
    content = io.BytesIO()
    savemat(content, contents, **options)
    return content.getvalue()


HDF5 = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(384) + b"\x89HDF\r\n\x1a\n"
VERSION_4 = saved({"y": variables(12)["y"]}, format="4")


@pytest.mark.parametrize("content", [b"", b"<html>404</html>" * 20, HDF5, VERSION_4, bytes(200), b"\xff" * 200])
def test_what_is_no_matlab_file_of_version_5_is_named(tmp_path: Path, few_digits, content: bytes):
    path = tmp_path / "train_32x32.mat"
    path.write_bytes(content)
    with refused(f"{path}: expected a MATLAB file of version 5, found"):
        svhn.prepare(tmp_path, {})


@pytest.mark.parametrize("packed", [True, False])
def test_a_broken_off_matlab_file_is_named(tmp_path: Path, few_digits, packed: bool):
    path = tmp_path / "train_32x32.mat"
    whole = saved(variables(12), do_compression=packed)
    for length in [*range(0, 400, 20), *range(400, len(whole), len(whole) // 20)]:
        path.write_bytes(whole[:length])
        with refused(f"{path}: expected"):
            svhn.prepare(tmp_path, {})


def test_the_registry_and_the_module_agree_on_svhn():
    files = load_datasets()["svhn"].files
    assert list(files) == [name for name, _ in svhn.FILES.values()]


# ------------------------------------------------------------------------------------------------------- smaller images


def test_a_pixel_becomes_the_mean_of_four_rounded_to_a_whole_level_halves_up():
    fours = [(0, 0, 0, 1), (0, 0, 1, 1), (0, 1, 1, 1), (1, 1, 1, 1), (254, 255, 255, 255), (0, 255, 0, 255)]
    whole = np.array(fours, np.uint8).reshape(-1, 2, 2)
    assert images.averaged(whole, 1).ravel().tolist() == [0, 1, 1, 1, 255, 128]  # 0.25, 0.5, 0.75, 1, 254.75, 127.5


@given(st.data())
def test_averaged_images_are_within_half_a_level_of_the_mean_of_each_square(data):
    side, square = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    channels = data.draw(st.sampled_from([(), (1,), (3,)]))
    whole = data.draw(arrays_of.arrays(np.uint8, (2, side * square, side * square, *channels)))
    small = images.averaged(whole, side)
    assert (small.shape, small.dtype) == ((2, side, side, *channels), np.uint8)
    for row, column in np.ndindex(side, side):
        there = whole[:, row * square : (row + 1) * square, column * square : (column + 1) * square]
        error = small[:, row, column] - there.mean((1, 2), np.float64)
        assert (error > -0.5).all() and (error <= 0.5).all()


@pytest.mark.parametrize(("module", "whole"), [(mnist, 28), (cifar10, 32), (svhn, 32)])
def test_a_side_that_does_not_fit_is_refused_by_name(tmp_path: Path, module, whole: int):
    for settings, word in [({"side": 9}, f"divide {whole}"), ({"side": 0}, ">= 1"), ({"sid": 2}, "known: side")]:
        with refused(word, key=next(iter(settings))):
            module.prepare(tmp_path, settings)
        with refused(word, key=next(iter(settings))):
            module.stand_in(settings)


@pytest.mark.parametrize(("module", "shape"), [(mnist, (196,)), (cifar10, (16, 16, 3)), (svhn, (16, 16, 3))])
def test_a_forecast_measures_on_images_of_the_smaller_side(module, shape: tuple[int, ...]):
    arrays = module.stand_in({"side": 14 if module is mnist else 16})
    assert arrays["train_images"].shape[1:] == arrays["test_images"].shape[1:] == shape


def test_cifar10_is_averaged_color_by_color(tmp_path: Path, few_records):
    write_archive(tmp_path, batches())
    whole, small = cifar10.prepare(tmp_path, {})["test_images"], cifar10.prepare(tmp_path, {"side": 16})["test_images"]
    fours = whole[:, 0:2, 2:4].astype(int).sum((1, 2))
    assert np.array_equal(small[:, 0, 1], (fours + 2) // 4) and small.shape == (RECORDS, 16, 16, 3)


def test_svhn_is_averaged_color_by_color(tmp_path: Path, few_digits):
    for split in COUNTS:
        write_mat(tmp_path, split)
    whole, small = svhn.prepare(tmp_path, {})["test_images"], svhn.prepare(tmp_path, {"side": 16})["test_images"]
    fours = whole[:, 30:32, 0:2].astype(int).sum((1, 2))
    assert np.array_equal(small[:, 15, 0], (fours + 2) // 4) and small.shape == (COUNTS["test"], 16, 16, 3)


# --------------------------------------------------------------------------------------------------------------- digits


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
