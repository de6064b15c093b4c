"""Measurements beside the runs: costs, features of images, and the calibration of a forecast."""
