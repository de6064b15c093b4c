"""GRU-ODE-Bayes (De Brouwer et al. 2019): a state that flows by a continuous GRU and jumps at observations."""
