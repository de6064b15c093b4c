"""Grids over two hyperparameters, ours above the paper's."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings
from hidden_dynamics.configuration import Entry
from hidden_dynamics.configuration.reading import expecting, mistake
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.errors import UserError
from hidden_dynamics.papers.published import GridRow, published_task


class PanelSettings(Entry):
    task: str
    model: str
    rows: str
    columns: str
    metric: str
    colour_scale: Annotated[Literal["linear", "log"], expecting("linear (the default) or log")] = "linear"


class Settings(ArtifactSettings):
    published: str
    panels: Annotated[list[PanelSettings], Field(min_length=1)]


class Ablation(Artifact):
    Settings = Settings
    summarised = True
    with_extras = False  # the grids are of the paper's models alone
    ranked_as = "cells of the grid"

    def shown(self) -> list[Cell]:
        return [cell for panel in self.settings.panels for cell in self.cells_of(panel)]

    @property
    def panels(self) -> list[PanelSettings]:
        """Those of tasks that are not left out."""
        return [panel for panel in self.settings.panels if panel.task not in self.configuration.left_out]

    def cells_of(self, panel: PanelSettings) -> list[Cell]:
        task = self.configuration.tasks.get(panel.task)
        entry = task.models.get(panel.model) if task else None
        if entry is None or entry.grid is None:
            text = f"an ablation of {panel.model} on {panel.task} needs a grid in config/tasks.yaml."
            raise mistake(self.configured_at, text)
        return [Cell(panel.task, panel.model, size) for size in entry.run_sizes]

    def chosen_metrics(self) -> list[str]:
        return list(dict.fromkeys(panel.metric for panel in self.settings.panels))

    def metrics(self) -> list[str]:
        return self.chosen_metrics()

    def published_grid(self, panel: PanelSettings) -> GridRow:
        """
        Raises:
            UserError: the paper has no such grid.
        """
        task = published_task(self.configuration, panel.task)
        row = self.published.grid(task, panel.model, panel.metric)
        if row is None:
            raise UserError(
                f"published/{self.settings.published} has no grid of {panel.metric} for {panel.model} on {task}: "
                "add it there, or leave the panel out of config/artifacts.yaml.",
                file=f"published/{self.settings.published}",
            )
        return row

    def rankings(self) -> Iterator[tuple[str, str, Mapping[Cell, float]]]:
        for panel in self.settings.panels:
            grid = self.published_grid(panel)
            values = {
                Cell(panel.task, panel.model, f"{grid.row_name}{row}-{grid.column_name}{column}"): value
                for (row, column), value in grid.places().items()
            }
            configured = self.cells_of(panel)
            yield panel.task, panel.metric, {cell: value for cell, value in values.items() if cell in configured}


KIND = Ablation
