"""The page's sections, one for each artifact, paper by paper and in the papers' order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hidden_dynamics.artifacts import Artifact
from hidden_dynamics.artifacts.row_verdicts import verdicts_on
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import Link, RowKey
from hidden_dynamics.claims.verdict import SECOND_VERDICTS, VERDICTS, counts, counts_here
from hidden_dynamics.pages.claims_list import Group, groups
from hidden_dynamics.pages.curve_drawings import CurvesDrawing, curves_drawing
from hidden_dynamics.pages.origins import Rows, origins_of, size_text
from hidden_dynamics.pages.pictures import Picture, picture_of, thumbnail_of
from hidden_dynamics.pages.provenance import stand_ins
from hidden_dynamics.pages.table_parts import TablePart, parts_of
from hidden_dynamics.results.rows import Row

TABULAR = ("summary", "costs", "features")  # of an artifact's files: rows that name their data
SMALL = 560  # pixels of a thumbnail: twice what it is shown at


@dataclass(frozen=True)
class Section:
    """A table or a figure.

    Attributes:
        says: its title, or what is not as in the paper, with the scale.
        tables, curves, picture: what shows it, one of them.
        thumbnail: of the picture of a key figure, for the first screen.
        notes: what is to be known of it.
        stand_ins: {title of a stand-in: titles of what it stands in for} of its data.
        rows: the runs that it was made of.
        counts: of the claims that rest on it, by verdict.
        counts_here: of these by second verdict, which most scales do not give.
        groups: these claims.
    """

    artifact: Artifact
    rows: list[Rows]
    stand_ins: Mapping[str, Sequence[str]]
    counts: dict[str, int]
    counts_here: dict[str, int]
    groups: list[Group]
    says: str = ""
    notes: Sequence[str] = ()
    tables: Sequence[TablePart] = ()
    curves: CurvesDrawing | None = None
    picture: Picture | None = None
    thumbnail: Picture | None = None

    @property
    def name(self) -> str:
        return self.artifact.name

    @property
    def short(self) -> str:
        """The place in the paper, such as "Table 3"; the title where there is none."""
        number = self.artifact.position[1]
        return f"{self.artifact.form.capitalize()} {number}" if number else self.artifact.settings.title

    @property
    def runs(self) -> int:
        return len({origin.row["directory"] for rows in self.rows for origin in rows.origins})


@dataclass(frozen=True)
class Paper:
    """A paper's sections, and the verdicts on all of its claims."""

    name: str
    title: str
    sections: list[Section]

    @property
    def counts(self) -> dict[str, int]:
        return {verdict: sum(section.counts[verdict] for section in self.sections) for verdict in VERDICTS}

    @property
    def counts_here(self) -> dict[str, int]:
        return {verdict: sum(section.counts_here[verdict] for section in self.sections) for verdict in SECOND_VERDICTS}


def papers_of(sections: Sequence[Section]) -> list[Paper]:
    """The papers in the order in which they are configured, each with its sections in its own order."""
    papers: dict[str, list[Section]] = {}
    for section in sections:
        papers.setdefault(section.artifact.paper, []).append(section)
    return [
        Paper(name, own[0].artifact.paper_title, sorted(own, key=lambda section: section.artifact.position))
        for name, own in papers.items()
    ]


def section_of(artifact: Artifact, runs: Sequence[Row], claims: Sequence[Row], root: Path) -> Section:
    """
    Args:
        runs: the summary of all runs.
        claims: the verdicts on all claims.
        root: where the results directory is.

    Raises:
        UserError: a file is missing, damaged, or does not fit the others.
    """
    own = [claim for claim in claims if claim["artifact"] == artifact.name]
    sources = Sources(artifact, root, verdicts_on(artifact, root))
    origins = origins_of(artifact, runs)
    rows = [row for name in TABULAR if name in artifact.inputs() for row in getattr(sources, name)]
    return Section(
        artifact=artifact,
        rows=list(origins.values()),
        stand_ins=stand_ins(rows, artifact.configuration.title_of),
        counts=counts(own),
        counts_here=counts_here(own),
        groups=groups(own),
        **_shown(artifact, sources, origins, root),
    )


def _shown(artifact: Artifact, sources: Sources, origins: Mapping[tuple[str, str], Rows], root: Path) -> dict[str, Any]:
    """The drawing of an artifact and the text on it, by the names of a section's attributes."""
    if artifact.form == "table":
        table = artifact.draw(sources)
        return {"says": table.title, "notes": table.notes, "tables": parts_of(table, _links(origins))}
    panels = None if artifact.is_left_out else artifact.taken_apart(sources)
    if panels is None:
        path = root / artifact.configuration.paths.figure(artifact.name, "png")
        small = thumbnail_of(path, SMALL) if artifact.settings.key_figure else None
        return {"picture": picture_of(path), "thumbnail": small}
    drawing = curves_drawing(artifact.configuration, artifact.name, panels)
    return {"says": panels.subtitle, "notes": panels.notes, "curves": drawing}


def _links(origins: Mapping[tuple[str, str], Rows]) -> Link:
    """From a row of a table, and each number in it that was made of runs, to these runs."""

    def link(key: RowKey, task: str | None) -> str | None:
        rows = origins.get((key.model, size_text(key.paper_size)))
        return rows and f"#{rows.anchor}"

    return link
