"""Networks as the papers write them: what the tasks train.

A constructor raises a ValueError where an argument is unknown or out of its range.
"""
