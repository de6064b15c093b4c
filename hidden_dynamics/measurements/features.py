"""What tables and figures of image features are measured from: which runs, and in which file's columns.

Nothing here imports a numerical library: the workflow reads it before it builds its graph.
"""

from hidden_dynamics.configuration import Configuration, first_alike
from hidden_dynamics.errors import UserError

KINDS = ("silhouette_table", "embedding")
COLUMNS = (
    *("scale", "task", "task_title", "model", "label", "size", "paper_size", "seed"),
    *("silhouette", "images", "dimensions", "status", "diverged_at", "failure", "weights", "settings"),
    *("dataset", "dataset_title", "stand_in_for", "readings", "device", "precision", "measured_on"),
    *("directory", "fingerprint", "embeddings"),
)


def measurement_of(configuration: Configuration, artifact: str) -> str:
    """The artifact whose measurement this one shares: the first of the same task, size, models and settings.

    Raises:
        UserError: the artifact shows no features.
    """
    kind = configuration.artifacts[artifact]["kind"]
    if kind not in KINDS:
        raise UserError(f"{artifact} shows no measured features (its kind is {kind}).")
    return first_alike(configuration, artifact, KINDS, ("task", "size", "models", "features"))
