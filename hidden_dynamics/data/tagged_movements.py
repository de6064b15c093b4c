"""People who walk, fall, lie, sit and stand up, with tags on ankles, chest and belt: generated.

A sequence is one activity after another, each for some seconds. Every tenth of a second one of the four tags reports
its place, with noise, or none does: its height is that of the activity, and the body moves along the floor as fast as
the activity has it. The class of a row can be told from few rows, but not from one: one shows one tag alone.
"""

from pathlib import Path

import numpy as np
from pydantic import Field

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.data import tag_reports
from hidden_dynamics.data.streams import generator


class Settings(Entry):
    sequences: int = Field(20, ge=1, le=5 * 26)
    reports: int = Field(200, ge=1)  # of a sequence
    silent: float = Field(0.1, ge=0, le=0.5)  # share of the tenths of a second at which no tag reports
    noise: float = Field(0.03, ge=0)  # metres, standard deviation of a coordinate
    seed: int = Field(0, ge=0)


TICK = 0.1  # seconds
SHORTEST, LONGEST = 20, 60  # ticks of an activity
MOTIONS = {  # heights of chest and belt in metres, speed in metres per second
    "walking": (1.35, 1.0, 0.7),
    "falling": (0.7, 0.5, 0.5),
    "lying down": (0.4, 0.3, 0.1),
    "lying": (0.2, 0.15, 0.0),
    "sitting down": (1.1, 0.75, 0.1),
    "sitting": (0.95, 0.55, 0.0),
    "standing up from lying": (0.8, 0.6, 0.0),
    "standing up from sitting": (1.15, 0.8, 0.0),
    "standing up from sitting on the ground": (0.9, 0.6, 0.0),
    "on all fours": (0.5, 0.55, 0.25),
    "sitting on the ground": (0.6, 0.15, 0.0),
}
ANKLES = 0.1  # their height


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """Draw the arrays of `tag_reports`.

    Raises:
        UserError: a setting is unknown or out of range.
    """
    chosen = typed(Settings, settings, "tagged_movements")
    drawn = [_sequence(generator(chosen.seed, "tagged_movements", place), chosen) for place in range(chosen.sequences)]
    ids = [100 * (1 + place // 5) + place % 5 + 1 for place in range(chosen.sequences)]
    columns = map(np.concatenate, zip(*drawn, strict=True))
    return tag_reports.sequences(np.repeat(ids, [len(ticks) for ticks, *_ in drawn]), *columns)


def _sequence(random: np.random.Generator, settings: Settings) -> tuple[np.ndarray, ...]:
    """Ticks of 10 ms, tags, activities and places of the reports of one sequence, as `tag_reports.sequences` wants."""
    silent = random.random(4 * settings.reports + 100) < settings.silent
    ticks = np.flatnonzero(~silent)[: settings.reports]
    count = int(ticks[-1]) + 1
    durations = random.integers(SHORTEST, LONGEST + 1, count // SHORTEST + 1)
    done = np.repeat(random.integers(len(tag_reports.ACTIVITIES), size=len(durations)), durations)[:count]
    chest, belt, speed = np.array([MOTIONS[activity] for activity in tag_reports.ACTIVITIES])[done].T
    heading = np.cumsum(random.normal(0, 0.3, count))
    floor = np.cumsum(TICK * speed * np.stack([np.cos(heading), np.sin(heading)]), axis=1)
    floor -= floor.mean(axis=1, keepdims=True)
    tags = random.integers(len(tag_reports.TAGS), size=count)
    height = np.choose(tags, [np.full(count, ANKLES), np.full(count, ANKLES), chest, belt])
    places = np.stack([*floor, height], axis=1) + random.normal(0, settings.noise, (count, 3))
    since = (ticks - ticks[0]) * round(TICK * tag_reports.TICKS)
    return since, tags[ticks], done[ticks], places[ticks].round(6)
