"""The columns of measured features, a row for each run; who reads them need not import what measures them."""

COLUMNS = (
    *("scale", "task", "task_title", "model", "label", "size", "paper_size", "seed"),
    *("silhouette", "images", "dimensions", "status", "diverged_at", "failure", "weights", "settings"),
    *("dataset", "dataset_title", "stand_in_for", "data", "readings", "device", "precision", "measured_on"),
    *("directory", "fingerprint", "commit", "embeddings"),
)
