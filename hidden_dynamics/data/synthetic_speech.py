"""Synthetic speech: a generated stand-in for TIMIT that needs no network. Nobody says it, and it says nothing.

A source and a filter, as in formant synthesis (Klatt, Software for a cascade/parallel formant synthesizer, 1980):
pulses of a glottis whose pitch moves, and noise, through resonances that glide from vowel to vowel. What a recurrent
network can learn from it is what it learns from speech: levels that rise and fall, harmonics that move slowly, formants
that persist and glide, and the abrupt noise and the closures of consonants, which nothing announces.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hidden_dynamics.data import speech
from hidden_dynamics.data.settings import whole_numbers
from hidden_dynamics.data.streams import generator
from hidden_dynamics.errors import UserError

STEP = 40  # samples (5 ms) from one setting of the filter to the next
TRANSFORM = 13 * STEP  # samples: a windowed piece of the source and the response after it, which fades in some 40 ms
FREQUENCIES = np.fft.rfftfreq(TRANSFORM, 1 / speech.RATE)

# First three formants of men in Hz (Peterson and Barney, Control methods used in a study of the vowels, 1952).
VOWELS = np.array(
    [
        (270, 2290, 3010),
        (390, 1990, 2550),
        (530, 1840, 2480),
        (660, 1720, 2410),
        (730, 1090, 2440),
        (570, 840, 2410),
        (440, 1020, 2240),
        (300, 870, 2240),
        (640, 1190, 2390),
        (490, 1350, 1690),
    ],
    float,
)
FOURTH = 3300.0  # Hz
BANDWIDTHS = np.array([60.0, 90.0, 150.0, 200.0])  # Hz, of the four formants
SHORTEST = 100  # milliseconds: room for a syllable


@dataclass
class Controls:
    """The course of source and filter, one row for every 5 ms: arrays (steps,) or, for `formants`, (steps, 4)."""

    voicing: np.ndarray  # amplitude of the pulses
    noise: np.ndarray  # amplitude of the noise
    place: np.ndarray  # Hz: where the noise has its peak
    formants: np.ndarray  # Hz
    pitch: np.ndarray  # Hz


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """Generate utterances and turn them into frames.

    Args:
        raw: not used: the speech is generated.
        settings: `train`, `validation`, `test` (numbers of utterances), `shortest`, `longest` (milliseconds; durations
            are uniform between them), `seed`.

    Returns:
        What `speech.pack` gives for train, validation and test.

    Raises:
        UserError: a setting is missing, unknown or out of range.
    """
    least = {"train": 1, "validation": 1, "test": 1, "shortest": SHORTEST, "longest": SHORTEST, "seed": 0}
    *counts, shortest, longest, seed = whole_numbers("synthetic_speech", settings, least)
    if longest < shortest:
        raise UserError(f"synthetic_speech: the setting 'longest' must be at least 'shortest', {shortest}: {longest}")
    splits: dict[str, list[np.ndarray]] = {}
    for split, count in zip(("train", "validation", "test"), counts, strict=True):
        streams = [generator(seed, "synthetic_speech", split, index) for index in range(count)]
        utterances = [sample(rng, rng.integers(shortest, longest + 1) * speech.RATE // 1000) for rng in streams]
        splits[split] = [speech.frames(samples, f"{split} {index}") for index, samples in enumerate(utterances)]
    return speech.pack(splits)


def sample(rng: np.random.Generator, length: int) -> np.ndarray:
    """One utterance of a speaker of its own: (length,), int16, at 8 kHz."""
    controls = draw_controls(rng, -(-length // STEP) + 1)
    breath = rng.normal(size=len(controls.pitch) * STEP)
    voiced = _pulses(rng, controls) + 0.02 * np.repeat(controls.voicing, STEP) * breath
    # A soft voice: flat from 100 to 300 Hz, then 6 dB and from 1200 Hz 12 dB per octave down; no constant flow.
    glottis = (1j * FREQUENCIES / 100) / np.prod([1 + 1j * FREQUENCIES / corner for corner in (100, 300, 1200)], axis=0)
    formants = _resonances(controls.formants, BANDWIDTHS)
    hiss = _resonances(controls.place[:, None], np.array([700.0])) * (1j * FREQUENCIES / 4000)
    waveform = _filtered(voiced, formants * glottis)
    waveform += _filtered(np.repeat(controls.noise, STEP) * breath, hiss)
    loudness = 10 ** rng.uniform(-0.4, 0.2)  # 12 dB from the quietest utterance to the loudest
    room = 3e-4 * rng.normal(size=len(waveform))
    return np.rint(32767 * np.tanh(0.3 * loudness * waveform + room)).astype(np.int16)[:length]


def draw_controls(rng: np.random.Generator, steps: int) -> Controls:
    """Draw what a speaker says in `steps` steps: syllables (a consonant or none, one or two vowels) and pauses."""
    controls = Controls(np.zeros(steps), np.zeros(steps), np.full(steps, 2500.0), np.zeros((steps, 4)), np.zeros(steps))
    tract = rng.uniform(0.95, 1.2)  # a shorter vocal tract has its formants higher
    targets = tract * np.column_stack([VOWELS, np.full(len(VOWELS), FOURTH)])
    vowel = rng.integers(len(VOWELS))
    controls.formants[:] = targets[vowel]
    start = _steps(rng, 30, 80)
    while start < steps:
        start = _consonant(rng, controls, start)
        for _ in range(rng.integers(1, 3)):
            vowel, end = rng.integers(len(VOWELS)), start + _steps(rng, 80, 220)
            controls.formants[start:] = targets[vowel]
            controls.voicing[start:end] = rng.uniform(0.6, 1.0)
            start = end
        if rng.random() < 0.25:
            start += _steps(rng, 60, 200)
    closing = steps - min(_steps(rng, 30, 80), steps // 4)
    controls.voicing[closing:] = controls.noise[closing:] = 0.0
    controls.voicing, controls.noise = _smooth(controls.voicing, 7), _smooth(controls.noise, 3)
    controls.formants = np.column_stack([_smooth(formant, 15) for formant in controls.formants.T]).clip(200, 3800)
    controls.pitch = _pitch(rng, steps)
    return controls


def _consonant(rng: np.random.Generator, controls: Controls, start: int) -> int:
    """Begin a syllable with a fricative, a stop or neither; the step at which its vowel starts."""
    kind = rng.choice(["fricative", "stop", "none"])
    controls.place[start:] = rng.uniform(1500, 3700)
    if kind == "fricative":
        end = start + _steps(rng, 50, 130)
        controls.noise[start:end] = rng.uniform(0.02, 0.12)
        return end
    if kind == "stop":
        release = start + _steps(rng, 30, 80)
        end = release + _steps(rng, 10, 30)
        controls.noise[release:end] = rng.uniform(0.05, 0.25)
        return end
    return start


def _pitch(rng: np.random.Generator, steps: int) -> np.ndarray:
    """A speaker's pitch, in Hz: it falls in the course of an utterance, with accents and, faster, jitter."""
    base = 10 ** rng.uniform(np.log10(90), np.log10(220))
    octaves = np.linspace(0.15, -0.15, steps) + 0.6 * _smooth(rng.normal(size=steps), 61)
    return base * 2 ** (octaves + 0.01 * rng.normal(size=steps))


def _pulses(rng: np.random.Generator, controls: Controls) -> np.ndarray:
    """A pulse for each period, with shimmer: (steps * STEP,). Between two samples, both have a share of it."""
    periods = np.cumsum(np.repeat(controls.pitch, STEP)) / speech.RATE
    times = np.interp(np.arange(1, int(periods[-1])), periods, np.arange(len(periods)))
    amplitudes = controls.voicing[(times // STEP).astype(int)] * (1 + 0.1 * rng.normal(size=len(times)))
    source = np.zeros(len(periods) + 1)
    before = times.astype(int)
    np.add.at(source, before, amplitudes * (before + 1 - times))
    np.add.at(source, before + 1, amplitudes * (times - before))
    return source[:-1]


def _resonances(centres: np.ndarray, bandwidths: np.ndarray) -> np.ndarray:
    """Frequency response of resonators of second order, one after another, with gain 1 at 0 Hz.

    Args:
        centres: (steps, resonators), Hz.
        bandwidths: (resonators,), Hz.

    Returns:
        (steps, frequencies), complex.
    """
    radius = np.exp(-np.pi * bandwidths / speech.RATE)
    first, second = 2 * radius * np.cos(2 * np.pi * centres / speech.RATE), radius**2
    delay = np.exp(-2j * np.pi * FREQUENCIES / speech.RATE)[:, None]
    response = (1 - first + second)[:, None] / (1 - first[:, None] * delay + second * delay**2)
    return response.prod(axis=2)


def _filtered(source: np.ndarray, responses: np.ndarray) -> np.ndarray:
    """`source` through a filter that moves: pieces of two steps under a Hann window, filtered each, and added up.

    Args:
        source: (steps * STEP,).
        responses: (steps, frequencies).

    Returns:
        As long as `source`.
    """
    steps = len(responses)
    padded = np.concatenate([source, np.zeros(STEP)]).reshape(steps + 1, STEP)
    window = np.sin(np.pi * (np.arange(2 * STEP) + 0.5) / (2 * STEP)) ** 2
    pieces = np.fft.irfft(np.fft.rfft(np.hstack([padded[:-1], padded[1:]]) * window, TRANSFORM) * responses, TRANSFORM)
    blocks = pieces.reshape(steps, -1, STEP)
    total = np.zeros((steps + blocks.shape[1], STEP))
    for delay in range(blocks.shape[1]):
        total[delay : delay + steps] += blocks[:, delay]
    return total[:steps].reshape(-1)


def _smooth(values: np.ndarray, width: int) -> np.ndarray:
    """A moving average of odd width under a Hann window; the ends are held."""
    window = np.hanning(width + 2)[1:-1]
    return np.convolve(np.pad(values, width // 2, mode="edge"), window / window.sum(), mode="valid")


def _steps(rng: np.random.Generator, shortest: int, longest: int) -> int:
    """A duration in steps, uniform between two in milliseconds."""
    return round(rng.uniform(shortest, longest) * speech.RATE / 1000 / STEP)
