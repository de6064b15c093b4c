"""An argument that is one of a few names, or a number in its range."""

import math
import numbers
from collections.abc import Collection

# Of arguments that a configuration sets: hidden_dynamics.configuration.constructors holds values to these ranges.
Whole = int  # 1 or more
Share = float  # in [0, 1)
Positive = float  # above 0


def one_of(name: str, value: str, known: Collection[str]) -> str:
    """The value; a ValueError where it is none of those known."""
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
    return value


def number(
    name: str, value: object, least: float = -math.inf, below: float = math.inf, above: float = -math.inf
) -> float:
    """The value, finite, in [least, below) and larger than `above`; a TypeError or ValueError where it is another."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, not {value!r}")
    numeric = float(value)
    if not (math.isfinite(numeric) and least <= numeric < below and numeric > above):
        bounds = {"at least": least, "below": below, "above": above}
        range_ = [f"{word} {bound:g}" for word, bound in bounds.items() if math.isfinite(bound)]
        raise ValueError(f"{name} must be {', '.join(['finite', *range_])}, not {value!r}")
    return numeric


def whole(name: str, value: object, least: int = 1) -> int:
    """The value, a whole number from `least` on; a TypeError or ValueError where it is another."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")
    return value
