"""Tables and figures within the page, out of the files that rule render wrote."""

import base64
import re
from dataclasses import dataclass, field
from pathlib import Path

from markupsafe import Markup
from PIL import Image

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
    return RenderedTable(*map(Markup, PARTS.search(path.read_text(encoding="utf-8")).groups()))


def picture_of(path: Path) -> Picture:
    with Image.open(path) as image:
        size = image.size
    said = path.with_suffix(".md").read_text(encoding="utf-8")
    content = base64.b64encode(path.read_bytes()).decode()
    notes = Markup().join(Markup("<li>{}</li>").format(line[2:]) for line in said.splitlines() if line.startswith("- "))
    return Picture(f"data:image/png;base64,{content}", *size, Markup("<ul>{}</ul>").format(notes))
