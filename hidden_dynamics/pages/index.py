"""The page: everything of a scale, from its finished results."""

import functools
import itertools
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from hidden_dynamics.artifacts import left_out_note
from hidden_dynamics.artifacts.notes import chosen_notes
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.pages.findings import exploratory_sentence, findings_of
from hidden_dynamics.pages.sections import Files, Section, in_order, section_of, stand_ins
from hidden_dynamics.papers.deviations import in_sentence
from hidden_dynamics.results.rows import Row, read_rows

TEMPLATES = Path(__file__).parent / "templates"
PICTURES = 3  # on the first screen


def index_page(configuration: Configuration, root: Path, published: Files | None = None) -> str:
    """The page of the configured scale, from its rendered tables and figures, verdicts and summary of runs.

    Args:
        root: where the results directory is.
        published: the files of a publication, by path, beside which the page will lie: it links to these alone, and
            shows their pictures. None: it will lie among the results, with the pictures in itself.

    Raises:
        UserError: a result is missing, damaged, or does not fit the others.
    """
    sections = [section_of(artifact, root, published) for artifact in in_order(configuration)]
    by_paper = itertools.groupby(sections, key=lambda section: section.artifact.paper)
    papers = {name: list(own) for name, own in by_paper}
    template = _jinja(configuration, published).get_template("index.html.j2")
    return template.render(
        configuration=configuration,
        published=published is not None,
        titles=in_sentence([own[0].artifact.paper_title for own in papers.values()]),
        papers=papers,
        pictures=[(section, sentence(section, root)) for section in pictures(sections)],
        findings=findings_of(configuration, root),
        exploratory=exploratory_sentence(configuration, root),
        provenance=_provenance(configuration, read_rows(root / configuration.paths.all_runs)),
        left_out=left_out_note(configuration),
    )


def pictures(sections: Iterable[Section]) -> list[Section]:
    """The figures of the first screen: those of questions, then the papers' first."""
    drawn = [section for section in sections if section.picture]
    return sorted(drawn, key=lambda section: section.artifact.settings.kind != "forest")[:PICTURES]


def sentence(section: Section, root: Path) -> str:
    """How the comparisons of a question came out, from the data of its picture; "" of another figure."""
    if section.artifact.settings.kind != "forest":
        return ""
    rows = read_rows(root / section.artifact.file("csv"))
    learned = [row for row in rows if row["low"] and row["unlearned"] == "False"]
    better, worse = sum(float(row["low"]) > 0 for row in learned), sum(float(row["high"]) < 0 for row in learned)
    return (
        f"{len(learned)} of {len(rows)} comparisons have an interval, and a leader that has learned: in {better} the "
        f"first model is better, in {worse} worse; the others allow both."
    )


def _provenance(configuration: Configuration, runs: Sequence[Row]) -> dict[str, Any]:
    """The facts of all runs: `scale` in words; numbers of `tasks`, of those `replaced` by stand-ins, and of `runs`."""
    tasks = {run["task"]: None for run in runs}
    scale = f"Scale: {configuration.scale_name} ({configuration.scale.about})."
    versions = {f"{name} {version}" for run in runs for name, version in json.loads(run["versions"]).items()}
    return {
        "scale": [scale, *chosen_notes(configuration)],
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
    paths = configuration.paths
    place = os.path.relpath(path, configuration.results)
    if published is None:
        return place
    place = {paths.verdicts: "verdicts.csv", paths.all_runs: "runs.csv"}.get(path, place)
    return place if place in published else ""


def _width(text: str) -> int:
    """The width in characters at which a heading takes at most three lines."""
    return max(len(text) // 3 + 4, *map(len, text.split()), 1)


def _together(text: str) -> str:
    """The text with its intervals and deviations kept in one line each."""
    for word in (" to ", " ± ", "× "):
        text = text.replace(word, word.replace(" ", "\N{NO-BREAK SPACE}"))
    return text


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
        "link": functools.partial(_link, configuration, published),
        "width": _width,
        "together": _together,
    }
    jinja.globals["own"] = lambda name: Markup((TEMPLATES / name).read_text(encoding="utf-8"))
    return jinja
