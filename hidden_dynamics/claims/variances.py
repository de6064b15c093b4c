"""The F test of two variances; exact for normal values, and sensitive where they are not."""

from collections.abc import Sequence

import numpy as np
from scipy.special import fdtr, fdtri


def variance_ratio(
    subject: Sequence[float], reference: Sequence[float], level: float
) -> tuple[float, float, float, float] | None:
    """Ratio of the subject's variance to the reference's, its interval (low, high) and two-sided p for 1.

    None where a side has no spread.

    Raises:
        ValueError: a side has fewer than two values.
    """
    if min(len(subject), len(reference)) < 2:
        raise ValueError(f"two values on each side are needed, found {len(subject)} and {len(reference)}")
    one, other = (float(np.var(values, ddof=1)) for values in (subject, reference))
    if one == 0 or other == 0:
        return None
    degrees, ratio = (len(subject) - 1, len(reference) - 1), one / other
    tail = float(fdtr(*degrees, ratio))
    low, high = (float(fdtri(*degrees, p)) for p in ((1 + level) / 2, (1 - level) / 2))
    return ratio, ratio / low, ratio / high, 2 * min(tail, 1 - tail)
