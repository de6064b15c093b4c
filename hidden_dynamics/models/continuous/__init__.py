"""Continuous-time networks: initial value problems solved by torchdiffeq, and pairs of them that evolve together."""

from hidden_dynamics.errors import SolverFailure
from hidden_dynamics.models.continuous.attention import (
    FullyConnectedAttention,
    PairwiseRate,
    correlation,
    elementwise,
    pairwise,
)
from hidden_dynamics.models.continuous.co_evolving import CoEvolving
from hidden_dynamics.models.continuous.integral import FunctionEvaluations, Integral
from hidden_dynamics.models.solver import Solver

__all__ = [
    "CoEvolving",
    "FullyConnectedAttention",
    "FunctionEvaluations",
    "Integral",
    "PairwiseRate",
    "Solver",
    "SolverFailure",
    "correlation",
    "elementwise",
    "pairwise",
]
