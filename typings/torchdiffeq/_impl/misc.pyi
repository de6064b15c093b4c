from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn
from torchdiffeq._impl.solvers import Dynamics

def _check_inputs(
    func: nn.Module,
    y0: Tensor,
    t: Tensor,
    rtol: float,
    atol: float,
    method: str,
    options: Mapping[str, Any],
    event_fn: None,
    SOLVERS: Mapping[str, Any],
) -> tuple[None, Dynamics, Tensor, Tensor, float, float, str, dict[str, Any], None, bool]: ...
