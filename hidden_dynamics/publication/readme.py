"""README.md: what was run, by which code, how to restore and redraw it, a list of tables and figures."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from hidden_dynamics.artifacts import Artifact, left_out_note
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.papers.deviations import changed_words
from hidden_dynamics.publication.command import command_of
from hidden_dynamics.results.rows import Row

TEMPLATES = Path(__file__).parent / "templates"


def readme(configuration: Configuration, runs: Sequence[Row], artifacts: Mapping[str, Artifact], found: str) -> str:
    """
    Args:
        runs: the rows of runs.csv.
        artifacts: by their files in the publication, in the papers' order.
        found: how many claims have which verdict; "" for none.
    """
    tasks: dict[str, list[Row]] = {}
    for run in runs:
        tasks.setdefault(run["task"], []).append(run)
    return filled(
        "readme.md.j2",
        configuration=configuration,
        command=command_of(configuration),
        runs=runs,
        tasks=tasks,
        changed={task: ", ".join(changed_words(configuration, [task])) for task in tasks},
        seconds=sum(float(run["training_seconds"]) + float(run["evaluation_seconds"]) for run in runs),
        commits=Counter(run["commit"] or "unknown" for run in runs),
        versions=[json.loads(versions) for versions in dict.fromkeys(run["versions"] for run in runs)],
        artifacts=artifacts,
        found=found,
        measured=any(artifact.measured for artifact in artifacts.values()),
        floors=any(artifact.floored for artifact in artifacts.values()),
        left_out=left_out_note(configuration),
    )


def filled(name: str, **values: object) -> str:
    """One of the publication's templates, filled in."""
    about: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    text = (TEMPLATES / name).read_text(encoding="utf-8")
    return jinja2.Template(text, undefined=jinja2.StrictUndefined, **about).render(**values)
