"""A table of the time that each model trains until it reaches an accuracy, beside the published times."""

from hidden_dynamics.artifacts.base import SideBySideSettings
from hidden_dynamics.artifacts.kinds.cost_table import MeasuredCosts
from hidden_dynamics.configuration.schema import Number


class Settings(SideBySideSettings):
    published: str
    metric: str
    target: Number


class TimeToAccuracyTable(MeasuredCosts):
    Settings = Settings
    summarised = True
    run_files = ("metrics.csv", "clock.csv")

    def chosen_metrics(self) -> list[str]:
        return [self.settings.metric]


KIND = TimeToAccuracyTable
