"""Image features in the plane, by t-SNE, one panel per model."""

from hidden_dynamics.artifacts.kinds.silhouette_table import Featured


class Embedding(Featured):
    """A figure of image features, which asks for nothing more than they do."""


KIND = Embedding
