"""README.md: what was run, by which code, how to restore and redraw it, a list of tables and figures."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2

from hidden_dynamics.artifacts import Artifact
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.publication.command import command_of
from hidden_dynamics.results.departures import changed_words
from hidden_dynamics.results.rows import Row

TEMPLATES = Path(__file__).parent / "templates"


def text(template: str, **values: object) -> str:
    """A template of this package with its values; a value that is missing is a mistake."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=False,  # Markdown
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(values)


def readme(configuration: Configuration, runs: Sequence[Row], artifacts: Mapping[str, Artifact]) -> str:
    """
    Args:
        runs: the rows of runs.csv.
        artifacts: by their files in the publication, in the papers' order.
    """
    tasks: dict[str, list[Row]] = {}
    for run in runs:
        tasks.setdefault(run["task"], []).append(run)
    return text(
        "readme.md.j2",
        configuration=configuration,
        command=command_of(configuration),
        runs=runs,
        tasks=tasks,
        changed=lambda task: ", ".join(changed_words(configuration, [task])),
        seconds=sum(float(run["training_seconds"]) + float(run["evaluation_seconds"]) for run in runs),
        commits=Counter(run.get("commit") or "unknown" for run in runs),
        versions=[json.loads(versions) for versions in dict.fromkeys(run["versions"] for run in runs)],
        artifacts=artifacts,
    )
