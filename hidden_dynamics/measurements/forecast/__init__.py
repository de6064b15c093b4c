"""The cost of a scale, before anything is launched: a short calibration on a machine, and what follows from it."""
