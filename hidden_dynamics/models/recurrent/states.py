"""States of recurrent cores: nested tuples of tensors, and of numbers that count steps."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def map_tensors(function: Callable[[Tensor], Tensor], value: Any) -> Any:
    """`value` with `function` of every tensor in it; tuples are gone through, anything else stays."""
    if isinstance(value, tuple):
        return tuple(map_tensors(function, item) for item in value)
    return function(value) if isinstance(value, Tensor) else value


def described(value: Any) -> str:
    """Shape, type and device of every tensor in it; the class of anything else but a tuple."""
    if isinstance(value, tuple):
        return f"({', '.join(map(described, value))})"
    return f"{tuple(value.shape)} {kind(value)}" if isinstance(value, Tensor) else type(value).__name__


def kind(tensor: Tensor) -> str:
    """Its type and device; the device alone where autocast gives it another type."""
    device, floats = tensor.device, tensor.is_floating_point()
    casts = floats and torch.amp.is_autocast_available(device.type) and torch.is_autocast_enabled(device.type)
    return f"on {device}" if casts else f"{tensor.dtype} on {device}"
