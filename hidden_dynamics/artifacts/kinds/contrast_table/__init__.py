"""A table of what momentum adds to the scale of the input: a plain core, its control with mu = 0, and the filter."""

from collections.abc import Iterator
from typing import Annotated, NamedTuple

from pydantic import Field

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings
from hidden_dynamics.configuration import Entry
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.configuration.schema import Size


class Contrasts(Entry):
    """The filters of one core on a task.

    Attributes:
        plain: the core without a filter.
        controls: {model with a filter: its control, which has its s and no momentum}. Where s = 1 that is `plain`.
    """

    task: str
    metric: str
    size: Size
    plain: str
    controls: Annotated[dict[str, str], Field(min_length=1)]


class Settings(ArtifactSettings):
    rows: Annotated[list[Contrasts], Field(min_length=1)]


class Contrast(NamedTuple):
    """The cells of one row, and the metric in which they are compared."""

    plain: Cell
    control: Cell
    filter: Cell
    metric: str


class ContrastTable(Artifact):
    Settings = Settings
    form = "table"
    summarised = True
    with_extras = False  # they have no control

    def contrasts(self) -> Iterator[Contrast]:
        """Those of tasks that are not left out."""
        for row in self.settings.rows:
            if row.task not in self.configuration.left_out:
                for model, control in row.controls.items():
                    yield Contrast(
                        *(Cell(row.task, name, row.size) for name in (row.plain, control, model)), row.metric
                    )

    def shown(self) -> list[Cell]:
        models = [
            (row, name) for row in self.settings.rows for pair in row.controls.items() for name in (row.plain, *pair)
        ]
        return list(dict.fromkeys(Cell(row.task, name, row.size) for row, name in models))

    def chosen_metrics(self) -> list[str]:
        return [row.metric for row in self.settings.rows]


KIND = ContrastTable
