"""Code that was tried and found equal: published/equal_code.csv, a line for each pair of digests.

tools/attest.py writes a line where trial trainings by both codes agree to the bit.
"""

import csv
import functools
from typing import NamedTuple

from hidden_dynamics.errors import UserError
from hidden_dynamics.system.files import ROOT

PATH = ROOT / "published" / "equal_code.csv"


class Equal(NamedTuple):
    """A line: what the code of a run was, and what it became, as digests, and the commits at which they were tried."""

    old: str
    new: str
    old_commit: str
    new_commit: str
    tried: str  # the trial trainings, such as "mnist/lstm"
    result: str  # digest of what both gave: losses, weights, generators' states, metrics


@functools.cache
def all_equal() -> tuple[Equal, ...]:
    """All lines; none where the file is not there. A `UserError` where it is damaged."""
    if not PATH.is_file():
        return ()
    try:
        with PATH.open(encoding="utf-8", newline="") as lines:
            columns, *rows = csv.reader(lines, strict=True)
        if columns != list(Equal._fields):
            raise ValueError(columns)
        return tuple(Equal(*row) for row in rows)
    except (TypeError, ValueError, csv.Error):  # other columns, or fewer; no text
        raise UserError(f"{PATH} is damaged: restore it with git.", file=PATH) from None


@functools.cache
def equals_of(code: str) -> frozenset[str]:
    """A digest of code, and those of earlier code that became it without a change of a bit, in one step or several."""
    codes, waiting = set(), [code]
    while waiting:
        new = waiting.pop()
        codes.add(new)
        waiting += [line.old for line in all_equal() if line.new == new and line.old not in codes]
    return frozenset(codes)
