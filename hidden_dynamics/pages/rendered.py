"""Tables and figures within the page, out of the files that rule render wrote."""

import base64
import re
from dataclasses import dataclass, field
from pathlib import Path

from markupsafe import Markup
from PIL import Image

from hidden_dynamics.errors import UserError

PARTS = re.compile(r"<h1>(.*?)</h1>.*?(<table>.*?</table>).*?(<ul>.*?</ul>)", re.DOTALL)


@dataclass(frozen=True)
class RenderedTable:
    """The parts of a table's own page (hidden_dynamics.artifacts.tables.html): `notes` are a list, maybe empty."""

    title: Markup
    table: Markup
    notes: Markup


@dataclass(frozen=True)
class Picture:
    """A figure's PNG as a data address, its size in pixels, and its notes as a list."""

    address: str = field(repr=False)
    width: int
    height: int
    notes: Markup


def table_of(path: Path) -> RenderedTable:
    """
    Raises:
        UserError: the file is missing, or no table that was rendered.
    """
    try:
        found = PARTS.search(path.read_text(encoding="utf-8", errors="replace"))
    except FileNotFoundError:
        raise _missing(path) from None
    if not found:
        raise UserError(f"{path} is no rendered table: remove it and run snakemake again.", file=path)
    return RenderedTable(*map(Markup, found.groups()))


def picture_of(path: Path) -> Picture:
    """
    Raises:
        UserError: the file is missing, or no figure that was rendered.
    """
    try:
        with Image.open(path, formats=["PNG"]) as image:
            size = image.size
        said = path.with_suffix(".md").read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise _missing(Path(error.filename)) from None
    except OSError:
        raise UserError(f"{path} is no rendered figure: remove it and run snakemake again.", file=path) from None
    content = base64.b64encode(path.read_bytes()).decode()
    notes = Markup().join(Markup("<li>{}</li>").format(line[2:]) for line in said.splitlines() if line.startswith("- "))
    return Picture(f"data:image/png;base64,{content}", *size, Markup("<ul>{}</ul>").format(notes))


def _missing(path: Path) -> UserError:
    return UserError(f"{path} is missing: run snakemake again, which makes it.", file=path)
