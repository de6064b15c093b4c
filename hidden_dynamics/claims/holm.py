"""Holm's step-down adjustment (1979): the chance of any false verdict in a family stays below the level."""

from collections.abc import Sequence


def holm(p: Sequence[float]) -> list[float]:
    """The adjusted p values, in the order given: the i-th smallest of m is multiplied by m - i + 1, made monotone."""
    adjusted, running = [0.0] * len(p), 0.0
    for rank, index in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        running = max(running, min(1.0, (len(p) - rank) * p[index]))
        adjusted[index] = running
    return adjusted
