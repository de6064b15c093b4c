"""The papers' own numbers, read from published/."""

import math
from pathlib import Path
from typing import Any

from hidden_dynamics.configuration import ROOT, Configuration, read_yaml, validate

PUBLISHED = ROOT / "published"
UNITS = {"percent": 100.0, "one": 1.0}  # what a measured fraction is multiplied by
NOTHING = 1e-9  # a gap smaller than this is rounding


def load_published(name: str, directory: Path = PUBLISHED) -> dict[str, Any]:
    """The content of one published file, such as "momentumrnn/table1.yaml"; published/README.md gives the format.

    Raises:
        UserError: the file is missing, is not YAML or does not follow config/schemas/published.json.
    """
    content = read_yaml(directory / name)
    validate(content, "published", f"published/{name}")
    return content


def load_tasks(name: str, directory: Path = PUBLISHED) -> dict[str, dict[str, Any]]:
    """What is said about each task of the paper of file `name`: {task: {dataset, sizes, data, settings, notes}}."""
    rows = load_published(f"{Path(name).parent}/tasks.yaml", directory)["rows"]
    return {row["task"]: row for row in rows}


def published_task(configuration: Configuration, task: str) -> str:
    """The name under which published/ has the numbers of a configured task: `published_as`, or its own."""
    return configuration.tasks[task].get("published_as", task)


def row_of(
    published: dict[str, Any], model: str, size: int | str | None, task: str | None = None
) -> dict[str, Any] | None:
    """The published row of a model at a size (on a task), or None; a row that names no size holds for every size."""
    for row in published["rows"]:
        if row["model"] == model and row.get("size", size) == size and row.get("task", task) == task:
            return row
    return None


def ordering(gap: float, published_gap: float) -> str | None:
    """Whether our gap to the baseline has the published sign; None where there is nothing to hold it to."""
    if math.isnan(gap) or math.isnan(published_gap) or abs(published_gap) < NOTHING:
        return None
    if abs(gap) < NOTHING:
        return "tied"
    return "holds" if gap * published_gap > 0 else "fails"
