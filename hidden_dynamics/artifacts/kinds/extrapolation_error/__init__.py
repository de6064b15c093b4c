"""Squared errors of extrapolated series by the hour (ACE-NODE, Figures 6 and 7)."""

from hidden_dynamics.artifacts.base import SideBySide, SideBySideSettings
from hidden_dynamics.configuration.runs import PREDICTIONS


class ExtrapolationError(SideBySide):
    Settings = SideBySideSettings
    summarised = True
    run_files = (PREDICTIONS,)


KIND = ExtrapolationError
