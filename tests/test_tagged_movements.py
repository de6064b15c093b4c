"""The generated movements: rows as of the original, heights that tell activities apart, and a seed."""

from pathlib import Path

import numpy as np
import pytest

from hidden_dynamics.data import prepared, tag_reports
from hidden_dynamics.data import tagged_movements as movements

CHEST, BELT = 2, 3


@pytest.fixture(scope="module")
def arrays() -> dict[str, np.ndarray]:
    return movements.prepare(Path("nowhere"), {})


def test_the_default_movements(arrays):
    assert arrays["ids"].tolist() == [100 * person + take for person in range(1, 5) for take in range(1, 6)]
    assert (arrays["lengths"] == 200).all() and (arrays["mask"].sum(axis=1) == 3).all()  # one tag reports
    np.testing.assert_allclose(arrays["times"] * 10, (arrays["times"] * 10).round(), atol=1e-3)  # tenths of a second
    shares = np.bincount(arrays["labels"], minlength=7) / len(arrays["labels"])
    assert shares.min() > 0.01 and shares.max() < 0.4


def test_a_tag_is_at_the_height_of_the_activity(arrays):
    for tag, place in ((CHEST, 0), (BELT, 1)):
        for activity in ("walking", "on all fours", "sitting on the ground"):
            there = arrays["mask"][:, 3 * tag] & (arrays["labels"] == tag_reports.CLASSES.index(activity))
            height = arrays["values"][there, 3 * tag + 2].mean()
            assert height == pytest.approx(movements.MOTIONS[activity][place], abs=0.02)


def test_a_sequence_depends_on_the_seed_and_on_no_other():
    def drawn(**changes: int) -> dict[str, np.ndarray]:
        return movements.prepare(Path("nowhere"), {"sequences": 2, "reports": 30} | changes)

    digests = [prepared.digest(drawn(**changes)) for changes in ({}, {}, {"seed": 1})]
    assert digests[0] == digests[1] != digests[2]
    assert np.array_equal(drawn(sequences=1)["values"], drawn()["values"][:30])


def test_silence_is_a_gap_in_time():
    whole = movements.prepare(Path("nowhere"), {"sequences": 2, "reports": 100, "silent": 0.0})
    np.testing.assert_allclose(np.diff(whole["times"][:100]), 0.1, atol=1e-5)
    half = movements.prepare(Path("nowhere"), {"sequences": 2, "reports": 100, "silent": 0.5})
    assert len(half["times"]) == 200 and half["times"][99] == pytest.approx(20, abs=4)
