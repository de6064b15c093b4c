"""The settings that a dataset's `prepare` takes, checked."""

from collections.abc import Mapping
from typing import Any

from hidden_dynamics.errors import UserError


def whole_numbers(dataset: str, settings: Mapping[str, Any], least: Mapping[str, int]) -> list[int]:
    """The values of `settings` in the order of `least`, which gives each one's smallest allowed value.

    Raises:
        UserError: a setting is missing, unknown, not a whole number or too small.
    """
    for name in settings:
        if name not in least:
            raise UserError(f"{dataset}: unknown setting {name!r}; known: {', '.join(least) or 'none'}")
    for name, smallest in least.items():
        if name not in settings:
            raise UserError(f"{dataset}: the setting {name!r} is missing")
        if type(settings[name]) is not int or settings[name] < smallest:
            raise UserError(
                f"{dataset}: the setting {name!r} must be a whole number >= {smallest}, found {settings[name]!r}"
            )
    return [settings[name] for name in least]
