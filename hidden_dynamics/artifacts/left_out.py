"""What stands in the place of a table or figure whose data the user leaves out (`leave_out` in config.yaml)."""

from typing import Any

from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.artifacts.notes import scale_notes, title_of


def draw(artifact: Artifact) -> Any:
    """A table of its rows without a number, or a page without a picture, which say what is left out."""
    configuration = artifact.configuration
    about = f"{' and '.join(dict.fromkeys(configuration.left_out[task] for task in artifact.tasks()))} left out"
    if artifact.form == "table":
        from hidden_dynamics.artifacts.tables import Table  # pandas

        cells = dict.fromkeys(artifact.shown())
        rows = [{"Model": configuration.models[cell.model].label, "Ours": about} for cell in cells]
        records = [{"artifact": artifact.name, **cell._asdict(), "left_out": True} for cell in cells]
        return Table.of(f"{title_of(artifact)}: {about}", scale_notes(configuration), rows, records)
    from hidden_dynamics.artifacts.sheet import page  # matplotlib

    figure, body = page(artifact.settings, f"scale: {configuration.scale_name}", 6.8, 1.0, scale_notes(configuration))
    body.text(0.5, 0.5, about, ha="center", va="center", color="0.4", gid="nothing")
    return figure
