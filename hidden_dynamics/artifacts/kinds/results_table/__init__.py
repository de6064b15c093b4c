"""A table of results: our numbers over seeds beside the published ones."""

from collections.abc import Iterator, Mapping

from hidden_dynamics.artifacts.base import Rows, RowsSettings
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.papers.published import published_task


class Settings(RowsSettings):
    """`extras`: whether models of the user's own on the same tasks and sizes are shown, too."""

    published: str
    extras: bool = True


class ResultsTable(Rows):
    Settings = Settings
    form = "table"
    summarised = True

    @property
    def with_extras(self) -> bool:
        return self.settings.extras

    def metrics(self) -> list[str]:
        return list(self.published.metrics)

    def metrics_on(self, task: str) -> list[str]:
        return self.published.metrics_on(published_task(self.configuration, task))

    def printed(self) -> Iterator[tuple[Cell, str]]:
        for cell in self.shown():
            for metric in self.metrics_on(cell.task):
                yield cell, metric

    def pairs(self) -> Iterator[tuple[Cell, Cell, str]]:
        for cell, metric in self.printed():
            baseline = cell._replace(model=self.published.baseline)
            if cell != baseline and None not in (self.number(cell, metric), self.number(baseline, metric)):
                yield cell, baseline, metric

    def rankings(self) -> Iterator[tuple[str, str, Mapping[Cell, float]]]:
        for task in self.settings.tasks:
            for metric in self.metrics_on(task):
                cells = [cell for cell in self.shown() if cell.task == task]
                numbers = {cell: self.number(cell, metric) for cell in cells}
                yield task, metric, {cell: number.value for cell, number in numbers.items() if number}


KIND = ResultsTable
