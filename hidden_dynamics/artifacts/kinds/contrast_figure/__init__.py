"""A figure of what momentum adds to the scale of the input: the table's differences in standard deviations."""

from hidden_dynamics.artifacts.kinds.contrast_table import ContrastTable


class ContrastFigure(ContrastTable):
    form = "figure"


KIND = ContrastFigure
