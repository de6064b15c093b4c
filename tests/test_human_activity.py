"""Human Activity: reports of tags on a moving body, read from small texts in the original format."""

from collections.abc import Iterable

import numpy as np
import pytest
from conftest import refused
from hypothesis import given
from hypothesis import strategies as st

from hidden_dynamics.data import human_activity
from hidden_dynamics.data.human_activity import ACTIVITIES, CLASSES, TAGS, UNREAD

ANKLE, _, CHEST, BELT = TAGS
START = 633_790_226_051_280_329  # a timestamp of 18 digits, as the file has, of which float64 holds 16


def report(
    tick: float,
    tag: str = CHEST,
    activity: str = "walking",
    place: Iterable[float] = (1.5, 2.5, 0.5),
    name: str = "A01",
) -> str:
    """A line of the text; `tick` counts 10 ms."""
    stamp = START + round(tick * 100_000)
    return ",".join([name, tag, str(stamp), "27.05.2009 14:03:25:127", *map(str, place), activity])


def read(*lines: str) -> dict[str, np.ndarray]:
    return human_activity.parse("\n".join([*lines, ""]).encode())


def test_eleven_activities_are_seven_classes():
    arrays = read(*(report(place, activity=activity) for place, activity in enumerate(ACTIVITIES)))
    named = dict(zip(ACTIVITIES, (CLASSES[label] for label in arrays["labels"]), strict=True))
    assert {name: label for name, label in named.items() if name != label} == {
        "lying down": "lying",
        "sitting down": "sitting",
        **{f"standing up from {place}": "standing up" for place in ("lying", "sitting", "sitting on the ground")},
    }
    released = dict(zip(ACTIVITIES, arrays["lowest"].tolist(), strict=True))
    assert released == dict(zip(ACTIVITIES, arrays["labels"].tolist(), strict=True)) | {UNREAD: -1}


@pytest.mark.filterwarnings("ignore:Constructing a Categorical")
@pytest.mark.parametrize("wrong", [{"tag": "999"}, {"activity": "running"}])
def test_an_unknown_tag_or_activity_is_refused_with_its_line(wrong):
    with refused(file=human_activity.FILE, key="line 2"):
        read(report(0), report(1, **wrong), report(2))


def plainly(lines: list[str]) -> dict[int, tuple[dict[str, list[list[float]]], list[int]]]:
    """Places by tag, and classes, of the rows of one sequence by their ticks, which ascend; line by line.

    The classes of a row are those that Latent-ODE's loader writes down.
    """
    rows = {}
    for line in lines:
        _, tag, stamp, _, x, y, z, activity = line.split(",")
        tick = round((float(stamp) - float(lines[0].split(",")[2])) / 10**5)
        places, classes = rows.setdefault(tick, ({}, []))
        places.setdefault(tag, []).append([float(x), float(y), float(z)])
        classes += [] if activity == UNREAD else [ACTIVITIES[activity]]
    return rows


reports = st.lists(
    st.tuples(
        st.integers(0, 200), st.sampled_from(list(TAGS)), st.sampled_from(list(ACTIVITIES)), st.integers(-9999, 9999)
    ),
    min_size=1,
    max_size=30,
)


@given(reports)
def test_reports_are_read_as_latent_ode_reads_them(drawn: list):
    lines = [
        report(tenths / 10, tag, activity, (place / 1000, -place / 500, 0.125))
        for tenths, tag, activity, place in sorted(drawn, key=lambda one: one[0])
    ]
    arrays, rows = read(*lines), plainly(lines)
    np.testing.assert_array_equal(arrays["times"], (np.array([*rows]) / 100).astype(np.float32))
    for row, (place, seen) in enumerate(rows.values()):
        assert arrays["lowest"][row] == min(seen, default=-1)
        for number, tag in enumerate(TAGS):
            there = slice(3 * number, 3 * number + 3)
            assert (arrays["mask"][row, there] == (tag in place)).all()
            expected = np.mean(place[tag], axis=0) if tag in place else np.zeros(3)
            np.testing.assert_allclose(arrays["values"][row, there], expected, rtol=1e-6, atol=1e-7)


def test_a_report_that_comes_late_is_put_in_its_place():
    arrays = read(report(0), report(9, CHEST), report(4, BELT, "falling"), report(9, ANKLE), report(12))
    np.testing.assert_array_equal(arrays["times"], np.float32([0, 0.04, 0.09, 0.12]))
    assert arrays["labels"].tolist() == [0, 1, 0, 0] and arrays["mask"].sum(axis=1).tolist() == [3, 3, 6, 3]
    assert read(report(0), report(0, name="C05"))["ids"].tolist() == [101, 305]
    early = read(report(5), report(0), report(8))  # the first in the text is not the first in time
    np.testing.assert_array_equal(early["times"], np.float32([0, 0.05, 0.08]))
