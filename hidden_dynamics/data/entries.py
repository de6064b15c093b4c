"""Lines of comma-separated entries, cut and read in bulk: no Python code runs per line.

What is wrong is named by its file and line, which are looked for only then.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hidden_dynamics.errors import UserError

WIDEST = 40  # characters of an entry; numbers and names are shorter
NUMERAL = np.zeros(256, bool)  # by character
NUMERAL[list(b"0123456789+-.eE\0")] = True  # a short entry is padded with 0


@dataclass(frozen=True)
class Table:
    """
    Attributes:
        text: (bytes,), uint8.
        starts, ends: (lines, columns), where each entry begins and where it has ended.
        columns: what they are called.
        place: the name of the file and the line's number there, of a line of the table.
    """

    text: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    columns: Sequence[str]
    place: Callable[[int], tuple[str, int]]

    def refuse(self, wrong: np.ndarray, column: str, expected: str) -> None:
        """Refuse the table where an entry of the column is wrong.

        Args:
            wrong: (lines,), bool.

        Raises:
            UserError: one is; the message names file, line and column of the first.
        """
        if wrong.any():
            line = int(np.argmax(wrong))
            found = self._entry(line, self.columns.index(column))
            raise _wrong(self.place(line), column, f"expected {expected}, found {found!r}")

    def texts(self, column: str) -> np.ndarray:
        """The entries of a column as (lines,) bytes.

        Raises:
            UserError: one is longer than any that is known.
        """
        index = self.columns.index(column)
        start, lengths = self.starts[:, index], self.ends[:, index] - self.starts[:, index]
        self.refuse(lengths > WIDEST, column, f"at most {WIDEST} characters")
        characters = np.zeros((len(start), max(1, int(lengths.max(initial=0)))), np.uint8)
        for place in range(characters.shape[1]):
            there = np.flatnonzero(lengths > place)
            characters[there, place] = self.text[start[there] + place]
        return characters.view(f"S{characters.shape[1]}")[:, 0]

    def numbers(self, column: str) -> np.ndarray:
        """The entries of a column as (lines,) float64.

        Raises:
            UserError: one is no number that float32 holds.
        """
        texts = self.texts(column)
        try:
            values = texts.astype(np.float64)
        except ValueError:
            values = np.array([_number(text) for text in texts.tolist()])
        numerals = NUMERAL[texts.view(np.uint8)].reshape(len(texts), texts.itemsize)
        fits = np.abs(values) <= np.finfo(np.float32).max  # which arrays hold; false where there is no number
        self.refuse(~fits | ~numerals.all(axis=1), column, "a number")
        return values

    def codes(self, column: str, names: Sequence[str], expected: str) -> np.ndarray:
        """The place of each entry of a column in `names`: (lines,), int64.

        Raises:
            UserError: one is not among them.
        """
        texts, known = self.texts(column), np.array([name.encode() for name in names])
        order = np.argsort(known)
        places = order[np.minimum(np.searchsorted(known[order], texts), len(known) - 1)]
        self.refuse(known[places] != texts, column, expected)
        return places

    def _entry(self, line: int, column: int) -> str:
        return _shown(self.text[self.starts[line, column] : self.ends[line, column]])


def cut(content: bytes, columns: Sequence[str], place: Callable[[int], tuple[str, int]]) -> Table:
    """Cut a text into its entries.

    Args:
        content: lines that all end with a newline.
        columns: what the entries of a line are called.
        place: as in `Table`.

    Raises:
        UserError: a line has another number of entries; the message names its file and number.
    """
    text = np.frombuffer(content, np.uint8)
    ends, commas = (np.flatnonzero(text == ord(mark)) for mark in "\n,")
    starts = np.concatenate([[0], ends + 1])[:-1]
    found = np.diff(np.searchsorted(commas, ends), prepend=0) + 1
    if (found != len(columns)).any():
        line = int(np.argmax(found != len(columns)))
        shown = _shown(text[starts[line] : ends[line]])
        raise _wrong(place(line), "", f"expected the entries {','.join(columns)}, found {found[line]} in {shown!r}")
    commas = commas.reshape(len(ends), len(columns) - 1)
    return Table(text, np.column_stack([starts, commas + 1]), np.column_stack([commas, ends]), columns, place)


def _number(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan


def _shown(characters: np.ndarray) -> str:
    return characters[: 2 * WIDEST].tobytes().decode(errors="replace")


def _wrong(place: tuple[str, int], column: str, message: str) -> UserError:
    file, line = place
    where = f"line {line:,}" + (f", column {column}" if column else "")
    return UserError(f"{file}: {where}: {message}", file=file, key=where)
