"""ODE-RNN (Rubanova et al. 2019): a state that flows by an ODE between union times and meets a GRU unit at rows."""
