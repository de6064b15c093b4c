"""The page's sections, one for each artifact, paper by paper and in the papers' order, of what was drawn."""

import base64
import io
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup
from PIL import Image
from pydantic import BaseModel, ValidationError

from hidden_dynamics.artifacts import Artifact, load_artifacts
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.errors import UserError

Files = Mapping[str, bytes]  # by path


class Drawn(BaseModel):
    """A table or figure as hidden_dynamics.artifacts.tables.json_text or .sheet.save writes it: with all keys.

    Attributes:
        title: as it stands in the .md; a table's says whether it is comparable with the paper's.
        instead: of a figure without a picture the sentence in its place; else "".
        columns: of a table, (group, name) each.
    """

    title: str
    instead: str
    columns: list[tuple[str, str]]
    rows: list[list[str]]
    notes: list[str]

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The groups of adjacent columns, each with its number of columns; none where no column has a group."""
        adjacent = itertools.groupby(self.columns, key=lambda column: column[0])
        groups = [(name, len(list(columns))) for name, columns in adjacent]
        return groups if any(name for name, _ in groups) else []


@dataclass(frozen=True)
class Section:
    """A table or a figure on the page.

    Attributes:
        picture: that of a figure which has one; else "".
        stand_ins: {title of a stand-in: titles of what it stands in for} of its data.
    """

    artifact: Artifact
    drawn: Drawn
    picture: Markup
    stand_ins: Mapping[str, Sequence[str]]

    @property
    def short(self) -> str:
        """The place in the paper, such as "Table 3"; the title where there is none."""
        number = self.artifact.position[1]
        return f"{self.artifact.form.capitalize()} {number}" if number else self.artifact.settings.title


def in_order(configuration: Configuration) -> list[Artifact]:
    """The tables and figures that have something to show: papers as they are configured, each in its own order."""
    artifacts = load_artifacts(configuration).values()
    papers = list(dict.fromkeys(artifact.paper for artifact in artifacts))
    return sorted(artifacts, key=lambda artifact: (papers.index(artifact.paper), artifact.position))


def section_of(artifact: Artifact, root: Path, published: Files | None) -> Section:
    """The section of an artifact, from the files that were drawn.

    Args:
        root: where the results directory is.
        published: the files beside the page, by path; None: it has the pictures in itself.

    Raises:
        UserError: a rendered file is missing or damaged.
    """
    replaced = stand_ins(artifact.configuration, dict.fromkeys(cell.task for cell in artifact.cases()))
    drawn = drawn_of(artifact, root)
    without = artifact.form == "table" or drawn.instead
    return Section(artifact, drawn, Markup() if without else picture_of(artifact, root, published), replaced)


def drawn_of(artifact: Artifact, root: Path) -> Drawn:
    """What was drawn of an artifact; a `UserError` where its file is missing or damaged."""
    path = root / artifact.file("json")
    try:
        return Drawn.model_validate_json(path.read_bytes())
    except (FileNotFoundError, ValidationError) as error:
        what = "missing" if isinstance(error, FileNotFoundError) else "not what is written here: remove it"
        raise UserError(f"{path} is {what}: run snakemake again, which makes it.", file=path) from None


def picture_of(artifact: Artifact, root: Path, published: Files | None) -> Markup:
    """Without published files, the PNG is a data address: the page loads nothing."""
    path = root / artifact.file("png")
    place = f"figures/{path.name}"
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
