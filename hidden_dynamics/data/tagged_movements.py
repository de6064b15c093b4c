"""People who walk, fall, lie, sit and stand up, with tags on ankles, chest and belt: generated.

A sequence is a chain of activities in the order of `CHAIN`, each of a random length. An activity is a posture (the
heights of chest and belt, how far the tags are apart lengthwise) that the body approaches, and a motion (the speed of
the body, the swing of its ankles). Every tenth of a second one of the four tags reports its place, with noise, or none
does. The class of a row can be told from few rows, but not from one: one shows one tag alone.
"""

from pathlib import Path
from typing import NamedTuple

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


class Motion(NamedTuple):
    """Where the body goes.

    The heights that chest and belt approach, the length of the body along the floor (metres), the time that the
    approach takes (seconds), speed (metres per second) and swing of the ankles (metres), and the shortest and longest
    duration (seconds).
    """

    chest: float
    belt: float
    length: float
    approach: float
    speed: float
    swing: float
    shortest: float
    longest: float


STANDING, LYING, SITTING = (1.35, 1.0, 0.0), (0.2, 0.15, 1.3), (0.95, 0.55, 0.4)
FOURS, GROUND = (0.5, 0.55, 0.7), (0.6, 0.15, 0.8)
MOTIONS = {
    "walking": Motion(*STANDING, 0.3, 0.7, 0.3, 5, 9),
    "falling": Motion(*LYING, 0.5, 0.5, 0.1, 1.5, 2.5),
    "lying down": Motion(*LYING, 0.8, 0.1, 0.0, 2, 3),
    "lying": Motion(*LYING, 0.3, 0.0, 0.0, 5, 9),
    "sitting down": Motion(*SITTING, 0.6, 0.1, 0.0, 1.5, 2.5),
    "sitting": Motion(*SITTING, 0.3, 0.0, 0.0, 5, 9),
    "standing up from lying": Motion(*STANDING, 1.5, 0.0, 0.0, 3, 4),
    "standing up from sitting": Motion(*STANDING, 1.2, 0.0, 0.0, 2, 3),
    "standing up from sitting on the ground": Motion(*STANDING, 1.5, 0.0, 0.0, 2.5, 3.5),
    "on all fours": Motion(*FOURS, 0.4, 0.25, 0.1, 5, 9),
    "sitting on the ground": Motion(*GROUND, 0.5, 0.0, 0.0, 5, 9),
}
CHAIN = (
    *("walking", "sitting down", "sitting", "standing up from sitting"),
    *("walking", "falling", "lying", "standing up from lying"),
    *("walking", "on all fours", "sitting on the ground", "standing up from sitting on the ground"),
    *("walking", "lying down", "lying", "standing up from lying"),
)
STRIDES = 1.0  # of a walk, in a second
ROOM = 0.5  # metres from the middle, where x and y are 0, at which a walker turns back


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
    activities = _activities(random, count)
    places = _places(random, [MOTIONS[activity] for activity in activities])
    places += settings.noise * random.standard_normal(places.shape)
    tags = random.integers(len(tag_reports.TAGS), size=count)[ticks]
    done = np.array([list(tag_reports.ACTIVITIES).index(activity) for activity in activities])[ticks]
    since = (ticks - ticks[0]) * round(TICK * tag_reports.TICKS)
    return since, tags, done, places[ticks, tags].round(6)


def _activities(random: np.random.Generator, count: int) -> list[str]:
    """What is done at each of `count` ticks; the chain begins at a random place."""
    activities: list[str] = []
    place = int(random.integers(len(CHAIN)))
    while len(activities) < count:
        activity = CHAIN[place % len(CHAIN)]
        motion = MOTIONS[activity]
        activities += [activity] * round(random.uniform(motion.shortest, motion.longest) / TICK)
        place += 1
    return activities[:count]


def _places(random: np.random.Generator, motions: list[Motion]) -> np.ndarray:
    """Where the tags are at each tick: (ticks, 4, 3), metres, in the order of `tag_reports.TAGS`."""
    posture = np.array(motions[0][:3])
    body, heading, phase = random.uniform(-0.5, 0.5, 2), random.uniform(0, 2 * np.pi), 0.0
    places = np.empty((len(motions), len(tag_reports.TAGS), len(tag_reports.AXES)))
    for tick, motion in enumerate(motions):
        posture = posture + min(1, TICK / motion.approach) * (np.array(motion[:3]) - posture)
        chest, belt, length = posture
        along = np.array([np.cos(heading), np.sin(heading)])
        body = body + motion.speed * TICK * along
        heading += 0.3 * TICK * random.standard_normal() + _turn(body, heading)
        phase += 2 * np.pi * STRIDES * TICK
        swing = motion.swing * np.sin(phase)
        for tag, (forward, height) in enumerate(
            [
                (swing - length / 2, 0.1 + abs(swing) / 4),
                (-swing - length / 2, 0.1 + abs(swing) / 4),
                (length / 2, chest),
                (0.0, belt),
            ]
        ):
            places[tick, tag] = *(body + forward * along), height
    return places


def _turn(body: np.ndarray, heading: float) -> float:
    """By how much to turn in a tick: towards the middle of the room, where the body is far from it."""
    if np.hypot(*body) < ROOM:
        return 0.0
    return 0.6 * float(np.sin(np.arctan2(-body[1], -body[0]) - heading))
