"""Grids over two hyperparameters, ours above the paper's (MomentumRNN, Figure 7: momentum mu by step size s)."""

import json
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from hidden_dynamics.artifacts.figure_notes import (
    chosen_note,
    data_of,
    made_note,
    scale_note,
    sizes_of,
    subtitle_of,
    task_title,
)
from hidden_dynamics.artifacts.kinds.ablation import Ablation, PanelSettings
from hidden_dynamics.artifacts.sheet import STYLE, luminance, page, plain_numbers
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import number
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.schema import Metric
from hidden_dynamics.papers.published import GridRow
from hidden_dynamics.results.naive import best, mean_scores
from hidden_dynamics.results.rows import Row
from hidden_dynamics.results.summary import measured_of

NAIVE = "†"
NAMES = {"mu": "momentum μ", "s": "step size s"}
PANEL_WIDTH = 4.2  # inches; of them a grid has
GRID_HEIGHT, GRID_WIDTH = 2.5, 3.2
TITLE = 62  # characters in a line of a panel's title


@dataclass(frozen=True)
class Square:
    """One place of a grid: the mean over the finished runs (nan without any), how many of the runs diverged, and
    whether it is no better than the best naive baseline."""

    value: float = math.nan
    runs: int = 0
    diverged: int = 0
    naive: bool = False

    def text(self, decimals: int) -> str:
        """The text in the square; empty where nothing was run."""
        if math.isnan(self.value) and self.diverged == self.runs:
            return f"diverged\n{self.diverged}/{self.runs}" if self.runs else ""
        text = number(self.value, decimals) if math.isfinite(self.value) else "not finite"
        text += NAIVE if self.naive else ""
        return f"{text}\n{self.diverged}/{self.runs} div." if self.diverged else text


@dataclass(frozen=True)
class Grid:
    """Squares over two hyperparameters: the largest row value on top, the smallest column value on the left.

    Attributes:
        rows, columns: the hyperparameters' names.
        by_place: the squares by (row value, column value).
    """

    rows: str
    columns: str
    by_place: Mapping[tuple[float, float], Square]

    @property
    def row_values(self) -> list[float]:
        return sorted({row for row, _ in self.by_place}, reverse=True)

    @property
    def column_values(self) -> list[float]:
        return sorted({column for _, column in self.by_place})

    @property
    def squares(self) -> list[list[Square]]:
        """Row by row, as shown."""
        return [
            [self.by_place.get((row, column), Square()) for column in self.column_values] for row in self.row_values
        ]


@dataclass(frozen=True)
class Panel:
    """A pair of grids: its settings and metric, rows of the summary, our grid, the paper's, and its notes on that.

    Attributes:
        naive: name and score of the best naive baseline, as it is shown; None where there is none.
    """

    settings: PanelSettings
    metric: Metric
    runs: Sequence[Row]
    ours: Grid
    theirs: Grid
    published: GridRow
    naive: tuple[str, float] | None


def draw(artifact: Ablation, sources: Sources) -> Figure:
    """Pairs of annotated grids, one pair per panel: ours (means over seeds) above, the paper's below.

    Raises:
        UserError: nothing is published for a panel, it has no runs, or a finished run did not measure its metric.
    """
    configuration = artifact.configuration
    panels = [panel_of(artifact, sources, settings) for settings in artifact.panels]
    with matplotlib.rc_context(STYLE):
        figure, body = page(
            artifact.settings,
            subtitle=subtitle_of(configuration, [run for panel in panels for run in panel.runs]),
            width=max(6.8, PANEL_WIDTH * len(panels)),
            height=6.6,
            notes=notes_of(configuration, panels, artifact.published.notes),
        )
        axes = body.subplots(2, len(panels), squeeze=False)
        for (above, below), panel in zip(axes.T, panels, strict=True):
            draw_grid(above, panel.ours, panel, gid="ours")
            draw_grid(below, panel.theirs, panel, gid="published")
            describe_panel(above, below, configuration, panel)
    return figure


def panel_of(artifact: Ablation, sources: Sources, settings: PanelSettings) -> Panel:
    """Both grids of a panel: the measured one and the published one."""
    runs = [run for run in sources.summary if (run["task"], run["model"]) == (settings.task, settings.model)]
    if not runs:
        raise sources.wrong("summary", f"it has no run of {settings.model} on {settings.task}")
    places: dict[tuple[float, float], list[Row]] = {}
    for run in runs:
        places.setdefault(place_of(sources, run, settings), []).append(run)
    metric = artifact.configuration.metrics[settings.metric]
    naive = best({settings.metric: mean_scores(runs, settings.metric, metric.factor)}, settings.metric, metric.sign)
    squares = {
        place: marked(square_of(sources, shown, settings.metric, metric.factor), naive, metric.sign)
        for place, shown in places.items()
    }
    published = artifact.published_grid(settings)
    theirs = {place: Square(value) for place, value in published.places().items()}
    return Panel(
        settings,
        metric,
        runs,
        ours=Grid(settings.rows, settings.columns, squares),
        theirs=Grid(published.row_name, published.column_name, theirs),
        published=published,
        naive=naive,
    )


def place_of(sources: Sources, run: Row, settings: PanelSettings) -> tuple[float, float]:
    """(row value, column value) of a run: the hyperparameters that it had."""
    had = json.loads(run["hyperparameters"])
    try:
        return float(had[settings.rows]), float(had[settings.columns])
    except KeyError as error:
        raise sources.wrong("summary", f"{run['directory']} has no hyperparameter {error}", "hyperparameters") from None


def square_of(sources: Sources, runs: Sequence[Row], metric: str, factor: float) -> Square:
    """The mean of the values that a place's finished runs report."""
    values = [measured(sources, run, metric) * factor for run in runs if run["status"] == "finished"]
    return Square(sum(values) / len(values) if values else math.nan, len(runs), len(runs) - len(values))


def marked(square: Square, naive: tuple[str, float] | None, sign: int) -> Square:
    """A square that knows whether it is no better than the best naive baseline."""
    return replace(square, naive=naive is not None and sign * (square.value - naive[1]) <= 0)


def measured(sources: Sources, run: Row, metric: str) -> float:
    """The value that a run reports; nan where no evaluation gave a finite number."""
    found = measured_of(run)
    if metric not in found and run["metric"]:
        raise sources.wrong("summary", f"{run['directory']} has no {metric}", "measured")
    return found.get(metric, math.nan)


def draw_grid(ax: Axes, grid: Grid, panel: Panel, gid: str) -> None:
    """The squares in colour, each with its text, the values of rows and columns, and a scale of colours."""
    values = np.ma.masked_invalid([[square.value for square in row] for row in grid.squares])
    texts = [[square.text(panel.metric.decimals) for square in row] for row in grid.squares]
    colours, norm = colours_of(values.compressed(), panel.metric.better, panel.settings.colour_scale)
    image = ax.imshow(values, cmap=colours, norm=norm, aspect="auto", gid=gid)
    size = font_size([text for row in texts for text in row], values.shape)
    for i, j in np.ndindex(values.shape):
        colour = colours(norm(values[i, j])) if np.isfinite(grid.squares[i][j].value) else None
        name = f"{gid} {grid.row_values[i]:g} {grid.column_values[j]:g}"
        draw_square(ax, j, i, texts[i][j], colour, fontsize=size, gid=name)
    ax.set_xticks(range(values.shape[1]), [f"{value:g}" for value in grid.column_values])
    ax.set_yticks(range(values.shape[0]), [f"{value:g}" for value in grid.row_values])
    ax.set_xlabel(NAMES.get(grid.columns, grid.columns))
    ax.set_ylabel(NAMES.get(grid.rows, grid.rows))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if values.count():
        bar = ax.figure.colorbar(image, ax=ax, pad=0.02, aspect=25)
        if isinstance(norm, LogNorm):
            plain_numbers(bar.ax.yaxis)


def draw_square(ax: Axes, x: int, y: int, text: str, colour: Sequence[float] | None, **options: Any) -> None:
    """The text of a square, in an ink that its colour lets be read; hatched where it has no number to colour it by."""
    style: dict[str, Any] = {"ha": "center", "va": "center", **options}
    if colour is None:
        ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fc="white", ec="0.7", hatch="////", lw=0, gid="hatch"))
        style["bbox"] = {"fc": "white", "ec": "none", "pad": 1.5}
    elif luminance(colour) < 0.45:
        style["color"] = "white"
    if text:
        ax.text(x, y, text, **style)


def colours_of(
    values: NDArray, better: Literal["higher", "lower"], scale: Literal["linear", "log"]
) -> tuple[Colormap, Normalize]:
    """Yellow to green with green the better end.

    Args:
        values: (n,), finite.
        scale: "log" for values that differ by factors; linear where one of them is not above 0.
    """
    low, high = (values.min(), values.max()) if values.size else (0.0, 1.0)
    logarithmic = scale == "log" and low > 0
    if low == high:  # one colour: neither end of the scale
        low, high = (low / 2, low * 2) if logarithmic else (low - 0.5, high + 0.5)
    colours = matplotlib.colormaps["YlGn" if better == "higher" else "YlGn_r"]
    return colours, (LogNorm if logarithmic else Normalize)(low, high)


def font_size(texts: Sequence[str], shape: tuple[int, int]) -> float:
    """The largest size, in points and between 4 and 9, at which every text fits its square."""
    lines = [text.split("\n") for text in texts]
    width = max((len(line) for text in lines for line in text), default=1) * 0.68
    height = max((len(text) for text in lines), default=1) * 1.3
    return float(np.clip(min(72 * GRID_WIDTH / shape[1] / width, 72 * GRID_HEIGHT / shape[0] / height), 4, 9))


def describe_panel(above: Axes, below: Axes, configuration: Configuration, panel: Panel) -> None:
    """Titles and labels of a pair: the metric, the task, sizes and seeds, and the data that were really used."""
    title = panel.published.title
    seeds = len({run["seed"] for run in panel.runs})
    about = [f"Ours: {title}", sizes_of(configuration, panel.runs), f"mean of {seeds} seeds" if seeds > 1 else "1 seed"]
    parts = [", ".join(filter(None, about)), task_title(configuration, panel.runs), data_of(configuration, panel.runs)]
    above.set_title("\n".join(line for part in parts for line in textwrap.wrap(part, TITLE)), linespacing=1.3)
    data = configuration.title_of(configuration.papers_tasks[panel.settings.task].dataset)
    text = f"Published: {title}, N = {panel.published.size}, {data}"
    below.set_title("\n".join(textwrap.wrap(text, TITLE)), linespacing=1.3)


def notes_of(configuration: Configuration, panels: Sequence[Panel], published: Sequence[str]) -> list[str]:
    """The caption, by paragraph; `published` are the notes on all the published grids."""
    runs = [run for panel in panels for run in panel.runs]
    chosen = chosen_note(configuration, runs)
    when = f", each run at its {chosen}" if chosen else ""
    logarithmic = " and ".join(panel.published.title for panel in panels if panel.settings.colour_scale == "log")
    text = (
        f"Above: ours, means over seeds{when}; below: the paper's. Each grid has its own colours, green for the better "
        f"end{f', by the logarithm for {logarithmic}' if logarithmic else ''}."
    )
    texts = [
        f"{one.metric.title}: {one.naive[0]}, {number(one.naive[1], one.metric.decimals)}"
        for one in panels
        if one.naive
    ]
    if texts:
        text += f" {NAIVE} no better than the best naive baseline ({'; '.join(texts)})."
    if any(run["status"] == "diverged" for run in runs):
        text += " n/m div.: n of m seeds diverged and are not in the mean."
    if any(not math.isfinite(square.value) for panel in panels for square in panel.ours.by_place.values()):
        text += " Hatched: no number, because every seed diverged or the number of one that finished is not finite."
    grids = [f"{panel.published.title}: {' '.join(panel.published.notes)}" for panel in panels]
    return [
        scale_note(configuration, runs),
        text,
        " ".join(["Published:", *published, *grids]),
        made_note(runs),
    ]
