"""Independent reproducible random streams, named by a seed and a path of names and counters."""

import hashlib
import json
import operator

import numpy as np


def generator(seed: int, *path: str | int) -> np.random.Generator:
    """The random stream at `path` under `seed`: `generator(3, "train", 1201)` is batch 1201 of run 3.

    Different paths give independent streams and the same path always the same one. No state is kept between calls, so a
    training that is resumed finds the batch it would have drawn. The name "1" and the number 1 are different steps.
    """
    steps = [step if isinstance(step, str) else int(operator.index(step)) for step in (operator.index(seed), *path)]
    # Python's hash() of text differs from process to process; SHA-256 does not. PCG64 is named because what
    # numpy.random.default_rng returns may change.
    entropy = int.from_bytes(hashlib.sha256(json.dumps(steps).encode()).digest(), "big")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy)))
