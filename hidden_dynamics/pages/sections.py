"""The page's sections, one for each artifact, paper by paper and in the papers' order."""

import base64
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup
from PIL import Image

from hidden_dynamics.artifacts import Artifact
from hidden_dynamics.claims.verdict import counts
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.pages.claims_list import judged
from hidden_dynamics.results.rows import Row

# Of a table's own page (hidden_dynamics.artifacts.tables.html): title, table, notes.
PARTS = re.compile(r"<h1>(.*?)</h1>.*?(<table>.*?</table>).*?(<ul>.*?</ul>)", re.DOTALL)
HEADING = re.compile(r"(<th(?: [^>]*)?>)([^<]+)")
LONG = re.compile(r"(<td>)([^<]{49,})")
TOGETHER = re.compile(r" (±|=|to) |(?<=\(paper:) ")
NOTE = re.compile(r"<li>.*?</li>", re.DOTALL)

Files = Mapping[str, bytes]  # by path


@dataclass(frozen=True)
class Section:
    """A table or a figure.

    Attributes:
        title, shown, notes: what was rendered of it: the title of a table, "" of a figure; the table, the picture, or a
            sentence that says why there is none; the notes, each an element of a list.
        picture: that of a figure which has one; else "".
        stand_ins: {title of a stand-in: titles of what it stands in for} of its data.
        runs: those that it was made of, each once (hidden_dynamics.results.run_files.COLUMNS).
        claims: those that rest on it.
    """

    artifact: Artifact
    title: Markup
    shown: Markup
    notes: Sequence[Markup]
    picture: Markup
    stand_ins: Mapping[str, Sequence[str]]
    runs: Sequence[Row]
    claims: Sequence[Row]

    @property
    def name(self) -> str:
        return self.artifact.name

    @property
    def short(self) -> str:
        """The place in the paper, such as "Table 3"; "" where there is none."""
        number = self.artifact.position[1]
        return f"{self.artifact.form.capitalize()} {number}" if number else ""

    @property
    def judged(self) -> dict[str, int]:
        """{verdict as shown: how many of the claims have it}, of those that were judged."""
        return counts(judged(self.claims))


@dataclass(frozen=True)
class Paper:
    """A paper's sections in its own order."""

    name: str
    title: str
    sections: Sequence[Section]


def papers_of(sections: Sequence[Section]) -> list[Paper]:
    """The papers in the order in which they are configured."""
    papers: dict[str, list[Section]] = {}
    for section in sections:
        papers.setdefault(section.artifact.paper, []).append(section)
    return [
        Paper(name, own[0].artifact.paper_title, sorted(own, key=lambda section: section.artifact.position))
        for name, own in papers.items()
    ]


def section_of(
    artifact: Artifact, runs: Sequence[Row], claims: Sequence[Row], root: Path, published: Files | None
) -> Section:
    """
    Args:
        runs: the summary of all runs.
        claims: the verdicts on all claims.
        root: where the results directory is.
        published: the files beside the page, by path; None: it has the pictures in itself.

    Raises:
        UserError: a rendered file is missing or damaged.
    """
    configuration = artifact.configuration
    own = [claim for claim in claims if claim["artifact"] == artifact.name]
    by_directory = {run["directory"]: run for run in runs}
    return Section(
        artifact,
        *(table_of(artifact, root) if artifact.form == "table" else figure_of(artifact, root, published)),
        stand_ins=stand_ins(configuration, dict.fromkeys(cell.task for cell in artifact.cases())),
        runs=[by_directory[run.directory] for run in artifact.runs],
        claims=own,
    )


def table_of(artifact: Artifact, root: Path) -> tuple[Markup, Markup, list[Markup], Markup]:
    """Headings and long cells get an element within, which limits their width; what belongs together is not broken."""
    path = root / artifact.configuration.paths.table(artifact.name, "html")
    title, table, notes = PARTS.findall(path.read_text(encoding="utf-8"))[0]
    table = TOGETHER.sub(lambda found: found[0].replace(" ", "&nbsp;"), LONG.sub(r"\1<span>\2</span>", table))
    table = HEADING.sub(_in_three_lines, table)
    return Markup(title), Markup(table), list(map(Markup, NOTE.findall(notes))), Markup()


def _in_three_lines(heading: re.Match[str]) -> str:
    """A heading with the width that three lines of it need."""
    width = max(len(heading[2]) // 3 + 4, *map(len, heading[2].split()))
    return f'{heading[1]}<span style="--needed: {width}ch">{heading[2]}</span>'


def figure_of(artifact: Artifact, root: Path, published: Files | None) -> tuple[Markup, Markup, list[Markup], Markup]:
    """Its picture, or where it has none, what its Markdown says instead."""
    path = root / artifact.configuration.paths.figure(artifact.name, "md")
    lines = path.read_text(encoding="utf-8").splitlines()
    notes = [Markup("<li>{}</li>").format(line[2:]) for line in lines if line.startswith("- ")]
    picture = picture_of(artifact, path.with_suffix(".png"), published)
    said = " ".join(line for line in lines if line and not line.startswith(("# ", "- ", "![")))
    return Markup(), picture or Markup("<p>{}</p>").format(said), notes, picture


def picture_of(artifact: Artifact, path: Path, published: Files | None) -> Markup:
    """Without published files, the PNG is a data address: the page loads nothing."""
    place = f"figures/{path.name}"
    there = path.is_file() if published is None else place in published
    if not there:
        return Markup()
    content = path.read_bytes() if published is None else published[place]
    with Image.open(io.BytesIO(content)) as image:
        width, height = image.size
    address = place if published is not None else f"data:image/png;base64,{base64.b64encode(content).decode()}"
    tag = Markup('<img src="{}" width="{}" height="{}" alt="{}">')
    return tag.format(address, width, height, artifact.settings.heading)


def stand_ins(configuration: Configuration, tasks: Iterable[str]) -> dict[str, list[str]]:
    """{title of a stand-in: titles of what it stands in for} of tasks."""
    found: dict[str, dict[str, None]] = {}
    for task in tasks:
        original = configuration.replaced(task)
        if original:
            found.setdefault(configuration.data_title(task), {})[configuration.title_of(original)] = None
    return {title: list(originals) for title, originals in found.items()}
