from torchdiffeq._impl.rk_common import RKAdaptiveStepsizeODESolver
from torchdiffeq._impl.solvers import FixedGridODESolver

SOLVERS: dict[str, type[RKAdaptiveStepsizeODESolver] | type[FixedGridODESolver]]
