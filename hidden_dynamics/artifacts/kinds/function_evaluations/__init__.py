"""Function evaluations of the solvers while neural ODEs train, and the accuracy that they go with; in no paper."""

from hidden_dynamics.artifacts.base import Rows, RowsSettings


class FunctionEvaluations(Rows):
    Settings = RowsSettings
    summarised = True
    run_files = ("metrics.csv",)


KIND = FunctionEvaluations
