"""USHCN: the authors' file."""

from pathlib import Path

import numpy as np
import pytest
from conftest import refused

from hidden_dynamics.data import ushcn

HEADER = ",".join(["ID", "Time", *(f"{kind}_{index}" for kind in ("Value", "Mask") for index in range(5))])
# As their script writes them: ids as 0.0, times with the errors of a subtraction, rows of a series in any order.
LINES = [
    "7.0,0.30000000000018190,0.0,4.0,0.0,0.0,-2.25,0.0,1.0,0.0,0.0,1.0",
    "7.0,0.1999999999998181,1.5,0.0,0.0,0.0,0.0,1.0,0.0,0.0,0.0,0.0",
    "3.0,150.1,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,0.0",
]


def test_the_authors_file_is_sorted_as_their_loader_sorts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / ushcn.FILE
    path.write_text("\n".join([HEADER, *LINES, ""]))
    with refused("3 of 2", path):
        ushcn.prepare(tmp_path, {})
    monkeypatch.setattr(ushcn, "SERIES", 2)
    monkeypatch.setattr(ushcn, "ROWS", 3)
    arrays = ushcn.prepare(tmp_path, {})
    assert arrays["ids"].tolist() == [3, 7] and arrays["lengths"].tolist() == [1, 2]
    np.testing.assert_array_equal(arrays["times"], np.float32([150.1, 0.2, 0.3]))
    assert arrays["values"].tolist() == [[0] * 5, [1.5, 0, 0, 0, 0], [0, 4, 0, 0, -2.25]]
    assert np.argwhere(arrays["mask"]).tolist() == [[0, 3], [1, 0], [2, 1], [2, 4]]  # a 0 may be observed
