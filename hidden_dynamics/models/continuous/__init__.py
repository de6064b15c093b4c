"""Continuous-time networks: initial value problems solved by torchdiffeq, and pairs of them that evolve together."""
