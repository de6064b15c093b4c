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

    def departures(self) -> list[str]:
        own, theirs, texts = self.settings, self.published, []
        if own.metric != theirs.metric:
            texts.append(f"{words(own.metric)}, not {words(theirs.metric)}")
        if own.target != theirs.target:
            instead = "" if theirs.target is None else f", not {percent(theirs.target)}"
            texts.append(f"a target of {percent(own.target)}{instead}")
        return texts


def percent(fraction: float) -> str:
    """As exactly as the paper prints accuracies, without zeros at the end."""
    return f"{fraction * 100:.2f}".rstrip("0").rstrip(".") + " %"


def words(name: str) -> str:
    return name.replace("_", " ")


KIND = TimeToAccuracyTable
