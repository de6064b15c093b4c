"""PhysioNet 2012: records of stays in intensive care, read from small files in the original format."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import refused
from hypothesis import given
from hypothesis import strategies as st
from raw import pack
from sklearn.model_selection import train_test_split

from hidden_dynamics.data import physionet2012
from hidden_dynamics.data.physionet2012 import PARAMETERS, QUANTUM, parse
from hidden_dynamics.tasks.partly_observed import split

HEADER = "Time,Parameter,Value"
TIMES = [f"{minute // 60:02}:{minute % 60:02}" for minute in range(48 * 60 + 1)]


def record(number: int, *lines: str) -> bytes:
    """The content of a record with these measurements."""
    return "\n".join([HEADER, f"00:00,RecordID,{number}", *lines, ""]).encode()


def outcomes(died: dict[int, int]) -> bytes:
    lines = [f"{number},6,1,5,-1,{dead}" for number, dead in died.items()]
    return "\n".join(["RecordID,SAPS-I,SOFA,Length_of_stay,Survival,In-hospital_death", *lines, ""]).encode()


def plainly(content: bytes, quantum: float) -> tuple[list[float], list[dict[str, list[float]]]]:
    """Times of a record's rows and what was measured at each, as Latent-ODE's loader has it: line by line."""
    times, measured, before = [0.0], [{}], 0.0
    for line in content.decode().splitlines()[1:]:
        time, parameter, value = line.split(",")
        hours = round((int(time[:2]) + int(time[3:]) / 60) / quantum) * quantum
        if hours != before:
            times.append(hours)
            measured.append({})
            before = hours
        if parameter != "RecordID":
            measured[-1].setdefault(parameter, []).append(float(value))
    return times, measured


measurements = st.lists(
    st.tuples(st.integers(0, 2880), st.sampled_from(PARAMETERS), st.integers(-(10**6), 10**6)), min_size=1, max_size=30
)


@given(st.lists(measurements, min_size=1, max_size=4), st.sampled_from([QUANTUM, 0.1, 1.0]))
def test_records_are_read_as_latent_ode_reads_them(stays: list, quantum: float):
    records = []
    for number, stay in enumerate(stays, 1):
        lines = [f"{TIMES[minute]},{name},{value / 1000}" for minute, name, value in sorted(stay)]
        records.append(record(number, *lines))
    arrays = parse(records, outcomes(dict.fromkeys(range(1, 5), 0)), quantum)
    after = np.cumsum(arrays["lengths"])
    for content, last, length in zip(records, after, arrays["lengths"], strict=True):
        times, measured = plainly(content, quantum)
        rows = slice(last - length, last)
        np.testing.assert_array_equal(arrays["times"][rows], np.float32(times))
        for row, mask, values in zip(measured, arrays["mask"][rows], arrays["values"][rows], strict=True):
            assert {PARAMETERS[place] for place in np.flatnonzero(mask)} == set(row)
            for parameter, found in row.items():
                assert values[PARAMETERS.index(parameter)] == pytest.approx(np.mean(found), rel=1e-6, abs=1e-6)


def test_the_quantum_is_finer_than_the_minute_of_the_records():
    arrays = parse([record(1, *(f"{time},HR,60" for time in TIMES))], outcomes({1: 0}))
    assert len(arrays["times"]) == len(TIMES) and (np.diff(arrays["times"]) > 0).all()
    np.testing.assert_allclose(arrays["times"], np.arange(2881) / 60, atol=QUANTUM / 2 + 1e-6)


def test_records_without_a_newline_at_their_end_whose_first_rows_have_no_measurement():
    records = [record(number, "00:30,HR,60") for number in (5, 6)]
    for texts in (records, [text[:-1] for text in records]):
        arrays = parse(texts, outcomes({5: 0, 6: 0}))
        assert arrays["lengths"].tolist() == [2, 2] and arrays["mask"].any(axis=1).tolist() == [False, True] * 2


NUMBERS = {"a": range(100, 106), "b": range(200, 206)}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A directory with both sets, of six records each."""
    for name, numbers in NUMBERS.items():
        heart = {number: [f"0{hour}:00,HR,{number}" for hour in range(1, 2 + number % 3)] for number in numbers}
        records = {f"{number}.txt": record(number, "00:00,Age,54", *heart[number]) for number in numbers}
        # As the official archive has them, in a folder; another tool's notes beside them.
        members = {"._100.txt": b"notes"} | records
        (tmp_path / f"set-{name}.tar").write_bytes(
            pack({f"set-{name}/{file}": content for file, content in members.items()}, "w:gz")
        )
        (tmp_path / f"Outcomes-{name}.txt").write_bytes(outcomes({number: number % 2 for number in numbers}))
    return tmp_path


def test_sets_are_read_one_after_another(small: Path):
    one, both = physionet2012.prepare(small, {}), physionet2012.prepare(small, {"sets": ["a", "b"]})
    assert one["ids"].tolist() == list(NUMBERS["a"]) and both["ids"].tolist() == [*NUMBERS["a"], *NUMBERS["b"]]
    assert both["died"].tolist() == [False, True] * 6 and len(both["times"]) == both["lengths"].sum() == 36
    assert physionet2012.prepare(small, {"sets": ["b"]})["ids"].tolist() == list(NUMBERS["b"])
    coarse = physionet2012.prepare(small, {"quantisation": 0.7})
    assert coarse["times"].max() == np.float32(2.8)


def released(path: Path, ids: Iterable[object]) -> None:
    """A file as the authors' code makes it, of records with these ids."""
    torch.save([(each, torch.zeros(2), torch.zeros(2, 41), torch.zeros(2, 41), None) for each in ids], path)


def by_id(arrays: dict[str, np.ndarray]) -> dict[int, list]:
    """What the arrays have of each stay."""
    ends = np.cumsum(arrays["lengths"])[:-1]
    rows = ([part.tolist() for part in np.split(arrays[name], ends)] for name in ("times", "values", "mask"))
    return dict(zip(arrays["ids"].tolist(), zip(*rows, arrays["died"].tolist(), strict=True), strict=True))


def test_stays_are_split_in_the_order_of_the_authors_file(small: Path):
    order = []
    for name, numbers in NUMBERS.items():
        order += (ids := np.random.default_rng(0).permutation(numbers).tolist())
        released(small / f"set-{name}_0.016.pt", map(str, ids))
    as_released = physionet2012.prepare(small, {"sets": ["a", "b"], "order": "released"})
    assert by_id(as_released) == by_id(physionet2012.prepare(small, {"sets": ["a", "b"]}))
    tested = as_released["ids"][split(len(order), 0.1)["test"]].tolist()
    assert tested == train_test_split(order, random_state=42, test_size=0.2)[1]


@pytest.mark.parametrize("ids", [[Path("100")], [101, 100], ["one"], None])
def test_another_file_than_the_authors_is_refused_and_nothing_in_it_is_run(small: Path, ids: list | None):
    path = small / "set-a_0.016.pt"
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1") if ids is None else released(path, ids)
    with refused(file=path):
        physionet2012.prepare(small, {"order": "released"})
