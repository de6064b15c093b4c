"""Tables and figures within the page, out of the files that rule render wrote."""

import base64
import re
from dataclasses import dataclass, field
from pathlib import Path

from markupsafe import Markup
from PIL import Image

from hidden_dynamics.artifacts.base import ABOVE_CAPTION
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
    """A figure's PNG as a data address, and its size in pixels; those `above` its caption are the picture itself."""

    address: str = field(repr=False)
    width: int
    height: int
    above: int


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
            above = int(image.info[ABOVE_CAPTION])
    except FileNotFoundError:
        raise _missing(path) from None
    except (OSError, KeyError, ValueError):
        raise UserError(f"{path} is no rendered figure: remove it and run snakemake again.", file=path) from None
    content = base64.b64encode(path.read_bytes()).decode()
    return Picture(f"data:image/png;base64,{content}", *image.size, above)


def _missing(path: Path) -> UserError:
    return UserError(f"{path} is missing: run snakemake again, which makes it.", file=path)
