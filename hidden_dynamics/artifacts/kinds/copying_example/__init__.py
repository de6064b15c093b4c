"""The example of the copying task: input and output as rows of cells."""

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings
from hidden_dynamics.configuration.runs import Cell


class Settings(ArtifactSettings):
    task: str


class CopyingExample(Artifact):
    Settings = Settings
    origin = "It is drawn from the generated data itself."

    def shown(self) -> list[Cell]:
        return []

    def tasks(self) -> list[str]:
        return [self.settings.task]


KIND = CopyingExample
