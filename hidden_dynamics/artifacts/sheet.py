"""What all figures share: style, title and legend, notes beside the picture, and the files that they are saved as.

Reading this module is cheap: matplotlib is imported where something is drawn.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from hidden_dynamics.artifacts.base import ArtifactSettings
from hidden_dynamics.artifacts.notes import READING
from hidden_dynamics.configuration import Configuration, mistake
from hidden_dynamics.results.record import RunRecord
from hidden_dynamics.system.files import atomic

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import pandas
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from matplotlib.typing import RcKeyType

    class Page(Figure):
        """A figure of `page`, which gives it heading, notes, table, data, and what is said where there is nothing to
        draw."""

        heading: str
        notes: list[str]
        instead: str
        table: str
        data: pandas.DataFrame


STYLE: "dict[RcKeyType, Any]" = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 8.5,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.dpi": 160,
    "figure.titlesize": 11,
    "legend.borderaxespad": 0.1,
    "legend.columnspacing": 1.4,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "legend.handlelength": 3.4,
    "lines.linewidth": 1.4,
    "pdf.fonttype": 42,
}
DASHES = ["solid", (0, (7, 1.5)), (0, (4, 1, 1, 1)), (0, (2.5, 1)), (0, (8, 1, 1, 1, 1, 1))]

Look = Mapping[str, Any]  # of a line: what matplotlib is told of it
Styles = Mapping[str, Look]  # by model


def style() -> "AbstractContextManager[None]":
    """Within it, what is drawn has the style of all figures."""
    import matplotlib

    return matplotlib.rc_context(STYLE)


def page(
    settings: ArtifactSettings,
    subtitle: str,
    width: float,
    height: float,
    notes: Iterable[str],
    handles: Sequence["Artist"] = (),
    instead: str = "",
    table: str = "",
    data: Sequence[Mapping[str, object]] = (),
) -> tuple["Page", "SubFigure"]:
    """An empty figure, and its body: title, subtitle and legend above, the body below.

    Args:
        settings: the artifact's; the title is their heading.
        width, height: of the body, in inches.
        notes: what is said beside the picture, by paragraph; those that are empty are left out.
        handles: the legend's entries.
        instead: of a figure that is none: a sentence that says why.
        table: below the picture, in Markdown.
        data: the numbers that are drawn, a row for each point.
    """
    import pandas
    from matplotlib.figure import Figure

    columns = legend_columns([str(handle.get_label()) for handle in handles], width)
    rows = math.ceil(len(handles) / columns)
    head_height = 0.56 + 0.19 * rows
    figure = cast("Page", Figure(figsize=(width, head_height + height), layout="constrained"))
    figure.notes = [" ".join(note.split()) for note in (READING, *notes) if note]
    figure.heading, figure.instead, figure.table = settings.heading, instead, table
    figure.data = pandas.DataFrame(data)
    head, body = figure.subfigures(2, 1, squeeze=False, height_ratios=[head_height, height], hspace=0)[:, 0]
    top = {"ha": "center", "va": "top"}
    head.text(0.5, 1 - 0.08 / head_height, settings.heading, **top, fontsize=STYLE["figure.titlesize"], gid="title")
    head.text(0.5, 1 - 0.32 / head_height, subtitle, **top, color="0.3", gid="subtitle")
    if handles:
        head.legend(handles=handles, loc="lower center", ncols=math.ceil(len(handles) / rows))
    return figure, body


def legend_columns(labels: Sequence[str], width: float) -> int:
    """The most columns of entries, one below the other, that fit side by side in `width` inches; 1 where none do."""

    def fits(columns: int) -> bool:
        parts = np.array_split([len(label) * 0.075 + 0.6 for label in labels], columns)
        return sum(part.max() for part in parts) < width - 0.2

    return next((columns for columns in range(len(labels), 1, -1) if fits(columns)), 1)


def legend_entry(label: str, **look: Any) -> "Line2D":
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **look)


def plain_numbers(axis: "Axis") -> None:
    """Label a logarithmic axis with plain numbers, and between the powers of ten too where it spans few of them."""
    from matplotlib.ticker import LogFormatter

    class Plain(LogFormatter):
        """0.3 where LogFormatter, which chooses what to label, writes 3e-01."""

        def __call__(self, x: float, pos: int | None = None) -> str:
            return super().__call__(x, pos) and f"{x:g}"

    axis.set_major_formatter(Plain())
    axis.set_minor_formatter(Plain(minor_thresholds=(2, 0.7)))


def write_instead(ax: "Axes", text: str) -> None:
    """Say in the middle of a panel why nothing is drawn there."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color="0.4", gid="nothing")


def line_styles(configuration: Configuration, runs: Iterable[RunRecord]) -> Styles:
    """Each model's line, in the order of the runs: its colour, a dash of its own for who cannot tell it, and an outline
    where it is too light on white."""
    from matplotlib.colors import is_color_like, to_rgb
    from matplotlib.patheffects import Normal, Stroke

    styles = {}
    for place, model in enumerate(dict.fromkeys(run.model for run in runs)):
        if not is_color_like(colour := configuration.models[model].colour):
            raise mistake(f"config/models.yaml: {model}.colour", f"matplotlib has no colour {colour!r}.")
        styles[model] = {"color": colour, "linestyle": DASHES[place % len(DASHES)]}
        if luminance(to_rgb(colour)) > 0.7:
            styles[model]["path_effects"] = [Stroke(linewidth=2.4, foreground="0.35"), Normal()]
    return styles


def luminance(colour: Sequence[float]) -> float:
    """The lightness of a colour (red, green, blue in [0, 1]), from 0 to 1."""
    red, green, blue = colour[:3]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def save(figure: "Page", stem: str | Path) -> None:
    """Write a figure's files, each whole or not at all, the same bytes for the same figure: .pdf and .png, its notes as
    .md, what is drawn as .csv, and .json for the page. With nothing to draw, the notes say why, and the picture is an
    empty file, which nothing shows."""
    stem = Path(stem)
    with style():
        if not figure.instead:
            settle(figure)
        for form, about in {"pdf": {"metadata": {"CreationDate": None}}, "png": {}}.items():
            with atomic(stem.with_suffix(f".{form}"), "wb") as handle:
                if not figure.instead:
                    figure.savefig(handle, format=form, **about)
    notes = "".join(f"\n- {note}" for note in figure.notes)
    shown = figure.instead or f"![{figure.heading}]({stem.name}.png)"
    parts = filter(None, (f"# {figure.heading}", shown, figure.table))
    about = {"title": figure.heading, "instead": figure.instead, "columns": [], "rows": [], "notes": figure.notes}
    texts = {
        "md": "\n\n".join(parts) + f"\n{notes}\n",
        "csv": figure.data.to_csv(index=False, float_format="%.7g", lineterminator="\n"),
        "json": json.dumps(about, ensure_ascii=False, indent=0) + "\n",
    }
    for form, text in texts.items():
        with atomic(stem.with_suffix(f".{form}")) as handle:
            handle.write(text)


def settle(figure: "Figure") -> None:
    """Lay the figure out for good, with rounded places: the solver's last digits depend on addresses in memory."""
    figure.draw_without_rendering()
    figure.set_layout_engine(None)  # not "none", with which each savefig draws twice
    for band in figure.subfigs:
        band.bbox_relative.set_points(band.bbox_relative.get_points().round(6) + 0.0)  # no -0.0
    for ax in figure.axes:
        left, low, width, height = (round(float(number), 6) for number in ax.get_position(original=True).bounds)
        ax.set_position((left, low, width, height))
