"""Rounding of numbers that are recorded to be drawn alone."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

BITS = 11  # of a mantissa


def rounded(values: ArrayLike) -> NDArray:
    """The values as float32 with 11 significant bits, three digits: a quarter of the bytes once they are packed."""
    mantissa, exponent = np.frexp(np.asarray(values, np.float64))
    return np.ldexp(np.round(mantissa * 2**BITS) / 2**BITS, exponent).astype(np.float32)
