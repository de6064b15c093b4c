"""README.md (what was run, by which code, how to restore and redraw it, a list of tables and figures) and findings.md
(for each paper a table of what was found of its claims, and how much was compared beside them)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from hidden_dynamics.artifacts import Artifact, left_out_note
from hidden_dynamics.artifacts.tables import markdown_text
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.pages.findings import exploratory_sentence, findings_of
from hidden_dynamics.pages.sections import drawn_of, in_order
from hidden_dynamics.papers.deviations import changed_words, data_text, first_part
from hidden_dynamics.publication.command import command_of
from hidden_dynamics.results.record import RunRecord

TEMPLATES = Path(__file__).parent / "templates"


def readme(configuration: Configuration, runs: Sequence[RunRecord], artifacts: Mapping[str, Artifact]) -> str:
    """README.md; `artifacts` are by their files in the publication, in the papers' order."""
    tasks: dict[str, list[RunRecord]] = {}
    for run in runs:
        tasks.setdefault(run.task, []).append(run)
    return filled(
        "readme.md.j2",
        configuration=configuration,
        command=command_of(configuration),
        runs=runs,
        tasks=tasks,
        data={task: data_text(configuration, task_runs[0]) for task, task_runs in tasks.items()},
        changed={task: [first_part(configuration, task), *changed_words(configuration, [task])] for task in tasks},
        hours=_hours(runs),
        commits=Counter(run.commit or "unknown" for run in runs),
        versions=list({str(run.versions): run.versions for run in runs}.values()),
        artifacts=artifacts,
        measured=sorted({artifact.measured for artifact in artifacts.values() if artifact.measured}),
        floors=any(artifact.floored for artifact in artifacts.values()),
        left_out=left_out_note(configuration),
    )


def findings_page(configuration: Configuration, runs: Sequence[RunRecord], root: Path) -> str:
    """findings.md; `root` is where the results directory is, and the publications."""
    artifacts = in_order(configuration)
    questions = [one for one in artifacts if one.settings.kind == "forest" and not drawn_of(one, root).instead]
    return filled(
        "findings.md.j2",
        configuration=configuration,
        runs=runs,
        hours=_hours(runs),
        papers=findings_of(configuration, root),
        exploratory=exploratory_sentence(configuration, root),
        questions=questions,
        left_out=left_out_note(configuration),
        text=markdown_text,
    )


def _hours(runs: Sequence[RunRecord]) -> str:
    """The time of training and evaluation, by the runs' own clocks."""
    return f"{sum(sum(run.seconds.values()) for run in runs) / 3600:.2f} hours"


def filled(name: str, **values: object) -> str:
    about: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    text = (TEMPLATES / name).read_text(encoding="utf-8")
    return jinja2.Template(text, undefined=jinja2.StrictUndefined, **about).render(**values)
