"""An argument that is one of a few names."""

from collections.abc import Collection


def one_of(name: str, value: str, known: Collection[str]) -> str:
    """The value.

    Raises:
        ValueError: it is none of those known.
    """
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
    return value
