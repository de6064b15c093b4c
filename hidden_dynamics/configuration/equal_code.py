"""Code that was tried and found equal: published/equal_code.csv, a line for each pair of digests.

tools/attest.py writes a line where trial trainings by both codes agree to the bit.
"""

import csv
import functools
from typing import NamedTuple

from hidden_dynamics.system.files import ROOT

PATH = ROOT / "published" / "equal_code.csv"


class Equal(NamedTuple):
    """A line: what the code of a run was, and what it became.

    Attributes:
        old, new: digests of a run's code (`hidden_dynamics.configuration.runs.code_of`).
        old_commit, new_commit: at which they were tried.
        tried: the trial trainings, such as "mnist/lstm".
        result: digest of what both gave: losses, weights, generators' states, metrics.
    """

    old: str
    new: str
    old_commit: str
    new_commit: str
    tried: str
    result: str


@functools.cache
def all_equal() -> tuple[Equal, ...]:
    """All lines; none where the file is not there."""
    if not PATH.is_file():
        return ()
    with PATH.open(encoding="utf-8", newline="") as lines:
        return tuple(Equal(**line) for line in csv.DictReader(lines))


@functools.cache
def equals_of(code: str) -> frozenset[str]:
    """A digest of code, and those of earlier code that became it without a change of a bit, in one step or several."""
    found, waiting = set(), [code]
    while waiting:
        new = waiting.pop()
        found.add(new)
        waiting += [line.old for line in all_equal() if line.new == new and line.old not in found]
    return frozenset(found)
