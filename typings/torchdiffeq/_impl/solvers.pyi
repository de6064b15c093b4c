from collections.abc import Callable
from typing import Any, Protocol

from torch import Tensor

class Dynamics(Protocol):
    def __call__(self, t: Tensor, y: Tensor) -> Tensor: ...
    def callback_step(self, t0: Tensor, y0: Tensor, dt: Tensor) -> None: ...

class FixedGridODESolver:
    func: Dynamics
    y0: Tensor
    grid_constructor: Callable[[Dynamics, Tensor, Tensor], Tensor]
    def __init__(self, func: Dynamics, y0: Tensor, rtol: float, atol: float, **options: Any) -> None: ...
    def _step_func(self, func: Dynamics, t0: Tensor, dt: Tensor, t1: Tensor, y0: Tensor) -> tuple[Tensor, Tensor]: ...
