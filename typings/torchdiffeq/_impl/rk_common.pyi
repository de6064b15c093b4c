from typing import Any, NamedTuple

import torch
from torch import Tensor
from torchdiffeq._impl.solvers import Dynamics

class _RungeKuttaState(NamedTuple):
    y1: Tensor
    f1: Tensor
    t0: Tensor
    t1: Tensor
    dt: Tensor
    interp_coeff: list[Tensor]

class RKAdaptiveStepsizeODESolver:
    dtype: torch.dtype
    y0: Tensor
    rk_state: _RungeKuttaState
    def __init__(self, func: Dynamics, y0: Tensor, rtol: float, atol: float, **options: Any) -> None: ...
    def _before_integrate(self, t: Tensor) -> None: ...
    def _adaptive_step(self, rk_state: _RungeKuttaState) -> _RungeKuttaState: ...
