"""Sporadically observed series: each is observed at times of its own, and then in some of its features only.

The arrays, one row for each time of a series, the series one after another:

    times    (rows,), float32, ascending within a series
    values   (rows, D), float32, 0 where a feature is not observed
    mask     (rows, D), bool, whether it is
    lengths  (series,), int64, how many rows each series has
    ids      (series,), int64, ascending; they may have gaps

The text is that of GRU-ODE-Bayes (De Brouwer et al., NeurIPS 2019): a CSV table with the columns
`ID,Time,Value_0,...,Value_<D-1>,Mask_0,...,Mask_<D-1>`. Its times are differences of floating-point numbers
(0.1999999999998181 for 0.2), and series share a time where theirs are equal: so they are rounded to one decimal.
"""

import io
from pathlib import Path

import numpy as np

from hidden_dynamics.data.streams import generator
from hidden_dynamics.errors import UserError

DECIMALS = 1  # of a time in the text
NAMES = ("times", "values", "mask", "lengths", "ids")


def columns(features: int) -> list[str]:
    """The header of a table of `features` features."""
    return ["ID", "Time", *(f"{kind}_{index}" for kind in ("Value", "Mask") for index in range(features))]


def read(path: str | Path, features: int, sort: bool = False) -> dict[str, np.ndarray]:
    """Read and check a table of `features` features (D).

    Args:
        sort: whether rows of a series may stand in any order, and series in any order of their ids; they are sorted.

    Returns:
        The five arrays.

    Raises:
        UserError: the file is missing, or not what it must be; the message names the file, the line and the column.
    """
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file; fetch it first (scripts/fetch.py)", file=path) from None
    try:
        return parse(content.decode(), path, features, sort)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _wrong(path, line, "", f"expected text, found the byte {content[error.start]:02x}") from None


def parse(text: str, path: str | Path, features: int, sort: bool = False) -> dict[str, np.ndarray]:
    """As `read`, of a text; `path` is what messages call it."""
    lines = text.splitlines()
    if not lines:
        raise UserError(f"{path}: the file is empty; expected a table with the header {_header(features)}", file=path)
    _check_header(path, lines.pop(0), features)
    if not lines:
        raise UserError(f"{path}: the table has a header and no rows", file=path)
    table = _numbers(path, lines, features)
    _check_entries(path, table, features)
    ids, times = table[:, 0].astype(np.int64), np.round(table[:, 1], DECIMALS)
    _check_series(path, ids)
    order = np.arange(len(ids))
    if sort:
        order = np.lexsort((times, ids))
        ids, times, table = ids[order], times[order], table[order]
    _check_order(path, ids, times, order)
    found, lengths = np.unique(ids, return_counts=True)
    return {
        "times": times.astype(np.float32),
        "values": table[:, 2 : 2 + features].astype(np.float32),
        "mask": table[:, 2 + features :] == 1,
        "lengths": lengths.astype(np.int64),
        "ids": found,
    }


def write(arrays: dict[str, np.ndarray]) -> str:
    """The table of the five arrays, as text: `parse` gives the same arrays again, bit for bit.

    Args:
        arrays: with times of at most one decimal.
    """
    values, mask = arrays["values"], arrays["mask"]
    ids = np.repeat(arrays["ids"], arrays["lengths"])
    features = values.shape[1]
    table = np.column_stack([ids, arrays["times"], np.where(mask, values, 0), mask]).astype(np.float64)
    formats = ["%d", f"%.{DECIMALS}f", *["%.9g"] * features, *["%d"] * features]  # nine digits determine a float32
    text = io.StringIO()
    np.savetxt(text, table, formats, delimiter=",", header=_header(features), comments="")
    return text.getvalue()


def starts(lengths: np.ndarray) -> np.ndarray:
    """The first row of each series: (series,), int64."""
    return np.cumsum(lengths) - lengths


def selected(arrays: dict[str, np.ndarray], series: np.ndarray) -> dict[str, np.ndarray]:
    """The five arrays of these series alone.

    Args:
        series: (chosen,), int64, their places, ascending.
    """
    chosen = np.zeros(len(arrays["ids"]), bool)
    chosen[series] = True
    rows = np.repeat(chosen, arrays["lengths"])
    return {name: arrays[name][rows if name in ("times", "values", "mask") else chosen] for name in NAMES}


def after(arrays: dict[str, np.ndarray], time: float, count: int) -> np.ndarray:
    """What is to be predicted: the first `count` rows of each series whose time is after `time`.

    Returns:
        (series, count), int64, their places among all rows.

    Raises:
        UserError: a series has fewer; the message names it.
    """
    lengths, first = arrays["lengths"], starts(arrays["lengths"])
    late = arrays["times"] > np.float32(time)
    there = np.add.reduceat(late, first, dtype=np.int64)
    if (there < count).any():
        place = int(np.argmax(there < count))
        raise UserError(
            f"series {arrays['ids'][place]}: expected {count} rows after time {time:g}, found {there[place]}",
            key=f"ID {arrays['ids'][place]}",
        )
    return (first + lengths - there)[:, None] + np.arange(count)


def stand_in(series: int, rows: int, features: int, end: float) -> dict[str, np.ndarray]:
    """Random arrays of about this size; of the times, all at tenths up to `end`, every series has the same share.

    Args:
        rows: of all series together.
    """
    random, grid = generator(0, "stand-in"), round(end * 10**DECIMALS) + 1
    length = min(round(rows / series), grid)
    times = np.sort(random.permuted(np.tile(np.arange(grid), (series, 1)), axis=1)[:, :length], axis=1)
    mask = random.random((series * length, features)) < 0.025  # beside the one below; USHCN has 1.1 of 5 a row
    mask[np.arange(len(mask)), random.integers(0, features, len(mask))] = True
    return {
        "times": (times.reshape(-1) / 10**DECIMALS).astype(np.float32),
        "values": np.where(mask, random.standard_normal(mask.shape), 0).astype(np.float32),
        "mask": mask,
        "lengths": np.full(series, length, np.int64),
        "ids": np.arange(series, dtype=np.int64),
    }


# ---------------------------------------------------------------------------------------------------------- what may be


def _check_header(path: str | Path, line: str, features: int) -> None:
    expected, found = columns(features), [name.strip() for name in line.split(",")]
    if found == expected:
        return
    missing = [name for name in expected if name not in found]
    extra = [name for name in found if name not in expected]
    twice = sorted({name for name in found if found.count(name) > 1})
    about = [("missing", missing), ("not expected", extra), ("twice", twice)]
    said = "; ".join(f"{what}: {', '.join(names)}" for what, names in about if names) or "they stand in another order"
    first = (missing or extra or twice or found)[0]
    raise _wrong(path, 1, first, f"expected the columns {_header(features)}; {said}")


def _numbers(path: str | Path, lines: list[str], features: int) -> np.ndarray:
    """The entries of the table, (rows, 2 + 2 D), float64."""
    shape = len(lines), 2 + 2 * features
    try:
        table = np.loadtxt(lines, delimiter=",", comments=None, ndmin=2)
    except ValueError:
        pass  # which of its lines, and which of the columns, follows
    else:
        if table.shape == shape:  # a blank line is passed over
            return table
    for number, line in enumerate(lines, 2):
        _check_line(path, number, line.split(","), features)
    raise UserError(f"{path}: expected a table of numbers", file=path)


def _check_line(path: str | Path, number: int, entries: list[str], features: int) -> None:
    names = columns(features)
    if len(entries) != len(names):
        place = names[len(entries)] if len(entries) < len(names) else ""
        raise _wrong(path, number, place, f"expected {len(names)} entries, found {len(entries)}")
    for name, entry in zip(names, entries, strict=True):
        try:
            float(entry.replace("_", "?"))  # which Python takes for a separator of digits
        except ValueError:
            raise _wrong(path, number, name, f"expected a number, found {entry!r}") from None


def _check_entries(path: str | Path, table: np.ndarray, features: int) -> None:
    """Refuse what is not finite, ids that are no whole numbers, masks and values that contradict each other."""
    values, mask = table[:, 2 : 2 + features], table[:, 2 + features :]
    with np.errstate(over="ignore"):
        finite = np.isfinite(table.astype(np.float32))
    _refuse(path, table, ~finite, 0, "a finite number")
    ids = table[:, :1]
    _refuse(path, table, (ids != np.round(ids)) | (np.abs(ids) > 2**53), 0, "a whole number")
    _refuse(path, table, (mask != 0) & (mask != 1), 2 + features, "0 or 1")
    _refuse(path, table, (mask == 0) & (values != 0), 2, "0 where the mask is 0")
    _refuse(path, table, ~mask.any(axis=1, keepdims=True), 2 + features, "a 1 in one of the masks of the line")


def _refuse(path: str | Path, table: np.ndarray, wrong: np.ndarray, first: int, expected: str) -> None:
    """Refuse the table where one of the entries is wrong.

    Args:
        wrong: (rows, some columns), bool.
        first: the column of the table that is the first of `wrong`.
    """
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        name = columns((table.shape[1] - 2) // 2)[first + column]
        raise _wrong(path, row + 2, name, f"expected {expected}, found {table[row, first + column]:.17g}")


def _check_series(path: str | Path, ids: np.ndarray) -> None:
    """Refuse an id that comes back after another series."""
    first = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
    _, met = np.unique(ids[first], return_index=True)
    back = np.setdiff1d(first, first[met])
    if len(back):
        row = back[0]
        before = 2 + np.flatnonzero(ids[:row] == ids[row])[-1]
        raise _wrong(path, row + 2, "ID", f"the series {ids[row]} comes back: it ended in line {before}")


def _check_order(path: str | Path, ids: np.ndarray, times: np.ndarray, rows: np.ndarray) -> None:
    """Refuse ids and, within a series, times that do not ascend.

    Args:
        ids, times: (rows,), as they are to be used.
        rows: (rows,), where each stands in the table.
    """
    same, step = ids[1:] == ids[:-1], np.diff(times)
    wrong = ~same & (ids[1:] < ids[:-1]) | same & (step <= 0)
    if not wrong.any():
        return
    row = int(np.argmax(wrong)) + 1
    line = int(max(rows[row], rows[row - 1])) + 2
    if ids[row] != ids[row - 1]:
        raise _wrong(path, line, "ID", f"expected series in the order of ids, found {ids[row]} after {ids[row - 1]}")
    found = f"found {times[row]:g} after {times[row - 1]:g} in series {ids[row]}"
    raise _wrong(
        path, line, "Time", f"expected ascending times that differ when rounded to {DECIMALS} decimal, {found}"
    )


def _header(features: int) -> str:
    return ",".join(columns(features))


def _wrong(path: str | Path, line: int, column: str, message: str) -> UserError:
    place = f"line {line:,}" + (f", column {column}" if column else "")
    return UserError(f"{path}: {place}: {message}", file=path, key=place)
