"""Momentum as a filter on the input: filters, and the linear recurrences that they are made of."""
