"""What a scale will cost, before anything is launched: a calibration on a machine, and what follows from it."""
