"""What a scale will cost, before anything is launched: a short calibration on a machine, and what follows from it."""
