"""Irregularly observed series: arrays of a long table, their parts, and the splits of series."""

from pathlib import Path

import numpy as np
import pytest
from conftest import refused
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from hidden_dynamics.data import folds, intensive_care_stays, ornstein_uhlenbeck, ragged, tagged_movements, ushcn
from hidden_dynamics.data.generated import LIKE
from hidden_dynamics.data.streams import generator

# Series, ticks, feature, value in tenths.
LINES = st.tuples(st.integers(0, 5), st.integers(0, 9), st.integers(0, 2), st.integers(-99, 99))


@given(st.lists(LINES, min_size=1, max_size=40))
def test_a_table_becomes_a_row_for_each_time_of_a_series(lines: list):
    series, ticks, feature, tenths = np.array(lines).T
    arrays = ragged.ragged(series, ticks, feature, tenths / 10, 3, 0.5)
    assert {name: array.dtype.str for name, array in arrays.items()} == {
        **{"times": "<f4", "values": "<f4", "mask": "|b1"},
        **{"lengths": "<i8", "ids": "<i8"},
    }
    rows = sorted({(one, tick) for one, tick, _, _ in lines})
    assert np.repeat(arrays["ids"], arrays["lengths"]).tolist() == [one for one, _ in rows]
    assert arrays["times"].tolist() == [tick / 2 for _, tick in rows]
    for row, mask, values in zip(rows, arrays["mask"], arrays["values"], strict=True):
        for place in range(3):
            found = [tenth / 10 for *at, feature, tenth in lines if (*at, feature) == (*row, place)]
            assert mask[place] == bool(found)
            assert values[place] == pytest.approx(np.mean(found) if found else 0, rel=1e-6, abs=1e-7)


def test_some_of_the_series():
    series, ticks = np.repeat([3, 5, 8], [2, 1, 3]), np.array([0, 1, 0, 0, 1, 2])
    arrays = ragged.ragged(series, ticks, np.zeros(6, int), np.arange(6.0), 1, 1.0)
    some = ragged.selected(arrays, np.array([0, 2]))
    assert some["ids"].tolist() == [3, 8] and some["lengths"].tolist() == [2, 3]
    assert some["values"].ravel().tolist() == [0, 1, 3, 4, 5] and some["times"].tolist() == [0, 1, 0, 1, 2]
    assert some["mask"].shape == (5, 1)


def test_the_rows_after_a_time():
    arrays = {"times": np.float32([0.1, 0.2, 0.3, 0.4, 0.2, 0.3, 0.5, 0.9]), "lengths": np.array([4, 4])}
    arrays["ids"] = np.array([7, 9])
    assert ragged.after(arrays, 0.2, 2).tolist() == [[2, 3], [5, 6]]
    assert ragged.after(arrays, 0.0, 3).tolist() == [[0, 1, 2], [4, 5, 6]]
    with refused("found 2", key="ID 7"):
        ragged.after(arrays, 0.2, 3)


@pytest.mark.parametrize(
    ("real", "generated", "series", "rows", "observed"),
    [
        ("physionet2012", intensive_care_stays, 4000, 299_264, 0.143),
        ("human_activity", tagged_movements, 25, 164_830, 0.25),
        ("ushcn", ornstein_uhlenbeck, 1114, 350_665, 0.22),
    ],
)
def test_a_stand_in_has_names_types_and_amount_of_the_real_arrays(real, generated, series, rows, observed):
    arrays, like = LIKE[real].drawn(generator(0)), generated.prepare(Path("nowhere"), {})
    assert {name: array.dtype for name, array in arrays.items()} == {
        name: array.dtype for name, array in like.items() if not name.startswith("optimal")
    }
    assert len(arrays["ids"]) == series and len(arrays["times"]) == arrays["lengths"].sum()
    assert len(arrays["times"]) == pytest.approx(rows, rel=0.01)
    assert arrays["mask"].mean() == pytest.approx(observed, rel=0.1)


@pytest.mark.parametrize("count", [3, 11, 250, 1107, 1114])
def test_the_splits_are_those_of_their_script(count: int):
    np.random.seed(432)
    for fold in folds.folds(count):
        others, test = train_test_split(np.arange(count), test_size=0.1)
        train, validation = train_test_split(others, test_size=0.2)
        for ours, theirs in zip(fold, (train, validation, test), strict=True):
            assert np.array_equal(ours, theirs)


HEADER = ",".join(["ID", "Time", *(f"{kind}_{index}" for kind in ("Value", "Mask") for index in range(5))])
# As their script writes them: ids as 0.0, times with the errors of a subtraction, rows of a series in any order.
OF_THE_AUTHORS = [
    "7.0,0.30000000000018190,0.0,4.0,0.0,0.0,-2.25,0.0,1.0,0.0,0.0,1.0",
    "7.0,0.1999999999998181,1.5,0.0,0.0,0.0,0.0,1.0,0.0,0.0,0.0,0.0",
    "3.0,150.1,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,0.0",
]


def test_the_authors_file_is_sorted_as_their_loader_sorts_it(tmp_path: Path):
    path = tmp_path / ushcn.FILE
    path.write_text("\n".join([HEADER, *OF_THE_AUTHORS, ""]))
    arrays = ushcn.prepare(tmp_path, {})
    assert arrays["ids"].tolist() == [3, 7] and arrays["lengths"].tolist() == [1, 2]
    np.testing.assert_array_equal(arrays["times"], np.float32([150.1, 0.2, 0.3]))
    assert arrays["values"].tolist() == [[0] * 5, [1.5, 0, 0, 0, 0], [0, 4, 0, 0, -2.25]]
    assert np.argwhere(arrays["mask"]).tolist() == [[0, 3], [1, 0], [2, 1], [2, 4]]  # a 0 may be observed
