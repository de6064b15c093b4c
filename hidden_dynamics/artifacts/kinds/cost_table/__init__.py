"""A table of costs: time or memory per sample, measured on the machine at hand, beside the published ones."""

from collections.abc import Iterator
from typing import Annotated, Literal

from hidden_dynamics.artifacts.base import SideBySide, SideBySideSettings
from hidden_dynamics.configuration.reading import expecting
from hidden_dynamics.configuration.runs import Cell, Run


class Settings(SideBySideSettings):
    published: str
    quantity: Annotated[Literal["time", "memory"], expecting("time or memory")]


class MeasuredCosts(SideBySide):
    """Costs of models of one size on one task."""

    form = "table"
    measured = "costs"
    measured_by = ("task", "size", "models")

    def measured_runs(self) -> list[Run]:
        """The runs that are measured, as the first seed trains them."""
        seed = self.configuration.seeds[0]
        return [run for run in self.cell_runs if run.seed == seed]

    def metrics(self) -> list[str]:
        return list(self.published.quantities)

    def ratios(self) -> Iterator[tuple[Cell, Cell, str]]:
        for cell in self.shown():
            for quantity in self.metrics():
                if cell.model != self.published.baseline:
                    yield cell, cell._replace(model=self.published.baseline), quantity


class CostTable(MeasuredCosts):
    Settings = Settings

    @property
    def runs(self) -> list[Run]:
        return []  # they are measured, not trained


KIND = CostTable
