"""The settings that a dataset's `prepare` takes, checked."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from hidden_dynamics.errors import UserError


def whole_numbers(dataset: str, settings: Mapping[str, Any], least: Mapping[str, int]) -> list[int]:
    """The values of `settings` in the order of `least`, which gives each one's smallest allowed value.

    Raises:
        UserError: a setting is missing, unknown, not a whole number or too small.
    """
    for name in settings:
        if name not in least:
            raise UserError(f"{dataset}: unknown setting {name!r}; known: {', '.join(least) or 'none'}", key=name)
    for name, smallest in least.items():
        if name not in settings:
            raise UserError(f"{dataset}: the setting {name!r} is missing", key=name)
        if type(settings[name]) is not int or settings[name] < smallest:
            raise UserError(
                f"{dataset}: the setting {name!r} must be a whole number >= {smallest}, found {settings[name]!r}",
                key=name,
            )
    return [settings[name] for name in least]


def with_defaults(dataset: str, settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """`defaults`, changed as `settings` say.

    Args:
        defaults: each a whole number, a number (a float), a text, or a list of texts or of numbers: what a setting
            must be, too.

    Raises:
        UserError: a setting is unknown or of another kind.
    """
    for name, value in settings.items():
        if name not in defaults:
            raise UserError(f"{dataset}: unknown setting {name!r}; known: {', '.join(defaults)}", key=name)
        kind, fits = _kind(defaults[name])
        if not fits(value):
            raise UserError(f"{dataset}: the setting {name!r} must be {kind}, found {value!r}", key=name)
    return {**defaults, **settings}


def within(dataset: str, settings: Mapping[str, Any], name: str, least: float, most: float = math.inf) -> None:
    """Refuse a number, or a list with one, that is out of range.

    Raises:
        UserError: it is below `least` or above `most`.
    """
    values = settings[name] if isinstance(settings[name], list) else [settings[name]]
    if not all(least <= value <= most for value in values):
        most_too = "" if most == math.inf else f" and <= {most:g}"
        raise UserError(
            f"{dataset}: the setting {name!r} must be >= {least:g}{most_too}, found {settings[name]}", key=name
        )


def _kind(default: Any) -> tuple[str, Callable[[Any], bool]]:
    if isinstance(default, list):
        kind, fits = _kind(default[0])
        return f"a list, each {kind}", lambda value: isinstance(value, list) and bool(value) and all(map(fits, value))
    if isinstance(default, str):
        return "a text", lambda value: isinstance(value, str)
    if isinstance(default, int):
        return "a whole number", lambda value: type(value) is int
    return "a number", lambda value: type(value) in (int, float) and math.isfinite(value)
