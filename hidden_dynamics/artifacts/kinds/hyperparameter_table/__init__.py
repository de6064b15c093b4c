"""A table of hyperparameters: the configured values of a scale beside the published ones."""

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings, Models
from hidden_dynamics.configuration import known
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.configuration.schema import Names


class Settings(ArtifactSettings):
    """`tasks`: those shown; null: all that the models are trained on."""

    published: str
    models: Models
    tasks: Names | None = None


class HyperparameterTable(Artifact):
    Settings = Settings
    form = "table"
    origin = "The numbers are the configuration's (config/tasks.yaml, config/models.yaml, the scale)."

    def shown(self) -> list[Cell]:
        return []

    def check(self, where: str) -> None:
        for model in self.settings.models:
            known(model, self.configuration.models, "model", where)
        for task in self.settings.tasks or ():
            known(task, self.configuration.tasks, "task", where)


KIND = HyperparameterTable
