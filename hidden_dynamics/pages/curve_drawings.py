"""A figure of curves for the page: an SVG per panel, in which each model's marks can be told apart, and a legend."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any
from xml.etree import ElementTree

import matplotlib
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from numpy.typing import NDArray

from hidden_dynamics.artifacts.panels import Key, Panel, Panels
from hidden_dynamics.artifacts.sheet import STYLE
from hidden_dynamics.configuration import Configuration

WIDTH, HEIGHT = 4.6, 3.0  # inches: readable where a panel is as wide as a phone
INK = "#010203"  # stands for the page's own colour of text, which is light on a dark page
INKED = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
ENOUGH = 0.3  # luminance of what is seen well on a dark page
SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"


@dataclass(frozen=True)
class PanelDrawing:
    """One panel: its title, line by line, and the drawing as an `svg` element with the id `name`."""

    name: str
    title: Sequence[str]
    svg: Markup
    view_box: str = f"0 0 {72 * WIDTH:g} {72 * HEIGHT:g}"


@dataclass(frozen=True)
class CurvesDrawing:
    """A figure of curves as the page shows it; `marks` say what its other lines and symbols mean."""

    panels: list[PanelDrawing]
    keys: Sequence[Key]
    marks: Sequence[str]


def curves_drawing(configuration: Configuration, name: str, figure: Panels) -> CurvesDrawing:
    """The panels of the figure `name` as drawings."""
    models = colours(configuration)
    with matplotlib.rc_context(STYLE | dict.fromkeys(INKED, INK)):
        drawings = [
            _panel(panel, f"{name}-panel-{number}", models) for number, panel in enumerate(figure.panels, start=1)
        ]
    return CurvesDrawing(drawings, figure.keys, figure.marks)


def dasharray(dashes: Sequence[float]) -> str:
    """A key's dashes, which matplotlib counts in line widths, as the SVG attribute stroke-dasharray has them."""
    return " ".join(f"{length * STYLE['lines.linewidth']:.3g}" for length in dashes)


def colours(configuration: Configuration) -> dict[str, tuple[str, str]]:
    """{model: (its colour, the same mixed with as much white as makes it seen on a dark page)}, in hexadecimal."""
    found = {}
    for model, entry in configuration.models.items():
        rgb = np.array(to_rgb(entry.colour))
        shares = np.linspace(0, 1, 21)[:, None]
        lighter = next(mixed for mixed in rgb + shares * (1 - rgb) if luminance(mixed) >= ENOUGH)
        found[model] = (to_hex(rgb), to_hex(lighter))
    return found


def luminance(rgb: NDArray) -> float:
    """Relative luminance (WCAG 2) of sRGB values in [0, 1]."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def _panel(panel: Panel, name: str, models: Mapping[str, tuple[str, str]]) -> PanelDrawing:
    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    ax = figure.subplots()
    panel.draw(ax)
    buffer = StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    attributes = {
        "id": name,
        "role": "img",
        "aria-label": " ".join(panel.title),
        **_scales(figure, ax),
    }  # laid out by now
    return PanelDrawing(name, panel.title, _inline(buffer.getvalue(), name, models, attributes))


def _scales(figure: Figure, ax: Axes) -> dict[str, Any]:
    """For the page's script: where the axes lie in the drawing, in its units from its upper left, and their limits."""
    box = ax.get_window_extent().transformed(figure.dpi_scale_trans.inverted())
    left, right, top, bottom = (round(72 * inches, 2) for inches in (box.x0, box.x1, HEIGHT - box.y1, HEIGHT - box.y0))
    return {
        "data-box": f"{left} {top} {right} {bottom}",
        "data-x": " ".join(map(repr, map(float, ax.get_xlim()))),
        "data-y": " ".join(map(repr, map(float, ax.get_ylim()))),
        "data-scales": f"{ax.get_xscale()} {ax.get_yscale()}",
        "data-against": ax.get_xlabel(),
    }


def _inline(text: str, name: str, models: Mapping[str, tuple[str, str]], attributes: Mapping[str, str]) -> Markup:
    """Matplotlib's document as an element to stand in a page beside others: no style, colour, id or size of its own."""
    root = ElementTree.fromstring(re.sub(r"<!DOCTYPE[^>]*>", "", text).replace(INK, "currentColor"))
    _drop(root, "metadata", "style")
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', text))
    for element in root.iter():
        element.tag = element.tag.removeprefix(SVG)
        if LINK in element.attrib:
            element.set("href", element.attrib.pop(LINK))
        mark, _, model = element.attrib.get("id", "").partition(" ")
        if model:
            element.set("class", mark)
            element.set("data-model", model)
            for part in element.iter():
                if "style" in part.attrib:
                    part.set("style", part.get("style").replace(models[model][0], f"var(--{model})"))
        if element.attrib.get("id") not in used:
            element.attrib.pop("id", None)
        for key in {"d", "x", "y", "points", "transform"} & set(element.attrib):
            element.set(key, _shorter(element.get(key)))
        element.text, element.tail = (part if (part or "").strip() else None for part in (element.text, element.tail))
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.attrib.update(attributes)
    inline = ElementTree.tostring(root, encoding="unicode")
    for key in sorted(used):  # unique on the whole page
        inline = inline.replace(f"#{key}", f"#{name}-{key}").replace(f'id="{key}"', f'id="{name}-{key}"')
    return Markup(inline)  # what the configuration put into it was escaped by matplotlib and ElementTree


def _drop(root: ElementTree.Element, *names: str) -> None:
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.removeprefix(SVG) in names:
                parent.remove(child)


def _shorter(numbers: str) -> str:
    """Coordinates to a hundredth of a point."""
    text = re.sub(r"-?\d+\.\d+", lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), numbers)
    return " ".join(text.split())
