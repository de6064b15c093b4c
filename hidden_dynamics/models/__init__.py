"""Networks as the papers write them: what the tasks are given to train.

A constructor raises a ValueError where an argument is unknown or out of its range.
"""
