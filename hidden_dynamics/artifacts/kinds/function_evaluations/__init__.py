"""Function evaluations of the solvers while neural ODEs train, and the accuracy that they go with; in no paper."""

from typing import Annotated, Any

from pydantic import Field

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings, Row, Tasks
from hidden_dynamics.configuration.runs import Cell


class Settings(ArtifactSettings):
    tasks: Tasks
    rows: Annotated[list[Row], Field(min_length=1)]


class FunctionEvaluations(Artifact):
    Settings = Settings
    summarised = True
    run_files = ("metrics.csv",)

    def shown(self) -> list[Cell]:
        return [Cell(task, row.model, row.size) for row in self.settings.rows for task in self.settings.tasks]

    def tasks(self) -> list[str]:
        return self.settings.tasks

    def draw(self, sources: Any) -> Any:
        from hidden_dynamics.artifacts.kinds.function_evaluations import drawing  # matplotlib

        return drawing.function_evaluations_figure(self, sources)


KIND = FunctionEvaluations
