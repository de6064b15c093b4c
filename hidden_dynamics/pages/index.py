"""The page: everything of a scale, from its finished results."""

import functools
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
from hidden_dynamics.pages import claims_list, first_screen
from hidden_dynamics.pages.sections import Files, papers_of, section_of, stand_ins
from hidden_dynamics.results.rows import Row, read_rows

TEMPLATES = Path(__file__).parent / "templates"


def index_page(configuration: Configuration, root: Path, published: Files | None = None) -> str:
    """The page of the configured scale, from its rendered tables and figures, verdicts and summary of runs.

    Args:
        root: where the results directory is.
        published: the files of a publication, by path, beside which the page will lie: it links to these alone, and
            shows their pictures. None: it will lie among the results, with the pictures in itself.

    Raises:
        UserError: a result is missing, damaged, or does not fit the others.
    """
    paths = configuration.paths
    claims = read_rows(root / paths.all_verdicts)
    runs = read_rows(root / paths.all_runs)
    sections = [section_of(one, runs, claims, root, published) for one in load_artifacts(configuration).values()]
    return (
        _jinja(configuration, published)
        .get_template("index.html.j2")
        .render(
            configuration=configuration,
            published=published is not None,
            pictures=[(section, first_screen.sentence(section, claims)) for section in first_screen.pictures(sections)],
            done=first_screen.done(configuration, sections, runs, claims),
            provenance=_provenance(configuration, runs),
            papers=papers_of(sections),
            made={section.name for section in sections},
            claims=claims,
            judged=claims_list.judged(claims),
            not_run=claims_list.not_run(configuration, claims),
            left_out=left_out_note(configuration),
            verdicts=counts(claims_list.judged(claims)),
            in_a_sentence=claims_list.in_a_sentence(claims),
            errors_in_a_sentence=multiplicity.in_a_sentence(claims),
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


def _link(configuration: Configuration, published: Files | None, path: str) -> str:
    """A file relative to the page; "" where a publication does not have it."""
    place = os.path.relpath(path, configuration.results)
    if published is None:
        return place
    place = "verdicts.csv" if path == configuration.paths.all_verdicts else place
    return place if place in published else ""


def _jinja(configuration: Configuration, published: Files | None) -> jinja2.Environment:
    """Escapes everything but what is our own."""
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
        "link": functools.partial(_link, configuration, published),
        "shown": claims_list.shown,
    }
    jinja.globals["own"] = lambda name: Markup((TEMPLATES / name).read_text(encoding="utf-8"))
    return jinja
