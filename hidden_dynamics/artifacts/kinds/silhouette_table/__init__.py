"""A table of silhouette scores of image features: ours over seeds beside the published ones."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from hidden_dynamics.artifacts.base import SideBySide, SideBySideSettings
from hidden_dynamics.configuration import Entry
from hidden_dynamics.configuration.reading import expecting
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.configuration.schema import Positive, Whole


class FeatureSettings(Entry):
    """The features of images that are measured, and their clusters and maps."""

    layer: Annotated[
        Literal["pooled", "state"], expecting("pooled (what the last linear map sees) or state (all of h(1))")
    ]
    split: Annotated[Literal["test", "validation"], expecting("test or validation")]
    images: Whole
    standardise: bool
    clusters: Annotated[int, Field(ge=2), expecting("a whole number, 2 or more")]
    initialisations: Whole
    perplexity: Positive
    iterations: Annotated[int, Field(ge=250), expecting("a whole number, 250 (scikit-learn's least) or more")]
    embedded: Whole
    seed: Annotated[int, Field(ge=0, le=2**32 - 1), expecting("a whole number of 32 bits, 0 or more")]


class FeaturedSettings(SideBySideSettings):
    features: FeatureSettings


class Featured(SideBySide):
    """Image features of models of one size on one task."""

    Settings = FeaturedSettings
    measured = "features"
    measured_by = ("task", "size", "models", "features")


class Settings(FeaturedSettings):
    published: str


class SilhouetteTable(Featured):
    Settings = Settings
    form = "table"

    def metrics(self) -> list[str]:
        return ["silhouette"]

    def printed(self) -> Iterator[tuple[Cell, str]]:
        for cell in self.shown():
            yield cell, "silhouette"


KIND = SilhouetteTable
