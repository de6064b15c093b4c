"""The types of what the package uses of torchdiffeq, whose own code has none."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

def odeint(
    func: nn.Module,
    y0: Tensor,
    t: Tensor,
    *,
    rtol: float = ...,
    atol: float = ...,
    method: str | None = ...,
    options: Mapping[str, Any] | None = ...,
) -> Tensor: ...

odeint_adjoint = odeint
