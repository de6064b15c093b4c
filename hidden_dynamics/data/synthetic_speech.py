"""Synthetic speech: a generated stand-in for TIMIT that needs no network. Nobody says it, and it says nothing.

Spectrograms are drawn as such: vowels between pauses. What a recurrent network can learn from them is what it learns
from speech: levels that rise and fall, formants that persist and glide.
"""

import math
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.data import speech
from hidden_dynamics.data.streams import generator

# First three formants of men in Hz (Peterson and Barney, Control methods used in a study of the vowels, 1952).
VOWELS = np.array(
    [(270, 2290, 3010), (530, 1840, 2480), (660, 1720, 2410), (730, 1090, 2440), (570, 840, 2410), (300, 870, 2240)]
)
HERTZ = np.linspace(0, speech.RATE / 2, speech.BINS)
SILENCE = 10 * math.log10(speech.FLOOR)  # dB


class Settings(Entry):
    train: int = Field(ge=1)  # utterances
    validation: int = Field(ge=1)
    test: int = Field(ge=1)
    shortest: int = Field(ge=100)  # milliseconds: room for a syllable; durations are uniform from here to `longest`
    longest: int
    seed: int = Field(ge=0)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.longest < self.shortest:
            raise ValueError("expected longest to be at least shortest")
        return self


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """Draw utterances: what `speech.pack` gives for train, validation and test."""
    chosen = typed(Settings, settings, "synthetic_speech")
    splits: dict[str, list[np.ndarray]] = {}
    for split in ("train", "validation", "test"):
        streams = [generator(chosen.seed, "synthetic_speech", split, index) for index in range(getattr(chosen, split))]
        samples = [rng.integers(chosen.shortest, chosen.longest + 1) * speech.RATE // 1000 for rng in streams]
        lengths = [math.ceil(length / speech.HOP) + 3 for length in samples]
        splits[split] = [utterance(rng, length) for rng, length in zip(streams, lengths, strict=True)]
    return speech.pack(splits)


def utterance(rng: np.random.Generator, length: int) -> NDArray[np.float32]:
    """Levels of one utterance, in dB: (length, 129), with silence at both ends."""
    count = length // 5 + 1
    syllable = np.repeat(np.arange(count), rng.integers(5, 14, count))[:length]  # of each frame
    formants = np.stack([smooth(track, 7) for track in VOWELS[rng.integers(len(VOWELS), size=count)][syllable].T], 1)
    loudness = np.where(rng.random(count) < 0.7, rng.uniform(-30, -14, count), SILENCE)[syllable]
    loudness[:2] = loudness[-2:] = SILENCE
    resonances = 22 * np.exp(-(((HERTZ - formants[:, :, None]) / 350) ** 2)).max(1)
    voice = smooth(loudness, 3)[:, None] + resonances - HERTZ / 200
    power = 10 ** (voice / 10) * rng.gamma(4, 0.25, voice.shape)  # what windows catch of periods, shimmer and breath
    return (10 * np.log10(power + speech.FLOOR)).astype(np.float32)


def smooth(values: NDArray, width: int) -> NDArray:
    """A moving average of odd width under a Hann window; the ends are held."""
    window = np.hanning(width + 2)[1:-1]
    return np.convolve(np.pad(values, width // 2, mode="edge"), window / window.sum(), mode="valid")
