"""The adding task (MomentumRNN, Section 3.3 and Appendix A.4): add the two marked numbers of a sequence.

At each of T steps the network sees a number and a marker; two markers are 1, one in each half, and the target is the
sum of the two numbers marked. Always answering 1 has the mean squared error 1/6: the variance of that sum.
"""

from pathlib import Path

import numpy as np
from pydantic import Field

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.data.streams import generator

VARIANCE = 1 / 6  # of the sum of two uniform numbers


def sample(rng: np.random.Generator, count: int, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw `count` sequences of `length` steps (T, at least 2).

    The appendix gives the markers' ranges as [1, T/2] and [T/2, T], which share an end; here, as in the code that it
    follows (IndRNN), the halves are disjoint.

    Returns:
        Values (count, T), float32, uniform on [0, 1); markers (count, 2), int64, the marked steps, the first uniform on
        0..T//2-1, the second on T//2..T-1; targets (count,), float32, the sum of the two values marked.
    """
    values = rng.random((count, length), dtype=np.float32)
    first = rng.integers(0, length // 2, size=count)
    second = rng.integers(length // 2, length, size=count)
    markers = np.stack([first, second], axis=1)
    targets = np.take_along_axis(values, markers, axis=1).sum(axis=1)
    return values, markers, targets


def inputs(values: np.ndarray, markers: np.ndarray) -> np.ndarray:
    """The network's input, (count, T, 2), float32: the values, and the markers as zeros and two ones."""
    marked = np.zeros_like(values)
    np.put_along_axis(marked, markers, 1, axis=1)
    return np.stack([values, marked], axis=2)


class Settings(Entry):
    length: int = Field(ge=2)  # T
    test_size: int = Field(ge=1)
    seed: int = Field(ge=0)


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """The test sequences: `test_values`, `test_markers` and `test_targets`, as `sample` gives them; `length` (), int64.

    Training sequences are drawn as training goes, from streams of their own.
    """
    chosen = typed(Settings, settings, "adding")
    values, markers, targets = sample(generator(chosen.seed, "adding", "test"), chosen.test_size, chosen.length)
    return {
        "test_values": values,
        "test_markers": markers,
        "test_targets": targets,
        "length": np.array(chosen.length, np.int64),
    }
