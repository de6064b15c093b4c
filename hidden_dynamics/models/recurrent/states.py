"""States of recurrent cores: nested tuples of tensors, and of numbers that count steps."""

from collections.abc import Callable
from typing import Any

from torch import Tensor


def map_tensors(function: Callable[[Tensor], Tensor], value: Any) -> Any:
    """`value` with `function` of every tensor in it; tuples are gone through, anything else stays."""
    if isinstance(value, tuple):
        return tuple(map_tensors(function, item) for item in value)
    return function(value) if isinstance(value, Tensor) else value
