"""Forecasts of sporadically observed series (ACE-NODE, Table 6): GRU-ODE-Bayes, and what it is compared with."""
