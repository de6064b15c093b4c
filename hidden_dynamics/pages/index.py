"""The page: everything of a scale, from its finished results."""

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from hidden_dynamics.artifacts import left_out_note, load_artifacts
from hidden_dynamics.artifacts.notes import scale_notes
from hidden_dynamics.claims import multiplicity
from hidden_dynamics.claims.verdict import counts
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.pages import claims_list
from hidden_dynamics.pages.sections import papers_of, reported, section_of, stand_ins
from hidden_dynamics.papers.claims import load_claims
from hidden_dynamics.results.rows import Row, read_rows

TEMPLATES = Path(__file__).parent / "templates"


def index_page(configuration: Configuration, root: Path) -> str:
    """The page of the configured scale, from its rendered tables and figures, verdicts and summary of runs.

    Args:
        root: where the results directory is.

    Raises:
        UserError: a result is missing, damaged, or does not fit the others.
    """
    paths = configuration.paths
    claims = read_rows(root / paths.all_verdicts)
    runs = read_rows(root / paths.all_runs)
    sections = [section_of(artifact, runs, claims, root) for artifact in load_artifacts(configuration).values()]
    return (
        _jinja(configuration.results)
        .get_template("index.html.j2")
        .render(
            configuration=configuration,
            provenance=_provenance(configuration, runs),
            papers=papers_of(sections),
            made={section.name for section in sections},
            claims=claims,
            left_out=left_out_note(configuration),
            verdicts=list(counts(claims)),
            judged=bool(claims_list.judged(claims)),
            in_a_sentence=claims_list.in_a_sentence(claims),
            errors_in_a_sentence=multiplicity.in_a_sentence(claims),
            definitions=load_claims().definitions,
        )
    )


def _provenance(configuration: Configuration, runs: Sequence[Row]) -> dict[str, Any]:
    """Of all runs: `scale` in words, and the numbers of `tasks`, of those `replaced` by stand-ins, and of `runs`."""
    tasks = {run["task"]: None for run in runs}
    versions = {f"{name} {version}" for run in runs for name, version in json.loads(run["versions"]).items()}
    return {
        "scale": scale_notes(configuration),
        "stand_ins": stand_ins(configuration, tasks),
        "tasks": len(tasks),
        "replaced": sum(configuration.replaced(task) is not None for task in tasks),
        "runs": len({run["directory"] for run in runs}),
        "seeds": sorted({int(run["seed"]) for run in runs}),
        "devices": sorted({f"{run['device']}, {run['precision']}" for run in runs}),
        "versions": sorted(versions),
    }


def _jinja(results: str) -> jinja2.Environment:
    """Escapes everything but what is our own; the page's links are relative to `results`."""
    jinja = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    jinja.filters |= {
        "identifier": lambda text: re.sub(r"[\s%]", "-", text),
        "object": json.loads,
        "relative": lambda path: os.path.relpath(path, results),
        "reported": reported,
        "shown": claims_list.shown,
    }
    jinja.globals["own"] = lambda name: Markup((TEMPLATES / name).read_text(encoding="utf-8"))
    return jinja
