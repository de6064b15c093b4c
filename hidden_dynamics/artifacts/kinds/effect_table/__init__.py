"""A table of effects: a number of runs without a departure from the paper's text beside that of runs with it."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings, Models
from hidden_dynamics.configuration import Entry, known
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.configuration.schema import Size, Text


class Departure(Entry):
    """A departure.

    Attributes:
        departs: it, in a few words.
        task: whose runs have it.
        models: of which it can be said.
    """

    departs: Text
    task: str
    models: Models


class Settings(ArtifactSettings):
    """`without`: the task whose runs are without any of the departures."""

    metric: str
    size: Size | None = None
    without: str
    rows: Annotated[list[Departure], Field(min_length=1)]


class EffectTable(Artifact):
    Settings = Settings
    form = "table"
    summarised = True
    with_extras = False  # no departure is said of them

    def pairs_shown(self) -> Iterator[tuple[Departure, Cell, Cell]]:
        """(departure, the cell without it, the cell with it) of each row of the table."""
        size = self.settings.size
        for row in self.settings.rows:
            for model in row.models:
                yield row, Cell(self.settings.without, model, size), Cell(row.task, model, size)

    def shown(self) -> list[Cell]:
        return list(dict.fromkeys(cell for _, *cells in self.pairs_shown() for cell in cells))

    def check(self, where: str) -> None:
        known(self.settings.without, self.configuration.tasks, "task", f"{where}.without")
        super().check(where)

    def chosen_metrics(self) -> list[str]:
        return [self.settings.metric]


KIND = EffectTable
