"""Generated speech: frames that stand in for TIMIT and need no network. Nobody says them, and they say nothing.

Frames are drawn as the levels of a spectrogram, without a waveform: pulses of a voice (harmonics of a pitch that moves,
which fall with the frequency) and noise, through four formants that glide from sound to sound. What a recurrent network
can learn from them is what it learns from speech: levels that rise and fall, formants that persist and glide, and the
abrupt noise and closures of consonants, which nothing announces. No claim is made beyond that.
"""

from pathlib import Path
from typing import Self

import numpy as np
from pydantic import Field, model_validator

from hidden_dynamics.configuration.reading import Entry, typed
from hidden_dynamics.data import speech
from hidden_dynamics.data.streams import generator

BINS_PER_HERTZ = speech.WINDOW / speech.RATE
# First three formants of men in Hz (Peterson and Barney, Control methods used in a study of the vowels, 1952).
VOWELS = np.array([(270, 2290, 3010), (530, 1840, 2480), (730, 1090, 2440), (570, 840, 2410), (300, 870, 2240)], float)
WIDTHS = np.array([200.0, 220.0, 260.0])  # Hz, of formants as the window blurs them
SOUNDS = {"vowel": 0.6, "noise": 0.2, "silence": 0.2}  # how often each comes


class Settings(Entry):
    train: int = Field(ge=1)  # utterances
    validation: int = Field(ge=1)
    test: int = Field(ge=1)
    shortest: int = Field(ge=100)  # milliseconds; durations are uniform from here to `longest`
    longest: int
    seed: int = Field(ge=0)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.longest < self.shortest:
            raise ValueError("expected longest to be at least shortest")
        return self


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """What `speech.pack` gives for train, validation and test."""
    chosen = typed(Settings, settings, "synthetic_speech")
    splits: dict[str, list[np.ndarray]] = {}
    for split in ("train", "validation", "test"):
        streams = [generator(chosen.seed, "synthetic_speech", split, index) for index in range(getattr(chosen, split))]
        milliseconds = [rng.integers(chosen.shortest, chosen.longest + 1) for rng in streams]
        counts = [-(-int(each) * speech.RATE // (1000 * speech.HOP)) + 3 for each in milliseconds]
        splits[split] = [frames(rng, count) for rng, count in zip(streams, counts, strict=True)]
    return speech.pack(splits)


def frames(rng: np.random.Generator, count: int) -> np.ndarray:
    """An utterance of a speaker of its own, of which the first and the last frame are silent: (count, 129), float32."""
    voice, noise, place, formants = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros((count, 3))
    start, size = int(rng.integers(1, 5)), rng.uniform(0.95, 1.2)  # a shorter vocal tract has its formants higher
    formants[:] = size * VOWELS[rng.integers(len(VOWELS))]
    while start < count:
        end = start + int(rng.integers(4, 13))
        sound = rng.choice(list(SOUNDS), p=list(SOUNDS.values()))
        voice[start:end] = rng.uniform(0.5, 1.0) * (sound == "vowel")
        noise[start:end] = rng.uniform(0.1, 0.4) * (sound == "noise")
        place[start:], formants[start:] = rng.uniform(1500, 3700), size * VOWELS[rng.integers(len(VOWELS))]
        start = end
    glide, (voice, formants) = np.array([1, 2, 3, 2, 1]) / 9, (_smooth(each) for each in (voice, formants))
    pitch = rng.uniform(90, 220) * 2 ** np.convolve(rng.normal(size=count + 4), glide, "valid")[:, None]
    hertz = np.arange(speech.BINS) / BINS_PER_HERTZ
    resonances = sum(
        np.exp(-(((hertz - centre[:, None]) / width) ** 2)) for centre, width in zip(formants.T, WIDTHS, strict=True)
    )
    harmonics = 0.6 + 0.4 * np.cos(2 * np.pi * hertz / pitch)
    power = (voice[:, None] * harmonics * (0.05 + resonances)) ** 2 / (1 + (hertz / 400) ** 2) ** 1.25
    power += (noise[:, None] * np.exp(-(((hertz - place[:, None]) / 700) ** 2))) ** 2
    power *= 14 * 10 ** rng.uniform(-1.4, 0.8) * rng.gamma(8, 1 / 8, power.shape)  # loudness, and what is not steady
    power[[0, -1]] = 0
    return (10 * np.log10(speech.FLOOR + power + 2e-5 * (power > 0))).astype(np.float32)


def _smooth(values: np.ndarray) -> np.ndarray:
    """A moving average of five frames; the ends are held."""
    columns = values.reshape(len(values), -1).T
    averaged = [np.convolve(np.pad(column, 2, "edge"), np.ones(5) / 5, "valid") for column in columns]
    return np.stack(averaged, axis=1).reshape(values.shape)
