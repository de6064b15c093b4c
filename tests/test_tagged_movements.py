"""The generated movements: a text as of the original, postures that tell activities apart, and a seed."""

from pathlib import Path

import numpy as np
import pytest

from hidden_dynamics.data import prepared, tag_reports
from hidden_dynamics.data import tagged_movements as movements

CHEST, BELT = 2, 3


@pytest.fixture(scope="module")
def arrays() -> dict[str, np.ndarray]:
    return movements.prepare(Path("nowhere"), {})


def heights(arrays: dict[str, np.ndarray], tag: int, activity: str) -> np.ndarray:
    """Of a tag, in the rows of an activity in which it reports."""
    there = arrays["mask"][:, 3 * tag] & (arrays["labels"] == tag_reports.CLASSES.index(activity))
    return arrays["values"][there, 3 * tag + 2]


def test_the_default_movements(arrays):
    assert arrays["ids"].tolist() == [100 * person + take for person in range(1, 5) for take in range(1, 6)]
    assert (arrays["lengths"] == 200).all() and (arrays["mask"].sum(axis=1) == 3).all()  # one tag reports
    np.testing.assert_allclose(arrays["times"] * 10, (arrays["times"] * 10).round(), atol=1e-3)  # tenths of a second
    shares = np.bincount(arrays["labels"], minlength=7) / len(arrays["labels"])
    assert shares.min() > 0.01 and shares.max() < 0.4
    assert np.abs(arrays["values"]).max() < 3  # metres from the middle of the room


def test_postures_tell_activities_apart(arrays):
    chest = {activity: np.median(heights(arrays, CHEST, activity)) for activity in tag_reports.CLASSES}
    belt = {activity: np.median(heights(arrays, BELT, activity)) for activity in tag_reports.CLASSES}
    assert chest["walking"] > chest["sitting"] > chest["sitting on the ground"] > chest["lying"] + 0.2
    assert belt["walking"] > belt["on all fours"] > belt["sitting on the ground"] + 0.2
    for activity, posture in {"walking": movements.STANDING, "lying": movements.LYING}.items():
        assert (chest[activity], belt[activity]) == pytest.approx(posture[:2], abs=0.05)


def speeds(arrays: dict[str, np.ndarray], activity: str) -> np.ndarray:
    """How fast the belt moves along the floor from one of its reports to the next, in m/s, in rows of an activity."""
    rows = np.flatnonzero(arrays["mask"][:, 3 * BELT])
    gaps, places = np.diff(arrays["times"][rows]), arrays["values"][rows, 3 * BELT : 3 * BELT + 2]
    done = arrays["labels"][rows] == tag_reports.CLASSES.index(activity)
    within = done[1:] & done[:-1] & (gaps > 0)  # not from one sequence to the next
    return np.hypot(*np.diff(places, axis=0).T)[within] / gaps[within]


def test_a_walker_moves_and_a_sitter_does_not():
    still = movements.prepare(Path("nowhere"), {"noise": 0.0, "sequences": 5})
    assert np.median(speeds(still, "walking")) == pytest.approx(0.7, abs=0.1)
    assert np.median(speeds(still, "sitting")) == pytest.approx(0, abs=0.01)


def test_a_row_has_the_class_of_the_tick_at_which_its_tag_reports():
    """From one tick to the next the belt moves at the speed of what is done then: at each change of activity, too."""
    arrays = movements.prepare(Path("nowhere"), {"noise": 0.0, "silent": 0.0, "sequences": 60, "reports": 300})
    speeds_of: dict[int, set[float]] = {}
    for activity, motion in movements.MOTIONS.items():
        speeds_of.setdefault(tag_reports.ACTIVITIES[activity], set()).add(motion.speed)
    belt = arrays["mask"][:, 3 * BELT]
    rows = np.flatnonzero(belt[1:] & belt[:-1] & (np.diff(arrays["times"]) > 0)) + 1
    paces = (
        np.hypot(*(arrays["values"][rows] - arrays["values"][rows - 1])[:, 3 * BELT : 3 * BELT + 2].T) / movements.TICK
    )
    changed = 0
    for row, pace in zip(rows, paces, strict=True):
        assert min(abs(pace - speed) for speed in speeds_of[arrays["labels"][row]]) < 1e-3
        changed += arrays["labels"][row] != arrays["labels"][row - 1]
    assert changed > 10


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
