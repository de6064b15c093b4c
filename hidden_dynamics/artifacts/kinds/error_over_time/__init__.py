"""Squared errors of forecasts over the time of what is predicted, and over row numbers, as the paper draws them."""

from hidden_dynamics.artifacts.base import SideBySide, SideBySideSettings
from hidden_dynamics.configuration.runs import PREDICTIONS


class ErrorOverTime(SideBySide):
    Settings = SideBySideSettings
    summarised = True
    run_files = (PREDICTIONS,)


KIND = ErrorOverTime
