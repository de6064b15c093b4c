"""What a table of costs is measured from: which models, on which task, in which file's columns."""

from hidden_dynamics.configuration import Configuration, first_alike
from hidden_dynamics.errors import UserError
from hidden_dynamics.configuration.runs import Run, resolve

KINDS = ("cost_table", "time_to_accuracy_table")
TIMES = ("training_time", "evaluation_time")  # ms per sample
MEMORIES = ("training_memory", "evaluation_memory")  # MB (10^6 bytes) per sample
UNITS = {**dict.fromkeys(TIMES, "ms/sample"), **dict.fromkeys(MEMORIES, "MB/sample")}
COLUMNS = (
    *("task", "model", "label", "size", "paper_size", "quantity", "value", "unit"),
    *("ratio", "ratio_low", "ratio_high", "rounds", "batch", "steps", "samples_per_epoch"),
    *("device", "processor", "threads", "torch", "date", "scale"),
    *("dataset", "dataset_title", "stand_in_for", "readings", "precision"),
)


def measured_runs(configuration: Configuration, artifact: str) -> list[Run]:
    """The runs whose cost an artifact shows, as their first seed trains them: its models, then the user's own there.

    Raises:
        UserError: the artifact shows no costs, or a model that is not configured.
    """
    entry = _entry(configuration, artifact)
    task, size = entry["task"], entry.get("size")
    configured = configuration.tasks[task]["models"] if task in configuration.tasks else {}
    extra = [
        model
        for model, settings in configured.items()
        if settings.get("extra") and size in settings.get("sizes", [None])
    ]
    try:
        return [
            resolve(configuration, task, model, size, configuration.seeds[0]) for model in [*entry["models"], *extra]
        ]
    except UserError as error:
        raise UserError(f"config/artifacts.yaml: {artifact} shows what is not configured: {error}") from None


def measurement_of(configuration: Configuration, artifact: str) -> str:
    """The artifact whose measurement this one shares: the first of the same task, size and models."""
    _entry(configuration, artifact)  # it shows costs
    return first_alike(configuration, artifact, KINDS, ("task", "size", "models"))


def _entry(configuration: Configuration, artifact: str) -> dict:
    entry = configuration.artifacts[artifact]
    if entry["kind"] not in KINDS:
        raise UserError(f"{artifact} shows no measured costs (its kind is {entry['kind']}).")
    return entry
