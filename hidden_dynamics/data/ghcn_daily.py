"""Station files of NOAA's Global Historical Climatology Network - Daily (GHCN-Daily), `<station>.dly`.

A line is a month of one element, 269 characters: the station (11), the year (4), the month (2), the element (4), and
for each of 31 days the value (5; -9999: none) and a flag each of measurement, quality and source. A quality flag that
is not blank names the check which the value failed.

M. J. Menne, I. Durre, R. S. Vose, B. E. Gleason, T. G. Houston. An overview of the Global Historical Climatology
Network-Daily database. Journal of Atmospheric and Oceanic Technology 29, 2012.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hidden_dynamics.data import archives
from hidden_dynamics.errors import UserError

ARCHIVES = ("ghcnd_hcn.tar.gz", "ghcnd_hcn.tar")
MISSING = -9999
DAYS = 31
WIDTH = 21 + 8 * DAYS
LINE = np.dtype(
    [("station", "S11"), ("year", "u1", 4), ("month", "u1", 2), ("element", "S4"), ("days", "u1", (DAYS, 8))]
)


class Reports(NamedTuple):
    """What a station reported, one entry for each day and element, in the file's order: arrays (reports,).

    Attributes:
        element: places in the list of elements that was asked for, int64.
        date: datetime64[D].
        value: int64, in the element's unit: tenths of millimetres or of degrees Celsius, or millimetres (snow).
    """

    element: np.ndarray
    date: np.ndarray
    value: np.ndarray


def station_files(directory: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of each station's file in a directory: of its archive ghcnd_hcn.tar.gz, or lying there.

    Raises:
        UserError: there is neither, or the archive is damaged.
    """
    for name in ARCHIVES:
        if Path(directory, name).is_file():
            yield from archives.fetched_members(Path(directory, name), "*.dly")
            return
    paths = sorted(Path(directory).rglob("*.dly"))
    if not paths:
        raise UserError(f"{directory}: expected {ARCHIVES[0]} or station files (*.dly), found neither", file=directory)
    for path in paths:
        yield path.name, path.read_bytes()


def read(content: bytes, name: str, elements: Sequence[str], flags: str) -> Reports:
    """The reports of these elements in one station's file, without those that are missing or have one of the flags.

    Args:
        name: what messages call the file.
        elements: such as TMAX; others are passed over.
        flags: quality flags, each a letter.

    Raises:
        UserError: a line is not of this format, is another station's, or has a day that no month has; the message
            names file, line and column.
    """
    lines = _lines(content, name)
    if len(lines) and (lines["station"] != lines["station"][0]).any():
        line = int(np.argmax(lines["station"] != lines["station"][0]))
        raise _wrong(name, line, 1, f"expected one station, found {_text(lines['station'][line])}")
    known = np.array(elements, "S4")
    wanted = np.flatnonzero(np.isin(lines["element"], known))
    element = np.argmax(lines["element"][wanted, None] == known, axis=1)
    year, month = (_numbers(lines[part][wanted], name, wanted, first) for part, first in (("year", 12), ("month", 16)))
    if ((month < 1) | (month > 12)).any():
        raise _wrong(name, int(wanted[np.argmax((month < 1) | (month > 12))]), 16, "expected a month, 01 to 12")
    days = lines["days"][wanted]
    value = _numbers(days[..., :5], name, wanted, 22)
    kept = (value != MISSING) & ~np.isin(days[..., 6], np.frombuffer(flags.encode("ascii"), np.uint8))
    row, day = np.nonzero(kept)
    date = _dates(year[row], month[row], day)
    if (outside := date.astype("datetime64[M]").astype(np.int64) % 12 + 1 != month[row]).any():
        place = int(np.argmax(outside))
        raise _wrong(name, int(wanted[row[place]]), 22 + 8 * int(day[place]), "expected no value: the month is shorter")
    return Reports(element[row], date, value[row, day])


def _dates(year: np.ndarray, month: np.ndarray, day: np.ndarray) -> np.ndarray:
    """Of a year, a month from 1 and a day from 0."""
    months = (12 * (year - 1970) + month - 1).astype("datetime64[M]")
    return months.astype("datetime64[D]") + day


def _lines(content: bytes, name: str) -> np.ndarray:
    """The lines of a file, as `LINE` has them."""
    content = content.replace(b"\r\n", b"\n")
    content += b"" if content.endswith(b"\n") else b"\n"
    table = np.frombuffer(content, np.uint8)
    if len(table) % (WIDTH + 1) == 0 and np.array_equal(
        np.flatnonzero(table == ord("\n")), np.arange(WIDTH, len(table), WIDTH + 1)
    ):
        return np.ascontiguousarray(table.reshape(-1, WIDTH + 1)[:, :WIDTH]).reshape(-1).view(LINE)
    for number, line in enumerate(content.split(b"\n")):
        if len(line) != WIDTH:
            raise _wrong(name, number, 1, f"expected {WIDTH} characters, found {len(line)}")
    raise AssertionError("lines of equal length make a table")


def _numbers(characters: np.ndarray, name: str, lines: np.ndarray, first: int) -> np.ndarray:
    """Whole numbers, padded with blanks on the left.

    Args:
        characters: (lines, width) or (lines, days, width), uint8.
        lines: (lines,), the places of the lines in the file.
        first: the column, from 1, of the first number; the next is 8 further.

    Returns:
        (lines,) or (lines, days), int64.
    """
    digit, minus = (characters >= ord("0")) & (characters <= ord("9")), characters == ord("-")
    kind = np.where(digit, 2, np.where(minus, 1, np.where(characters == ord(" "), 0, 3)))
    # Blanks, then a sign or none, then digits to the end.
    wrong = (kind[..., -1] != 2) | (np.diff(kind, axis=-1) < 0).any(axis=-1) | (minus.sum(axis=-1) > 1)
    wrong |= (kind == 3).any(axis=-1)
    if wrong.any():
        place = np.argwhere(wrong)[0]
        found = _text(characters[tuple(place)].tobytes())
        column = first + 8 * int(place[1] if len(place) > 1 else 0)
        raise _wrong(name, int(lines[place[0]]), column, f"expected a whole number, found {found}")
    weights = 10 ** np.arange(characters.shape[-1] - 1, -1, -1)
    size = np.where(digit, characters - np.uint8(ord("0")), 0) @ weights
    return np.where(minus.any(axis=-1), -size, size)


def _text(characters: bytes) -> str:
    return repr(characters.decode("ascii", "backslashreplace"))


def _wrong(name: str, line: int, column: int, message: str) -> UserError:
    place = f"line {line + 1:,}, column {column}"
    return UserError(f"{name}: {place}: {message}", file=name, key=place)
