"""The format of a file of measured costs: a row for each model and quantity in each process.

Nothing here imports a numerical library. `hidden_dynamics.measurements.cost_measurement` measures.
"""

TIMES = ("training_time", "evaluation_time")  # per sample, in the units of config/metrics.yaml
MEMORIES = ("training_memory", "evaluation_memory")
COLUMNS = (
    *("task", "model", "label", "size", "paper_size", "quantity", "value", "unit"),
    *("process", "ratio", "rounds", "implementation", "reference_implementation"),
    *("batch", "steps", "samples_per_epoch"),
    *("device", "processor", "threads", "torch", "date", "scale"),
    *("dataset", "dataset_title", "stand_in_for", "variants", "precision"),
)
