"""Pictures within a page, as data addresses: a figure's PNG, and a small one of it."""

import base64
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from PIL import Image

from hidden_dynamics.errors import UserError


@dataclass(frozen=True)
class Picture:
    """A PNG as a data address, its size in pixels."""

    address: str = field(repr=False)
    width: int
    height: int


def picture_of(path: Path) -> Picture:
    """
    Raises:
        UserError: the file is missing or no PNG.
    """
    with _opened(path) as image:
        return Picture(_address(path.read_bytes()), *image.size)


def thumbnail_of(path: Path, width: int) -> Picture:
    """The picture, at most `width` pixels wide, in at most 128 colours.

    Raises:
        UserError: the file is missing or no PNG.
    """
    content = reduced(path, width, colours=128)
    with Image.open(BytesIO(content)) as small:
        return Picture(_address(content), *small.size)


def reduced(path: Path, width: int, colours: int) -> bytes:
    """The PNG, at most so many pixels wide and high, in at most so many colours.

    Raises:
        UserError: the file is missing or no PNG.
    """
    with _opened(path) as image:
        small = image.convert("RGB")
        small.thumbnail((width, width))
        buffer = BytesIO()
        small.quantize(colours, method=Image.Quantize.FASTOCTREE).save(buffer, "PNG", optimize=True)
        return buffer.getvalue()


def _opened(path: Path) -> Image.Image:
    try:
        return Image.open(path, formats=["PNG"])
    except FileNotFoundError:
        raise UserError(f"{path} is missing: run snakemake again, which makes it.", file=path) from None
    except OSError:
        raise UserError(f"{path} is not a PNG: remove it and run snakemake again.", file=path) from None


def _address(content: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"
