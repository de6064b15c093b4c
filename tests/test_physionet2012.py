"""PhysioNet 2012: records of stays in intensive care, read from small files in the original format."""

import io
import tarfile
from pathlib import Path

import numpy as np
import pytest
from conftest import refused
from hypothesis import given
from hypothesis import strategies as st
from raw import pack

from hidden_dynamics.configuration import load_datasets
from hidden_dynamics.data import physionet2012
from hidden_dynamics.data.stay_records import PARAMETERS, QUANTUM, TIMES, parse, write, write_outcomes

HEADER = "Time,Parameter,Value"
ARRAYS = {"times", "values", "mask", "lengths", "ids", "died"}


def record(number: int, *lines: str) -> tuple[str, bytes]:
    """Base name and content of a record with these measurements."""
    return f"{number}.txt", "\n".join([HEADER, f"00:00,RecordID,{number}", *lines, ""]).encode()


def outcomes(died: dict[int, int]) -> bytes:
    lines = [f"{number},6,1,5,-1,{dead}" for number, dead in died.items()]
    return "\n".join(["RecordID,SAPS-I,SOFA,Length_of_stay,Survival,In-hospital_death", *lines, ""]).encode()


def read(*records: tuple[str, bytes], quantum: float = QUANTUM) -> dict[str, np.ndarray]:
    """The arrays of records; nobody died."""
    died = outcomes({int(name.removesuffix(".txt")): 0 for name, _ in records})
    return parse(records, "set.tar", died, "outcomes.txt", quantum)


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


# ---------------------------------------------------------------------------------------------------------- the records


def test_a_record_as_it_stands_in_the_challenge():
    arrays = parse(
        [
            record(7, "00:00,Age,54", "00:00,Height,-1", "00:07,HR,73", "00:07,HR,75", "48:00,pH,7.3"),
            record(3, "00:00,Age,80", "26:30,AST,1.8e+04"),
        ],
        "set.tar",
        outcomes({7: 1, 3: 0}),
        "outcomes.txt",
    )
    assert set(arrays) == ARRAYS
    assert arrays["ids"].tolist() == [3, 7] and arrays["died"].tolist() == [False, True]
    assert arrays["lengths"].tolist() == [2, 3]
    np.testing.assert_array_equal(arrays["times"], np.float32([0, 26.496, 0, 0.112, 48]))
    found = [(row, PARAMETERS[column], arrays["values"][row, column]) for row, column in np.argwhere(arrays["mask"])]
    expected = [(0, "Age", 80), (1, "AST", 18000), (2, "Age", 54), (2, "Height", -1), (3, "HR", 74), (4, "pH", 7.3)]
    assert found == [(row, name, np.float32(value)) for row, name, value in expected]
    assert (arrays["values"][~arrays["mask"]] == 0).all()
    assert [arrays[name].dtype for name in ("times", "values", "mask", "lengths", "ids", "died")] == [
        *(np.float32, np.float32, bool, np.int64, np.int64, bool)
    ]


measurements = st.lists(
    st.tuples(st.integers(0, 2880), st.sampled_from(PARAMETERS), st.integers(-(10**6), 10**6)), min_size=1, max_size=30
)


@given(st.lists(measurements, min_size=1, max_size=4), st.sampled_from([QUANTUM, 0.1, 1.0]))
def test_records_are_read_as_latent_ode_reads_them(stays: list, quantum: float):
    records = []
    for number, stay in enumerate(stays, 1):
        minutes, names, values = zip(*sorted(stay), strict=True)
        records.append(write(number, minutes, names, [value / 1000 for value in values]))
    arrays = read(*records, quantum=quantum)
    after = np.cumsum(arrays["lengths"])
    for (_, content), last, length in zip(records, after, arrays["lengths"], strict=True):
        times, measured = plainly(content, quantum)
        rows = slice(last - length, last)
        np.testing.assert_array_equal(arrays["times"][rows], np.float32(times))
        for row, mask, values in zip(measured, arrays["mask"][rows], arrays["values"][rows], strict=True):
            assert {PARAMETERS[place] for place in np.flatnonzero(mask)} == set(row)
            for parameter, found in row.items():
                assert values[PARAMETERS.index(parameter)] == pytest.approx(np.mean(found), rel=1e-6, abs=1e-6)


def test_the_quantum_is_finer_than_the_minute_of_the_records():
    arrays = read(record(1, *(f"{time},HR,60" for time in TIMES)))
    assert len(arrays["times"]) == len(TIMES) and (np.diff(arrays["times"]) > 0).all()
    np.testing.assert_allclose(arrays["times"], np.arange(2881) / 60, atol=QUANTUM / 2 + 1e-6)


def test_a_record_without_a_newline_at_its_end_and_the_first_row_without_a_measurement():
    name, content = record(5, "00:30,HR,60")
    for text in (content, content[:-1]):
        arrays = read((name, text))
        assert arrays["lengths"].tolist() == [2] and not arrays["mask"][0].any()


# ------------------------------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("lines", "key", "word"),
    [
        (["00:00,Age,54", "00:07,Heart,73"], "line 4, column Parameter", "41 parameters"),
        (["00:00,,54"], "line 3, column Parameter", "41 parameters"),
        (["00:00,hr,54"], "line 3, column Parameter", "41 parameters"),
        (["00:00,RecordID,2"], "line 3, column Parameter", "41 parameters"),
        ([f"00:00,{'HR' * 40},54"], "line 3, column Parameter", "characters"),
        (["48:01,HR,73"], "line 3, column Time", "48:00"),
        (["99:00,HR,73"], "line 3, column Time", "hh:mm"),
        (["00:60,HR,73"], "line 3, column Time", "hh:mm"),
        (["0:07,HR,73"], "line 3, column Time", "hh:mm"),
        (["00:07:00,HR,73"], "line 3, column Time", "hh:mm"),
        ([",HR,73"], "line 3, column Time", "hh:mm"),
        (["00:09,HR,73", "00:08,HR,74"], "line 4, column Time", "go back"),
        (["00:07,HR,73", "00:08,HR,high"], "line 4, column Value", "number"),
        (["00:07,HR,"], "line 3, column Value", "number"),
        (["00:07,HR,nan"], "line 3, column Value", "number"),
        (["00:07,HR,1e999"], "line 3, column Value", "number"),
        (["00:07,HR,-1e39"], "line 3, column Value", "number"),
        (["00:07,HR,7_3"], "line 3, column Value", "number"),
        (["00:07,HR,73\r"], "line 3, column Value", "number"),
        (["00:07,HR"], "line 3", "entries"),
        (["00:07,HR,73,1"], "line 3", "entries"),
        (["00:07,HR,73", "", "00:08,HR,73"], "line 4", "entries"),
        ([], "line 3", "empty"),
    ],
)
def test_a_wrong_line_of_a_record_is_named(lines: list[str], key: str, word: str):
    good = [record(number, "00:00,Age,54", "00:07,HR,73") for number in (1, 3)]
    with refused(word, "set.tar: 2.txt", key):
        read(good[0], record(2, *lines), good[1])


@pytest.mark.parametrize(
    ("content", "key"),
    [
        (b"", "line 1"),
        (b"Time,Parameter\n00:00,RecordID,2\n00:00,Age,4\n", "line 1"),
        (b"Time,Parameter,Value\n", "line 2"),
        (b"Time,Parameter,Value\n00:00,Age,4\n", "line 2"),
        (b"Time,Parameter,Value\n00:00,RecordID,3\n00:00,Age,4\n", "line 2"),
        (b"Time,Parameter,Value\n00:00,RecordID,2", "line 3"),
    ],
)
def test_a_record_that_does_not_say_what_it_is(content: bytes, key: str):
    with refused("expected", "set.tar: 2.txt", key):
        read(("2.txt", content))


@pytest.mark.parametrize(
    ("text", "file", "key", "word"),
    [
        (outcomes({1: 0}), "set.tar: 2.txt", "RecordID 2", "no outcome"),
        (outcomes({}), "set.tar: 1.txt", "RecordID 1", "no outcome"),
        (outcomes({1: 0, 2: 0, 3: 1}), "outcomes.txt", "line 4, column RecordID", "set.tar"),
        (outcomes({1: 0, 2: 0}) + b"1,6,1,5,-1,0\n", "outcomes.txt", "line 4, column RecordID", "second"),
        (outcomes({1: 0, 2: 2}), "outcomes.txt", "line 3, column In-hospital_death", "0 or 1"),
        (outcomes({1: 0}) + b"2,6,1,5,-1,\n", "outcomes.txt", "line 3, column In-hospital_death", "number"),
        (outcomes({1: 0}) + b"2,6,1\n", "outcomes.txt", "line 3", "entries"),
        (b"RecordID,In-hospital_death\n1,0\n2,0\n", "outcomes.txt", "line 1", "columns"),
        (b"", "outcomes.txt", "line 1", "columns"),
    ],
)
def test_outcomes_that_do_not_fit_the_records(text: bytes, file: str, key: str, word: str):
    with refused(word, file, key):
        parse([record(number, "00:00,Age,54") for number in (1, 2)], "set.tar", text, "outcomes.txt")


def test_a_record_that_is_there_twice_and_none_at_all():
    with refused("twice", "set.tar: 2.txt"):
        read(record(2, "00:00,Age,54"), record(2, "00:00,Age,54"))
    with refused("name", "set.tar: 2x.txt"):
        parse([("2x.txt", b"")], "set.tar", outcomes({}), "outcomes.txt")
    with refused("none", "set.tar"):
        parse([], "set.tar", outcomes({}), "outcomes.txt")


# ------------------------------------------------------------------------------------------------------------ the files

NUMBERS = {"a": range(100, 106), "b": range(200, 206)}


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with both sets, of six records each."""
    monkeypatch.setattr(physionet2012, "RECORDS", 6)
    for name, numbers in NUMBERS.items():
        records = dict(record(number, "00:00,Age,54", "01:00,HR,73") for number in numbers)
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
    assert both["died"].tolist() == [False, True] * 6 and len(both["times"]) == both["lengths"].sum() == 24
    assert physionet2012.prepare(small, {"sets": ["b"]})["ids"].tolist() == list(NUMBERS["b"])
    coarse = physionet2012.prepare(small, {"quantisation": 0.7})
    assert coarse["times"].max() == np.float32(0.7)


def test_files_that_are_missing_or_of_another_set(small: Path):
    (small / "set-b.tar").write_bytes((small / "set-a.tar").read_bytes())
    (small / "Outcomes-b.txt").write_bytes((small / "Outcomes-a.txt").read_bytes())
    with refused("other set", small / "set-b.tar"):
        physionet2012.prepare(small, {"sets": ["a", "b"]})
    (small / "Outcomes-a.txt").unlink()
    with refused("fetch", small / "Outcomes-a.txt"):
        physionet2012.prepare(small, {})
    (small / "set-b.tar").unlink()
    with refused(str(small / "set-b.tar")):
        physionet2012.prepare(small, {"sets": ["b"]})


def test_an_archive_of_fewer_records(small: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(physionet2012, "RECORDS", 7)
    with refused("7", small / "set-a.tar"):
        physionet2012.prepare(small, {})


@pytest.mark.parametrize("packed", [False, True])
def test_a_broken_off_archive_is_never_half_prepared(small: Path, packed: bool):
    path = small / "set-a.tar"
    whole = path.read_bytes()
    if not packed:
        plain = io.BytesIO()
        with tarfile.open(path) as old, tarfile.open(fileobj=plain, mode="w") as new:
            for member in old:
                new.addfile(member, old.extractfile(member))
        whole = plain.getvalue().rstrip(b"\0")
    for length in range(0, len(whole) - 20, len(whole) // 30):
        path.write_bytes(whole[:length])
        with refused():
            physionet2012.prepare(small, {})


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"sets": ["c"]}, "sets"),
        ({"sets": ["b", "a"]}, "sets"),
        ({"sets": ["a", "a"]}, "sets"),
        ({"sets": []}, "sets"),
        ({"sets": "a"}, "sets"),
        ({"quantisation": 0}, "quantisation"),
        ({"quantisation": "fine"}, "quantisation"),
        ({"quantum": 0.1}, "quantum"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, changes: dict, key: str):
    with refused("physionet2012", key=key):
        physionet2012.prepare(tmp_path, changes)


def test_the_registry_and_the_module_agree():
    registry = load_datasets()
    dataset = registry["physionet2012"]
    assert set(dataset.files) == {f"{kind}" for name in "ab" for kind in (f"set-{name}.tar", f"Outcomes-{name}.txt")}
    assert [file.count for name, file in dataset.files.items() if file.archive] == [physionet2012.RECORDS] * 2
    assert tuple(dataset.features) == tuple(registry["intensive_care_stays"].features) == PARAMETERS
    assert registry["intensive_care_stays"].originals == ("physionet2012",)


def test_a_stand_in_is_like_a_set(monkeypatch: pytest.MonkeyPatch):
    assert physionet2012.RECORDS == 4000
    monkeypatch.setattr(physionet2012, "RECORDS", 400)
    arrays = physionet2012.stand_in({"sets": ["a"]})
    assert set(arrays) == ARRAYS and len(arrays["ids"]) == 400
    assert len(arrays["times"]) == arrays["lengths"].sum() == pytest.approx(29_926, rel=0.01)
    assert arrays["mask"].mean() == pytest.approx(0.143, abs=0.01)
    assert arrays["died"].mean() == pytest.approx(0.14, abs=0.01)
    first = np.cumsum(arrays["lengths"]) - arrays["lengths"]
    assert (arrays["times"][first] == 0).all() and arrays["times"].max() <= 48
    later = np.setdiff1d(np.arange(len(arrays["times"])), first)
    assert (arrays["times"][later] > arrays["times"][later - 1]).all()
    assert len(physionet2012.stand_in({"sets": ["a", "b"]})["ids"]) == 800
    real = read(record(1, "00:00,Age,54"))
    assert {name: array.dtype for name, array in arrays.items()} == {name: array.dtype for name, array in real.items()}


@pytest.mark.slow
@pytest.mark.mirror
def test_both_sets_from_a_mirror(from_mirror):
    directory = from_mirror("physionet2012")
    arrays = physionet2012.prepare(directory, {})
    lengths, mask = arrays["lengths"], arrays["mask"]
    first = np.cumsum(lengths) - lengths
    assert len(lengths) == 4000 and arrays["died"].sum() == 554
    assert lengths.mean() == pytest.approx(74.8, abs=0.05) and lengths.max() == 203 and lengths.min() == 1
    assert np.logical_or.reduceat(mask, first).sum(axis=1).mean() == pytest.approx(30.75, abs=0.01)
    assert mask.mean() == pytest.approx(0.143, abs=0.001)
    assert (arrays["times"][first] == 0).all() and len(np.unique(arrays["times"])) == 2881  # minutes
    both = physionet2012.prepare(directory, {"sets": ["a", "b"]})
    assert both["died"].sum() == 554 + 568 and (both["ids"][:4000] == arrays["ids"]).all()
    unknown = (both["values"] == -1) & both["mask"]
    counts = {PARAMETERS[place]: int(unknown[:, place].sum()) for place in np.flatnonzero(unknown.any(axis=0))}
    assert counts == {"Gender": 8, "Height": 3824, "Weight": 673}
    assert both["values"][:, PARAMETERS.index("pH")].max() == 735
    assert both["values"][:, PARAMETERS.index("Temp")].min() == np.float32(-17.8)


def test_what_is_written_is_read_again():
    name, content = write(4, [0, 61, 61], ["Age", "HR", "pH"], [54, 73, 7.35])
    arrays = parse([(name, content)], "set.tar", write_outcomes({4: True}), "outcomes.txt")
    assert arrays["ids"].tolist() == [4] and arrays["died"].tolist() == [True]
    assert arrays["values"][1, PARAMETERS.index("pH")] == np.float32(7.35)
