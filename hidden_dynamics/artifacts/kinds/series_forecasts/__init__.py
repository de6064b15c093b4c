"""Forecasts of a few test series: observations, predicted mean and band; in no paper."""

from typing import Annotated

from pydantic import Field

from hidden_dynamics.artifacts.base import SideBySide, SideBySideSettings
from hidden_dynamics.configuration.reading import expecting, mistake
from hidden_dynamics.configuration.runs import PREDICTIONS
from hidden_dynamics.configuration.schema import Different

Feature = Annotated[int, Field(ge=0), expecting("the number of a feature, 0 or more")]


class Settings(SideBySideSettings):
    """`features` are the numbers of the features shown, a row of panels each."""

    features: Annotated[list[Feature], Field(min_length=1), Different]


class SeriesForecasts(SideBySide):
    Settings = Settings
    summarised = True
    run_files = (PREDICTIONS,)
    with_extras = False  # bands of more than a few models hide each other

    def check(self, where: str) -> None:
        super().check(where)
        dataset = self.configuration.tasks[self.settings.task].dataset
        names = self.configuration.datasets[dataset].features
        other = [number for number in self.settings.features if number >= len(names)]
        if names and other and where == self.configured_at:  # a scale's data have features of their own
            text = f"there is no feature {other[0]}: {dataset} has {len(names)}, from 0 on: {', '.join(names)}"
            raise mistake(f"{where}.features", text)


KIND = SeriesForecasts
