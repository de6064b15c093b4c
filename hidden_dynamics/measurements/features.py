"""What a file of measured image features has: a row for each run.

Nothing here imports a numerical library. `hidden_dynamics.measurements.feature_measurement` measures.
"""

COLUMNS = (
    *("scale", "task", "task_title", "model", "label", "size", "paper_size", "seed"),
    *("silhouette", "images", "dimensions", "status", "diverged_at", "failure", "weights", "settings"),
    *("dataset", "dataset_title", "stand_in_for", "data", "readings", "device", "precision", "measured_on"),
    *("directory", "fingerprint", "embeddings"),
)
