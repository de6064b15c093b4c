"""Sporadically observed series: the CSV table, everything that can be wrong with it, and the splits of series."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from conftest import refused
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from hidden_dynamics.data import folds, sporadic
from hidden_dynamics.data.streams import generator

HEADER = "ID,Time,Value_0,Value_1,Mask_0,Mask_1"
GOOD = [
    "0,0.0,1.5,0.0,1,0",
    "0,0.1999999999998181,-2.25,3.0,1.0,1.0",
    "0,0.30000000000018190,0.0,4.0,0,1",
    "3.0,0.1,0.0,5.5,0,1",
    "7,12.0,-0.125,0.0,1,0",
]


def table(directory: Path, lines: list[str], header: str = HEADER) -> Path:
    path = directory / "table.csv"
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def drawn(seed: int, series: int = 6, features: int = 3) -> dict[str, np.ndarray]:
    """Series of random lengths, with gaps in their ids."""
    random = generator(seed)
    lengths = random.integers(1, 9, series)
    times = np.concatenate([np.sort(random.choice(300, length, replace=False)) for length in lengths]) / 10
    mask = random.random((lengths.sum(), features)) < 0.4
    mask[np.arange(len(mask)), random.integers(0, features, len(mask))] = True
    values = np.where(mask, 10.0 ** random.uniform(-30, 30, mask.shape) * random.choice([-1, 1], mask.shape), 0)
    ids = np.sort(random.choice(50, series, replace=False))
    return {
        "times": times.astype(np.float32),
        "values": values.astype(np.float32),
        "mask": mask,
        "lengths": lengths,
        "ids": ids,
    }


def assert_same(arrays: dict[str, np.ndarray], others: dict[str, np.ndarray]) -> None:
    assert set(arrays) == set(others) == set(sporadic.NAMES)
    for name in sporadic.NAMES:
        assert arrays[name].dtype == others[name].dtype and np.array_equal(arrays[name], others[name]), name


# ---------------------------------------------------------------------------------------------------------- the table


def test_a_table_is_read(tmp_path: Path):
    arrays = sporadic.read(table(tmp_path, GOOD), 2)
    assert {name: array.dtype for name, array in arrays.items()} == {
        "times": np.float32,
        "values": np.float32,
        "mask": bool,
        "lengths": np.int64,
        "ids": np.int64,
    }
    assert arrays["times"].tolist() == np.float32([0, 0.2, 0.3, 0.1, 12]).tolist()
    assert arrays["values"].tolist() == [[1.5, 0], [-2.25, 3], [0, 4], [0, 5.5], [-0.125, 0]]
    assert arrays["mask"].tolist() == [[True, False], [True, True], [False, True], [False, True], [True, False]]
    assert arrays["lengths"].tolist() == [3, 1, 1] and arrays["ids"].tolist() == [0, 3, 7]


@given(st.integers(0, 2**40))
def test_what_is_written_is_read_again_bit_for_bit_in_any_order(seed: int):
    arrays = drawn(seed)
    text = sporadic.write(arrays)
    assert_same(sporadic.parse(text, "text", 3), arrays)
    header, *lines = text.splitlines()
    blocks = np.split(np.array(lines), np.cumsum(arrays["lengths"])[:-1])
    random = generator(seed, "order")
    shuffled = [line for place in random.permutation(len(blocks)) for line in random.permutation(blocks[place])]
    assert_same(sporadic.parse("\n".join([header, *shuffled]), "text", 3, sort=True), arrays)


def replaced(line: int, column: int, entry: str) -> list[str]:
    """The good lines with another entry in one of them; the first line of a file is its header."""
    entries = GOOD[line - 2].split(",")
    entries[column] = entry
    return [*GOOD[: line - 2], ",".join(entries), *GOOD[line - 1 :]]


WRONG = {
    "no number": (replaced(3, 2, "two"), "line 3, column Value_0", "'two'"),
    "an empty entry": (replaced(4, 1, ""), "line 4, column Time", "number"),
    "an entry with an underscore": (replaced(4, 3, "1_0"), "line 4, column Value_1", "number"),
    "a short line": ([*GOOD[:2], "0,0.3,0.0,4.0,0", *GOOD[3:]], "line 4, column Mask_1", "found 5"),
    "a long line": ([*GOOD[:2], f"{GOOD[2]},1", *GOOD[3:]], "line 4", "found 7"),
    "a blank line": ([*GOOD[:2], "", *GOOD[2:]], "line 4, column Time", "found 1"),
    "a time that is none": (replaced(5, 1, "nan"), "line 5, column Time", "finite"),
    "a value that is infinite": (replaced(3, 3, "-inf"), "line 3, column Value_1", "finite"),
    "a value beyond single precision": (replaced(3, 3, "1e39"), "line 3, column Value_1", "finite"),
    "a broken id": (replaced(5, 0, "3.5"), "line 5, column ID", "whole"),
    "a mask of 2": (replaced(3, 5, "2"), "line 3, column Mask_1", "0 or 1"),
    "a mask of a half": (replaced(2, 4, "0.5"), "line 2, column Mask_0", "0 or 1"),
    "a value that its mask denies": (replaced(4, 2, "1e-9"), "line 4, column Value_0", "mask"),
    "nothing observed": (["0,0,0,0,0,0", *GOOD[1:]], "line 2, column Mask_0", "masks"),
    "a time that goes back": (replaced(4, 1, "0.1"), "line 4, column Time", "ascending"),
    "a time that is repeated": (replaced(4, 1, "0.24"), "line 4, column Time", "ascending"),
    "a series that comes back": ([*GOOD, "0,20,1,0,1,0"], "line 7, column ID", "line 4"),
    "a series out of order": ([*GOOD[3:], *GOOD[:3]], "line 4, column ID", "order"),
}


@pytest.mark.parametrize("about", WRONG)
def test_a_wrong_line_is_named(tmp_path: Path, about: str):
    lines, place, word = WRONG[about]
    path = table(tmp_path, lines)
    with refused(word, path, place):
        sporadic.read(path, 2)


@pytest.mark.parametrize("about", ["a time that is repeated", "a series that comes back"])
def test_what_sorting_does_not_mend(tmp_path: Path, about: str):
    lines, place, word = WRONG[about]
    path = table(tmp_path, lines)
    with refused(word, path, place):
        sporadic.read(path, 2, sort=True)


@pytest.mark.parametrize(
    ("header", "column", "word"),
    [
        ("ID,Time,Value_0,Mask_0,Mask_1", "Value_1", "missing: Value_1"),
        ("ID,Time,Value_0,Value_1,Mask_0,Mask_1,Cov", "Cov", "not expected: Cov"),
        ("ID,Time,Value_1,Value_2,Mask_1,Mask_2", "Value_0", "missing: Value_0, Mask_0; not expected: Value_2"),
        ("ID,Time,Value_0,Value_1,Mask_0,Mask_1,Time", "Time", "twice: Time"),
        ("ID,Time,Value_1,Value_0,Mask_0,Mask_1", "ID", "order"),
        ("0,0.0,1.5,0.0,1,0", "ID", "missing: ID, Time"),
    ],
)
def test_wrong_columns_are_named(tmp_path: Path, header: str, column: str, word: str):
    path = table(tmp_path, GOOD, header)
    with refused(word, path, f"line 1, column {column}"):
        sporadic.read(path, 2)


def test_files_without_a_table(tmp_path: Path):
    path = tmp_path / "table.csv"
    with refused("fetch", path):
        sporadic.read(path, 2)
    for content, word in ((b"", "empty"), (f"{HEADER}\n".encode(), "no rows")):
        path.write_bytes(content)
        with refused(word, path):
            sporadic.read(path, 2)
    path.write_bytes(f"{HEADER}\n{GOOD[0]}\n".encode() + b"0,\xff")
    with refused("byte ff", path, "line 3"):
        sporadic.read(path, 2)


def test_some_of_the_series():
    arrays = drawn(5)
    some = sporadic.selected(arrays, np.array([1, 4]))
    assert some["ids"].tolist() == arrays["ids"][[1, 4]].tolist()
    rows = np.concatenate([np.arange(8 * 6)[: arrays["lengths"].sum()]])
    of = np.repeat(np.arange(6), arrays["lengths"])
    for name in ("times", "values", "mask"):
        assert np.array_equal(some[name], arrays[name][rows[(of == 1) | (of == 4)]])


def test_the_rows_after_a_time():
    arrays = drawn(1) | {"times": np.float32([0.1, 0.2, 0.3, 0.4, 0.2, 0.3, 0.5, 0.9]), "lengths": np.array([4, 4])}
    assert sporadic.after(arrays, 0.2, 2).tolist() == [[2, 3], [5, 6]]
    assert sporadic.after(arrays, 0.0, 3).tolist() == [[0, 1, 2], [4, 5, 6]]
    with refused("found 2", key=f"ID {arrays['ids'][0]}"):
        sporadic.after(arrays, 0.2, 3)


def test_a_stand_in_may_be_written_and_read():
    arrays = sporadic.stand_in(20, 900, 5, 200.0)
    assert len(arrays["times"]) == 900 and arrays["times"].max() <= 200
    assert_same(sporadic.parse(sporadic.write(arrays), "text", 5), arrays)
    assert sporadic.after(arrays, 150, 3).shape == (20, 3)


# ----------------------------------------------------------------------------------------------------------- the splits


@pytest.mark.parametrize("count", [3, 11, 250, 1107, 1114])
def test_the_splits_are_those_of_their_script(count: int):
    np.random.seed(432)
    for fold in folds.folds(count):
        others, test = train_test_split(np.arange(count), test_size=0.1)
        train, validation = train_test_split(others, test_size=0.2)
        for ours, theirs in zip(fold, (train, validation, test), strict=True):
            assert np.array_equal(ours, theirs)


def test_the_splits_of_ushcn_are_stable():
    drawn = folds.folds(1114)
    assert [len(part) for part in drawn[0]] == [801, 201, 112]
    total = hashlib.sha256()
    for fold in drawn:
        assert np.array_equal(np.sort(np.concatenate(fold)), np.arange(1114))
        total.update(np.concatenate(fold).astype("<i8").tobytes())
    assert total.hexdigest() == "3bc4dbff7ded4e99e9ac2d268775e2c8ba40907845ccf3f4774e66df8774d222"


def test_the_test_sets_overlap():
    assert folds.overlap(folds.folds(1114), 1114) == (444, 1114, 6, 17)
    apart = [folds.Fold(np.array([3]), np.array([2]), np.array([place])) for place in (0, 1)]
    assert folds.overlap(apart, 4) == folds.Overlap(tested=2, of=4, least=0, most=0)


def test_positions_become_series_in_two_ways():
    ids = np.array([0, 2, 3, 7])  # positions 0 to 3
    fold = folds.Fold(train=np.array([3, 1]), validation=np.array([2]), test=np.array([0]))
    assert [part.tolist() for part in folds.published(fold, ids)] == [[1, 3], [2], [0]]
    # The ids 3 and 1, of which there is no 1; 2; 0. Nobody uses the series 7.
    assert [part.tolist() for part in folds.released(fold, ids)] == [[2], [1], [0]]
    without_gaps = np.arange(4)
    for way in (folds.published, folds.released):
        assert [part.tolist() for part in way(fold, without_gaps)] == [[1, 3], [2], [0]]


def test_an_empty_fold_is_refused():
    for count in (0, 1, 2):
        with refused("no series", key="fold 0"):
            folds.folds(count)
    fold = folds.Fold(train=np.array([3, 1]), validation=np.array([2]), test=np.array([0]))
    with refused("test", key="fold 4"):
        folds.released(fold, np.array([1, 2, 3, 9]), place=4)
