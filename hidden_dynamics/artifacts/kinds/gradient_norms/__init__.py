"""Heat maps of the gradient with respect to the hidden state, over time step and iteration."""

from typing import Annotated

from pydantic import Field

from hidden_dynamics.artifacts.base import SideBySide, SideBySideSettings
from hidden_dynamics.configuration.runs import GRADIENTS
from hidden_dynamics.configuration.schema import Number


class Settings(SideBySideSettings):
    """`limits` are the paper's limits of colour."""

    limits: Annotated[list[Number], Field(min_length=2, max_length=2)]


class GradientNorms(SideBySide):
    Settings = Settings
    summarised = True
    run_files = (GRADIENTS,)
    with_extras = False  # the heat maps are of the paper's models alone


KIND = GradientNorms
