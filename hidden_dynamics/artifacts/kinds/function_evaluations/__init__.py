"""Function evaluations of the solvers while neural ODEs train, and the accuracy that they go with; in no paper."""

from typing import Any

from hidden_dynamics.artifacts.base import Rows, RowsSettings


class FunctionEvaluations(Rows):
    Settings = RowsSettings
    summarised = True
    run_files = ("metrics.csv",)

    def draw(self, sources: Any) -> Any:
        from hidden_dynamics.artifacts.kinds.function_evaluations import drawing  # matplotlib

        return drawing.function_evaluations_figure(self, sources)


KIND = FunctionEvaluations
