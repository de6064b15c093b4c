"""USHCN: the authors' file, the one like it, and the way from the stations' own files."""

import datetime
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import refused
from raw import pack

from hidden_dynamics.configuration import load_datasets
from hidden_dynamics.data import archives, folds, ghcn_daily, sporadic, ushcn, ushcn_like, ushcn_stations
from hidden_dynamics.data.preparing import raw_directory
from hidden_dynamics.data.streams import generator

# ---------------------------------------------------------------------------------------------------- the authors' file


def test_the_authors_file_is_sorted_as_their_loader_sorts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ushcn, "SERIES", 30)
    monkeypatch.setattr(ushcn, "ROWS", 900)
    arrays = sporadic.stand_in(30, 900, 5, 200.0)
    header, *lines = sporadic.write(arrays).splitlines()
    # Their script writes ids as 0.0, and a station's times element by element.
    lines = [line.replace(",", ".0,", 1) for line in lines]
    blocks = [generator(1).permutation(block) for block in np.split(np.array(lines), 30)]
    path = tmp_path / "small_chunked_sporadic.csv"
    path.write_text("\n".join([header, *np.concatenate(blocks)]) + "\n")
    read = ushcn.prepare(tmp_path, {})
    assert set(read) == set(arrays) and all(np.array_equal(read[name], arrays[name]) for name in arrays)
    monkeypatch.setattr(ushcn, "ROWS", 901)
    with refused("901", path):
        ushcn.prepare(tmp_path, {})


@pytest.mark.parametrize("module", [ushcn, ushcn_like])
def test_a_missing_file_and_a_setting_that_there_is_not(tmp_path: Path, module):
    with refused("fetch", tmp_path / module.FILE):
        module.prepare(tmp_path, {})
    with refused("share"):
        module.prepare(tmp_path, {"share": 0.1})


@pytest.mark.parametrize("module", [ushcn, ushcn_like])
def test_a_stand_in_has_the_series_of_the_file(module):
    arrays = module.stand_in({})
    assert len(arrays["ids"]) == module.SERIES and len(arrays["times"]) == pytest.approx(module.ROWS, rel=0.01)
    assert arrays["mask"].mean() == pytest.approx(0.22, abs=0.01)
    assert sporadic.after(arrays, 150, 3).shape == (module.SERIES, 3)


def test_the_registry_knows_the_files_and_where_they_come_from(configured):
    registry = load_datasets()
    ((name, file),) = registry["ushcn"].files.items()
    assert name == ushcn.FILE and len(file.urls) == 3 and file.size is None
    assert file.sha256 == "671eb8d121522e98891c84197742a6c9e9bb5015e42b328a93ebdf2cfd393ecf"
    ((name, file),) = registry["ushcn_like"].files.items()
    assert (name, file.urls, registry["ushcn_like"].folder) == (ushcn_like.FILE, [], "ushcn")
    names = [name for name, dataset in registry.items() if "ushcn" in dataset.originals]
    assert names == ["ushcn_like", "ushcn_stations", "ornstein_uhlenbeck"]
    with refused("ghcnd_hcn.tar.gz", "config.yaml", "data.copies.ushcn_stations"):
        raw_directory("ushcn_stations", configured())


@pytest.mark.slow
@pytest.mark.mirror
def test_the_file_like_ushcn_from_a_mirror(from_mirror):
    arrays = ushcn_like.prepare(from_mirror("ushcn_like"), {})
    assert len(arrays["times"]) == ushcn_like.ROWS and len(arrays["ids"]) == ushcn_like.SERIES
    assert arrays["values"].shape == (ushcn_like.ROWS, 5) and arrays["mask"].mean() == pytest.approx(0.22, abs=0.01)
    assert arrays["times"].min() == 0 and arrays["times"].max() == 200
    assert len(np.unique(arrays["times"])) == 1491  # days
    assert sporadic.after(arrays, 150, 4).shape == (ushcn_like.SERIES, 4)
    first, ids = folds.folds(ushcn_like.SERIES)[0], arrays["ids"]
    assert [len(part) for part in folds.published(first, ids)] == [796, 200, 111]
    assert sum(len(part) for part in folds.released(first, ids)) < ushcn_like.SERIES  # its ids have gaps


# -------------------------------------------------------------------------------------------------- the stations' files


def line(station: str, month: str, element: str, values: dict[int, int], flags: dict[int, str] | None = None) -> str:
    """A month of an element, as in the readme of GHCN-Daily: values and quality flags by the day from 1."""
    flags = flags or {}
    days = [f"{values.get(day, -9999):5d} {flags.get(day, ' ')}6" for day in range(1, 32)]
    return f"{station}{month}{element}{''.join(days)}"


def report(lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()


def plainly(content: bytes, elements: list[str], flags: str) -> Iterator[tuple[str, str, int]]:
    """Element, date and value of each report, as the readme describes the format, day by day."""
    for text in content.decode().splitlines():
        for day in range(31):
            value, quality = int(text[21 + 8 * day : 26 + 8 * day]), text[27 + 8 * day]
            if text[17:21] in elements and value != -9999 and quality not in flags:
                yield text[17:21], f"{text[11:15]}-{text[15:17]}-{day + 1:02d}", value


JANUARY = line("USC00011084", "195001", "TMAX", {1: 100, 2: -56, 31: 0, 5: 7}, {5: "I", 2: "A"})
FEBRUARY = line("USC00011084", "195602", "PRCP", {29: 1234, 1: -1})
OTHER = line("USC00011084", "195602", "TOBS", {1: 5})


def test_a_station_is_read():
    reports = ghcn_daily.read(report([JANUARY, FEBRUARY, OTHER]), "x.dly", ["PRCP", "TMAX"], "DI")
    assert reports.element.tolist() == [1, 1, 1, 0, 0]
    assert reports.date.astype(str).tolist() == ["1950-01-01", "1950-01-02", "1950-01-31", "1956-02-01", "1956-02-29"]
    assert reports.value.tolist() == [100, -56, 0, -1, 1234]
    with_returns = report([JANUARY, FEBRUARY]).replace(b"\n", b"\r\n")[:-2]
    assert ghcn_daily.read(with_returns, "x.dly", ["PRCP", "TMAX"], "DI").value.tolist() == [100, -56, 0, -1, 1234]
    assert len(ghcn_daily.read(report([OTHER]), "x.dly", ["PRCP"], "").value) == 0


@pytest.mark.parametrize(
    ("lines", "place", "word"),
    [
        ([JANUARY, FEBRUARY[:-1]], "line 2, column 1", "268"),
        ([JANUARY, "", FEBRUARY], "line 2, column 1", "found 0"),
        ([JANUARY, FEBRUARY.replace("11084", "11085")], "line 2, column 1", "USC00011085"),
        ([JANUARY, OTHER, FEBRUARY.replace("195602", "195613")], "line 3, column 16", "month"),
        ([JANUARY.replace("195001", "19x001")], "line 1, column 12", "'19x0'"),
        ([JANUARY.replace("  100", " 10 0")], "line 1, column 22", "' 10 0'"),
        ([JANUARY.replace("  -56", "-5-56")], "line 1, column 30", "'-5-56'"),
        ([JANUARY, FEBRUARY.replace("195602", "195702")], "line 2, column 246", "shorter"),
    ],
)
def test_a_wrong_line_of_a_station_is_named(lines: list[str], place: str, word: str):
    with refused(word, "x.dly", place):
        ghcn_daily.read(report(lines), "x.dly", ["PRCP", "TMAX"], "DI")


def station(seed: int, first: int, last: int, elements=("PRCP", "TMAX")) -> bytes:
    """A station's file with random reports of each day of these years, some of them flagged."""
    random, name, lines = generator(seed, "station"), f"USC{seed:08d}", []
    for year in range(first, last + 1):
        for month in range(1, 13):
            days = (datetime.date(year + month // 12, month % 12 + 1, 1) - datetime.timedelta(1)).day
            for element in elements:
                values = {day: int(random.integers(-300, 300)) for day in range(1, days + 1) if random.random() < 0.9}
                flags = {day: "X" for day in values if random.random() < 0.1}
                lines.append(line(name, f"{year}{month:02d}", element, values, flags))
    return report(lines)


# Four years whose last 500 of 1000 units of time are kept.
SETTINGS = {"elements": ["PRCP", "TMAX"], "years": [1966, 1969], "before": 1967, "after": 1969, "share": 0.2}
SETTINGS |= {"end": 1000.0, "start": 500.0, "until": 300.0, "least": 4, "seed": 3}


@pytest.fixture(scope="module")
def stations() -> dict[str, bytes]:
    """Three stations that qualify, one that begins too late, one that ends too early, one with few reports."""
    files = {1: (1965, 1970), 5: (1966, 1970), 2: (1967, 1970), 3: (1966, 1969), 4: (1966, 1970)}
    made = {f"USC{seed:08d}.dly": station(seed, *years) for seed, years in files.items()}
    few = [line("USC00000006", "196601", "PRCP", {1: 5, 2: 6}), line("USC00000006", "197001", "PRCP", {1: 5})]
    return made | {"USC00000006.dly": report(few)}


def test_the_steps_from_reports_to_series(tmp_path: Path, stations):
    for name, content in stations.items():
        (tmp_path / name).write_bytes(content)
    settings = ushcn_stations.DEFAULTS | SETTINGS
    sample = ushcn_stations.draw(tmp_path, settings)
    reports = {}
    for name in ("USC00000001.dly", "USC00000004.dly", "USC00000005.dly", "USC00000006.dly"):
        found = [entry for entry in plainly(stations[name], settings["elements"], "X") if "1966" <= entry[1] < "1970"]
        reports[name[:-4]] = {(element, date): value for element, date, value in found}
    kept = list(reports)[:3]  # of the last, no report is drawn: a fifth of two rounds to none
    days = {name: datetime.date.fromisoformat(name) for name in {date for of in reports.values() for _, date in of}}
    for place, name in enumerate(kept):
        for number, element in enumerate(settings["elements"]):
            mine = (sample.station == place) & (sample.element == number)
            of_element = {days[date]: value for (what, date), value in reports[name].items() if what == element}
            assert mine.sum() == round(0.2 * len(of_element))
            for day, value in zip(sample.day[mine], sample.value[mine], strict=True):
                assert of_element[datetime.date(1966, 1, 1) + datetime.timedelta(int(day))] == value
    assert sample.station.max() == 2

    arrays = ushcn_stations.prepare(tmp_path, SETTINGS)
    assert arrays["ids"].tolist() == [0, 1, 2]
    expected: dict[tuple[int, float], dict[int, float]] = {}
    for place, number, day, value in zip(*sample, strict=True):
        time = round(1000 * day / 1460, 1)
        if time >= 500:
            of_element = sample.value[sample.element == number]
            scaled = (value - of_element.mean()) / of_element.std(ddof=1)
            expected.setdefault((int(place), round(time - 500, 1)), {})[int(number)] = scaled
    assert len(expected) == len(arrays["times"])
    rows = zip(np.repeat(arrays["ids"], arrays["lengths"]), arrays["times"], strict=True)
    for row, ((key, values), (place, time)) in enumerate(zip(sorted(expected.items()), rows, strict=True)):
        assert key == (place, pytest.approx(time, abs=1e-4))
        assert set(values) == set(np.flatnonzero(arrays["mask"][row]))
        for number, value in values.items():
            assert arrays["values"][row, number] == pytest.approx(value, abs=1e-6)
    text = sporadic.write(arrays)
    again = sporadic.parse(text, "text", 2)
    assert all(np.array_equal(again[name], arrays[name]) for name in arrays)


def test_an_archive_or_a_directory_and_the_seed(tmp_path: Path, stations):
    (tmp_path / "packed").mkdir()
    members = {f"ghcnd_hcn/{name}": content for name, content in reversed(stations.items())}
    (tmp_path / "packed/ghcnd_hcn.tar.gz").write_bytes(pack(members, "w:gz"))
    (tmp_path / "unpacked/ghcnd_hcn").mkdir(parents=True)
    for name, content in members.items():
        (tmp_path / "unpacked" / name).write_bytes(content)
    arrays = ushcn_stations.prepare(tmp_path / "packed", SETTINGS)
    others = ushcn_stations.prepare(tmp_path / "unpacked", SETTINGS)
    assert all(np.array_equal(arrays[name], others[name]) for name in arrays)
    drawn_anew = ushcn_stations.prepare(tmp_path / "packed", SETTINGS | {"seed": 4})
    assert not np.array_equal(arrays["times"], drawn_anew["times"])
    # A station's draw depends on no other.
    (tmp_path / "unpacked/ghcnd_hcn/USC00000001.dly").unlink()
    fewer = ushcn_stations.draw(tmp_path / "unpacked", ushcn_stations.DEFAULTS | SETTINGS)
    whole = ushcn_stations.draw(tmp_path / "packed", ushcn_stations.DEFAULTS | SETTINGS)
    assert np.array_equal(fewer.day, whole.day[whole.station > 0])


def test_directories_without_what_is_needed(tmp_path: Path, stations):
    with refused("neither", tmp_path):
        ushcn_stations.prepare(tmp_path, {})
    (tmp_path / "USC00000003.dly").write_bytes(stations["USC00000003.dly"])
    with refused("after 1969", tmp_path):
        ushcn_stations.prepare(tmp_path, SETTINGS)
    (tmp_path / "USC00000001.dly").write_bytes(stations["USC00000001.dly"])
    with refused("TMIN", key="elements"):
        ushcn_stations.prepare(tmp_path, SETTINGS | {"elements": ["TMAX", "TMIN"]})
    with refused("no station", key="least"):
        ushcn_stations.prepare(tmp_path, SETTINGS | {"least": 10**6})
    with refused("no station", key="least"):
        ushcn_stations.prepare(tmp_path, SETTINGS | {"start": 1000.0, "until": 1.0})
    (tmp_path / "ghcnd_hcn.tar.gz").write_bytes(b"not an archive")
    with refused("damaged"):
        ushcn_stations.prepare(tmp_path, SETTINGS)


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"station": "x"}, "station"),
        ({"share": 1.5}, "share"),
        ({"share": "all"}, "share"),
        ({"seed": -1}, "seed"),
        ({"years": [2000, 1950]}, "years"),
        ({"years": [1950]}, "years"),
        ({"years": [1950.5, 2000]}, "years"),
        ({"start": 3000.0}, "start"),
        ({"elements": []}, "elements"),
        ({"elements": ["TMAX", "TMAX"]}, "elements"),
        ({"flags": 3}, "flags"),
        ({"least": 0}, "least"),
    ],
)
def test_a_wrong_setting_of_the_stations_is_named(tmp_path: Path, settings: dict, key: str):
    with refused("ushcn_stations", key=key):
        ushcn_stations.prepare(tmp_path, settings)


def test_the_papers_steps_are_the_defaults():
    arrays = ushcn_stations.stand_in({})
    assert arrays["lengths"].mean() == pytest.approx(ushcn.ROWS / ushcn.SERIES, rel=0.05)
    assert ushcn_stations.DEFAULTS["elements"] == list(ushcn.ELEMENTS)
    # What is observed begins on 1996-12-02; what comes after 150, and is predicted, on 1999-12-25.
    days = np.array(["1996-12-01", "1996-12-02", "1999-12-24", "1999-12-25", "2000-12-31"], "datetime64[D]")
    times = np.round(2500 * (days - np.datetime64("1950-01-01")).astype(int) / 18627, 1) - 2300
    assert times.round(1).tolist() == [-0.1, 0.0, 149.9, 150.1, 200.0]


@pytest.mark.slow
@pytest.mark.mirror
def test_real_stations_from_a_mirror(tmp_path: Path):
    """Twelve of the network's files, beside a plain reading of one, and what the file like USHCN shows of them."""
    path = Path(os.environ.get("HIDDEN_DYNAMICS_MIRROR", "."), "ushcn/ghcnd_hcn-12-stations.tar.gz")
    if not path.is_file():
        pytest.skip("HIDDEN_DYNAMICS_MIRROR names no mirror with station files")
    files = dict(sorted(archives.members(path, "*.dly")))
    digest = hashlib.sha256(b"".join(files.values())).hexdigest()
    assert digest == "3566ca936875e0d7a94aa459ad988b21053d5feac5eb234cded6a07fb7e1b4a7"
    flags, elements = ushcn_stations.DEFAULTS["flags"], list(ushcn.ELEMENTS)
    content = files["USC00087020.dly"]
    reports = ghcn_daily.read(content, "x", elements, flags)
    said = zip(np.array(elements)[reports.element], reports.date.astype(str), reports.value, strict=True)
    assert list(said) == list(plainly(content, elements, flags))

    (tmp_path / "ghcnd_hcn.tar.gz").write_bytes(path.read_bytes())
    arrays = ushcn_stations.prepare(tmp_path, {})
    assert len(arrays["ids"]) == 11  # one station's reports end in 1998
    assert arrays["lengths"].mean() == pytest.approx(ushcn.ROWS / ushcn.SERIES, rel=0.1)
    assert arrays["mask"].mean(axis=0) == pytest.approx([0.22] * 5, abs=0.02)
    assert len(arrays["times"]) == 3545 and arrays["times"].max() == 200
