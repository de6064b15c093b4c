"""The page that every figure is drawn on: its style, its titles, legend and caption, and how it is saved."""

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patheffects import Normal, Stroke
from matplotlib.ticker import LogFormatter
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from hidden_dynamics.artifacts.base import ABOVE_CAPTION, ArtifactSettings
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.results.rows import Row
from hidden_dynamics.system.files import atomic

STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 8.5,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "pdf.fonttype": 42,
}
DASHES = ["solid", (0, (7, 1.5)), (0, (4, 1, 1, 1)), (0, (2.5, 1)), (0, (8, 1, 1, 1, 1, 1))]
CAPTION_SIZE = 7.5
DOTS_PER_INCH = 160
NO_VALUE = "no run got as far as a value here"

Styles = Mapping[str, Mapping[str, Any]]


def page(
    settings: ArtifactSettings,
    subtitle: str,
    width: float,
    height: float,
    notes: Sequence[str],
    handles: Sequence[Line2D] = (),
) -> tuple[Figure, SubFigure]:
    """A page of three bands from top to bottom: titles and legend, the body, a caption.

    Args:
        settings: the artifact's; the title is their heading.
        width, height: of the body, in inches; the others are as high as their text.
        notes: the caption's paragraphs.
        handles: the legend's entries.

    Returns:
        (figure, its body).
    """
    caption = [line for note in notes for line in textwrap.wrap(note, int((width - 0.3) * 72 / (CAPTION_SIZE * 0.53)))]
    columns = legend_columns([str(handle.get_label()) for handle in handles], width)
    head_height = 0.56 + 0.19 * math.ceil(len(handles) / columns)
    foot_height = 0.1 + CAPTION_SIZE * 1.22 / 72 * len(caption)
    heights = [head_height, height, foot_height]
    figure = Figure(figsize=(width, sum(heights)), layout="constrained")
    head, body, foot = figure.subfigures(3, 1, height_ratios=heights, hspace=0)
    head.text(0.5, 1 - 0.08 / head_height, settings.heading, ha="center", va="top", fontsize=11, gid="title")
    head.text(0.5, 1 - 0.32 / head_height, subtitle, ha="center", va="top", color="0.3", gid="subtitle")
    if handles:
        head.legend(
            handles=handles, loc="lower center", ncols=columns, borderaxespad=0.1, handlelength=3.4, columnspacing=1.4
        )
    foot.text(0.15 / width, 0.98, "\n".join(caption), va="top", fontsize=CAPTION_SIZE, linespacing=1.2, gid="caption")
    return figure, body


def legend_columns(labels: Sequence[str], width: float) -> int:
    """The most columns whose entries fit side by side in `width` inches; 1 where none do."""
    entry = max((len(label) for label in labels), default=0) * 0.075 + 0.6
    return max(1, min(len(labels), int((width - 0.2) / entry)))


def plain_numbers(axis: Axis) -> None:
    """Label a logarithmic axis with plain numbers, and between the powers of ten too where it spans few of them."""
    axis.set_major_formatter(PlainLogFormatter())
    axis.set_minor_formatter(PlainLogFormatter(minor_thresholds=(2, 0.7)))


class PlainLogFormatter(LogFormatter):
    """LogFormatter, which chooses what to label, with 0.3 where it writes 3e-01."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return super().__call__(x, pos) and f"{x:g}"


def write_instead(ax: Axes, text: str) -> None:
    """Say in the middle of a panel why nothing is drawn there."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color="0.4", gid="nothing")


def line_styles(configuration: Configuration, runs: Iterable[Row]) -> Styles:
    """The style of each model's line, in the order of the runs, which is the legend's."""
    return {
        model: _line_style(configuration.models[model].colour, DASHES[place % len(DASHES)])
        for place, model in enumerate(dict.fromkeys(run["model"] for run in runs))
    }


def _line_style(colour: str, dashes: Any) -> dict[str, Any]:
    """A model's colour, a dash of its own for who cannot tell it, and an outline where it is too light on white."""
    light = luminance(to_rgb(colour)) > 0.7
    outline = {"path_effects": [Stroke(linewidth=2.4, foreground="0.35"), Normal()]} if light else {}
    return {"color": colour, "linestyle": dashes, **outline}


def luminance(colour: Sequence[float]) -> float:
    """The lightness of a colour (red, green, blue in [0, 1]), from 0 to 1."""
    red, green, blue = colour[:3]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def save(figure: Figure, stem: str | Path) -> None:
    """Write `<stem>.pdf` and `<stem>.png`, each whole or not at all, the same bytes for the same figure."""
    with matplotlib.rc_context(STYLE):
        settle(figure)
        with atomic(f"{stem}.pdf", "wb") as handle:
            figure.savefig(handle, format="pdf", metadata={"CreationDate": None})
        with atomic(f"{stem}.png", "wb") as handle:
            save_png(figure, handle)


def save_png(figure: Figure, handle: IO[bytes]) -> None:
    """Write a PNG of at most 256 colours: a third of the bytes, and the same to the eye.

    Its entry `ABOVE_CAPTION` says how many of its rows are above the caption, which `page` puts into the last band.
    """
    drawn = BytesIO()
    figure.savefig(drawn, format="png", dpi=DOTS_PER_INCH)
    foot = figure.subfigs[-1].bbox.height / figure.bbox.height if figure.subfigs else 0.0
    with Image.open(drawn) as image:
        about = PngInfo()
        about.add_text(ABOVE_CAPTION, str(round((1 - foot) * image.height)))
        small = image.convert("RGB").quantize(256, method=Image.Quantize.FASTOCTREE)
        small.save(handle, "PNG", pnginfo=about, dpi=image.info["dpi"])


def settle(figure: Figure) -> None:
    """Lay the figure out for good, with rounded places: the solver's last digits depend on addresses in memory."""
    figure.draw_without_rendering()
    figure.set_layout_engine(None)  # not "none", with which each savefig draws twice
    for band in figure.subfigs:
        band.bbox_relative.set_points(band.bbox_relative.get_points().round(6) + 0.0)  # no -0.0
    for ax in figure.axes:
        ax.set_position([round(float(number), 6) for number in ax.get_position(original=True).bounds])
