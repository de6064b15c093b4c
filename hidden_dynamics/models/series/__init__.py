"""What GRU-ODE-Bayes is compared with on irregular time series (ACE-NODE, Table 6), each from its own paper."""
