"""Recurrent cells: each takes an input filter (hidden_dynamics.models.momentum.filters)."""
