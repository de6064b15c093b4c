"""The settings of measured features; what measures is not imported for them."""

from typing import Annotated, Literal

from pydantic import Field

from hidden_dynamics.configuration import Entry
from hidden_dynamics.configuration.schema import Positive, Whole


class FeatureSettings(Entry):
    """The features of the first `images` of a split; their k-means; a t-SNE of the first `embedded` of them."""

    layer: Literal["pooled", "state"]
    split: Literal["test", "validation"]
    images: Whole
    standardise: bool
    clusters: Annotated[int, Field(ge=2)]
    initialisations: Whole
    perplexity: Positive
    iterations: Annotated[int, Field(ge=250)]
    embedded: Whole
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)]
