"""Training curves: a line per model with its band over seeds, panel by panel."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings, Models
from hidden_dynamics.configuration import Entry
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.configuration.schema import Number, Size, Whole

Limits = Annotated[list[Number], Field(min_length=2, max_length=2)]


class PanelSettings(Entry):
    """
    Attributes:
        window: points of a triangular moving average; of a curve shorter than ten windows, a tenth of its points.
        label: of the y axis; by default, the split's loss.
        note: what is to be known of this panel; it stands below its title.
    """

    task: str
    size: Size | None = None
    split: Literal["train", "validation", "test"]
    against: Literal["iteration", "epoch"]
    window: Whole = 1
    x_scale: Literal["linear", "log"]
    y_scale: Literal["linear", "log"]
    y_limits: Limits | None = None
    x_limits: Limits | None = None
    label: str | None = None
    note: str | None = None

    @model_validator(mode="after")
    def _train_losses_are_of_iterations(self) -> "PanelSettings":
        if self.split == "train" and self.against != "iteration":
            raise PydanticCustomError("against", "expected against: iteration, because a train loss is a minibatch's")
        return self


class Settings(ArtifactSettings):
    models: Models
    panels: Annotated[list[PanelSettings], Field(min_length=1)]


class Curves(Artifact):
    Settings = Settings
    summarised = True
    run_files = ("metrics.csv", "train_loss.npy")

    def shown(self) -> list[Cell]:
        return [Cell(panel.task, model, panel.size) for panel in self.settings.panels for model in self.settings.models]

    @property
    def panels(self) -> list[PanelSettings]:
        """Those of tasks that are not left out."""
        return [panel for panel in self.settings.panels if panel.task not in self.configuration.left_out]

    def printed(self) -> Iterator[tuple[Cell, str]]:
        """The final losses that the paper names."""
        for number in self.published.numbers if self.published else ():
            for panel in self.settings.panels:
                if number.task == panel.task:
                    yield Cell(number.task, number.model, panel.size), number.metric


KIND = Curves
