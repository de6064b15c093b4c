"""Image features in the plane, by t-SNE, one panel per model."""

from typing import Any

from hidden_dynamics.artifacts.kinds.silhouette_table import Featured


class Embedding(Featured):
    def draw(self, sources: Any) -> Any:
        from hidden_dynamics.artifacts.kinds.embedding import drawing  # matplotlib

        return drawing.embedding_figure(self, sources)


KIND = Embedding
