"""Synthetic speech: a generated stand-in for TIMIT that needs no network. Nobody says it, and it says nothing.

Spectrograms are drawn as such: syllables of a consonant or none and a vowel, between pauses. What a recurrent network
can learn from them is what it learns from speech: levels that rise and fall, formants that persist and glide, harmonics
that move slowly, and the abrupt noise of consonants, which nothing announces.
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
    """Levels of one utterance of a speaker of its own, in dB: (length, 129), with silence at both ends."""
    loudness = np.full((length, 2), SILENCE)  # of the voice, and of a consonant's noise
    formants, place = np.empty((length, 3)), np.full(length, 2500.0)  # Hz
    start, vowel = 2, rng.integers(len(VOWELS))
    formants[:] = VOWELS[vowel]
    while start < length - 2:
        consonant, syllable = rng.integers(0, 9), rng.integers(5, 14)  # frames
        loudness[start : start + consonant, 1] = rng.uniform(-36, -22)
        place[start:] = rng.uniform(1500, 3700)
        start += consonant
        formants[start:] = VOWELS[rng.integers(len(VOWELS))]
        loudness[start : start + syllable, 0] = rng.uniform(-30, -14)
        start += syllable + (rng.integers(4, 13) if rng.random() < 0.5 else 0)
    loudness[-2:] = SILENCE
    tract = rng.uniform(0.95, 1.2)  # a shorter vocal tract has its formants higher
    formants = tract * np.stack([smooth(track, 7) for track in formants.T], 1)
    pitch = rng.uniform(90, 220) * 2 ** (0.6 * smooth(rng.normal(size=length), 31))
    resonances = 22 * np.exp(-(((HERTZ - formants[:, :, None]) / 350) ** 2)).max(1)
    harmonics = 4 * np.cos(2 * np.pi * HERTZ / pitch[:, None])
    voice = smooth(loudness[:, 0], 3)[:, None] + resonances + harmonics - HERTZ / 200
    hiss = loudness[:, 1][:, None] + 8 * np.exp(-(((HERTZ - place[:, None]) / 900) ** 2)) - 5
    power = 10 ** (voice / 10) + rng.exponential(size=voice.shape) * 10 ** (hiss / 10)
    power *= rng.gamma(4, 0.25, voice.shape)  # what windows catch of periods, shimmer and breath
    return (10 * np.log10(power + speech.FLOOR)).astype(np.float32)


def smooth(values: NDArray, width: int) -> NDArray:
    """A moving average of odd width under a Hann window; the ends are held."""
    window = np.hanning(width + 2)[1:-1]
    return np.convolve(np.pad(values, width // 2, mode="edge"), window / window.sum(), mode="valid")
