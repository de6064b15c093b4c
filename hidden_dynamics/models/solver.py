"""The solver of an initial value problem. Figures read its settings too, so nothing here imports torch."""

from dataclasses import dataclass
from typing import Literal, TypedDict, get_args

from hidden_dynamics.models.choices import Positive, Whole

Adaptive = Literal["dopri8", "dopri5", "bosh3", "fehlberg2", "adaptive_heun"]
Fixed = Literal["euler", "midpoint", "heun2", "heun3", "rk4"]
ADAPTIVE, FIXED = get_args(Adaptive), get_args(Fixed)


class SolverSettings(TypedDict, total=False):
    method: Adaptive | Fixed
    rtol: Positive
    atol: Positive
    adjoint: bool
    max_steps: Whole
    step_size: Positive | None
    min_step: Positive | None


@dataclass(frozen=True)
class Solver:
    """The settings with which an initial value problem is solved.

    Attributes:
        method: of torchdiffeq: adaptive ("dopri5", ...) or with fixed steps ("rk4", ...). Not "scipy_solver", which
            tells nobody of its steps: no budget would stop it, and no failure have a place.
        rtol, atol: relative and absolute tolerance of a step's error, forwards and backwards.
        adjoint: gradients from the adjoint problem, solved backwards in memory that does not depend on the number of
            steps (Chen et al. 2018); otherwise by backpropagation through the solver.
        max_steps: the step budget of one solution, forwards and again backwards; rejected steps count.
        step_size: of a method with fixed steps: the fewest equal steps of at most this, 1e-7 or more; None is one step.
        min_step: of an adaptive method: the shortest step, which is taken whatever its error; None: a step that gets
            too short for the precision of time is a `SolverFailure`.

    Raises:
        ValueError: a value is unknown or out of its range.
    """

    method: str = "dopri5"
    rtol: float = 1e-5
    atol: float = 1e-5
    adjoint: bool = True
    max_steps: int = 1000
    step_size: float | None = None
    min_step: float | None = None

    def __post_init__(self) -> None:
        if self.method not in ADAPTIVE + FIXED:
            raise ValueError(f"the solver's method must be one of {', '.join(ADAPTIVE + FIXED)}, not {self.method!r}")
        if not (self.rtol > 0 and self.atol > 0):
            raise ValueError(f"the solver's tolerances must be above 0, not rtol {self.rtol} and atol {self.atol}")
        if type(self.max_steps) is not int or self.max_steps < 1:
            raise ValueError(f"the solver's max_steps must be a whole number above 0, not {self.max_steps!r}")
        if self.step_size is not None and (self.method in ADAPTIVE or not 1e-7 <= self.step_size <= 1):
            raise ValueError("the solver's step_size must lie in [1e-7, 1], and is for methods with fixed steps alone")
        if self.min_step is not None and (self.method in FIXED or not 0 < self.min_step <= 1):
            raise ValueError("the solver's min_step must lie in (0, 1], and is for adaptive methods alone")
