"""The course of one test series, interpolated and extrapolated: observations, mean and band of samples; in no paper."""

from typing import Annotated

from pydantic import Field

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings, Models
from hidden_dynamics.configuration import known
from hidden_dynamics.configuration.runs import PREDICTIONS, Cell
from hidden_dynamics.configuration.schema import Names, Size


class Settings(ArtifactSettings):
    """`tasks` are a column of panels each, `features`, by their names in config/datasets.yaml, a row each."""

    tasks: Names
    models: Models
    size: Size | None = None
    features: Annotated[Names, Field(max_length=8)]


class SeriesCourses(Artifact):
    Settings = Settings
    summarised = True
    run_files = (PREDICTIONS,)
    with_extras = False  # bands of more than a few models hide each other

    def shown(self) -> list[Cell]:
        return [Cell(task, model, self.settings.size) for task in self.settings.tasks for model in self.settings.models]

    def check(self, where: str) -> None:
        super().check(where)
        for task in self.settings.tasks if where == self.configured_at else ():  # a scale's data have features too
            names = self.configuration.datasets[self.configuration.tasks[task].dataset].features
            for feature in self.settings.features:
                known(feature, names, "feature", f"{where}.features")


KIND = SeriesCourses
