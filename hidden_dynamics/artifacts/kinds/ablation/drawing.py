"""Grids over two hyperparameters, ours above the paper's (MomentumRNN, Figure 7: momentum mu by step size s)."""

import json
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.errors import UserError
from hidden_dynamics.artifacts.notes import scale_notes
from hidden_dynamics.artifacts.sheet import STYLE, page, plain_numbers
from hidden_dynamics.artifacts.figure_notes import (
    data_of,
    made_note,
    papers_task,
    sizes_of,
    subtitle_of,
    task_title,
)
from hidden_dynamics.papers.published import UNITS, load_published, published_task
from hidden_dynamics.artifacts.tables import number

NAMES = {"mu": "momentum μ", "s": "step size s"}
RULES = {"max": "highest", "min": "lowest"}
PANEL_WIDTH = 4.2  # inches; of them a grid has
GRID_HEIGHT, GRID_WIDTH = 2.5, 3.2
TITLE = 62  # characters in a line of a panel's title


@dataclass(frozen=True)
class Cell:
    """One place of a grid: the mean over the finished runs (nan without any), and how many of the runs diverged."""

    value: float = math.nan
    runs: int = 0
    diverged: int = 0

    def text(self, decimals: int) -> str:
        """What is written into the cell; empty where nothing was run."""
        if math.isnan(self.value) and self.diverged == self.runs:
            return f"diverged\n{self.diverged}/{self.runs}" if self.runs else ""
        text = number(self.value, decimals) if math.isfinite(self.value) else "not finite"
        return f"{text}\n{self.diverged}/{self.runs} div." if self.diverged else text


@dataclass(frozen=True)
class Grid:
    """Cells over two hyperparameters: the largest row value on top, the smallest column value on the left.

    Attributes:
        rows, columns: the hyperparameters' names.
        by_place: the cells by (row value, column value).
    """

    rows: str
    columns: str
    by_place: Mapping[tuple[float, float], Cell]

    @property
    def row_values(self) -> list[float]:
        return sorted({row for row, _ in self.by_place}, reverse=True)

    @property
    def column_values(self) -> list[float]:
        return sorted({column for _, column in self.by_place})

    @property
    def cells(self) -> list[list[Cell]]:
        """Row by row, as shown."""
        return [[self.by_place.get((row, column), Cell()) for column in self.column_values] for row in self.row_values]


@dataclass(frozen=True)
class Panel:
    """A pair of grids: entry in the configuration, rows of the summary, ours, the paper's and what it says of it."""

    entry: Mapping[str, str]
    runs: Sequence[Mapping[str, str]]
    ours: Grid
    theirs: Grid
    published: Mapping[str, Any]

    @property
    def colour_scale(self) -> str:
        return self.entry.get("colour_scale", "linear")


def ablation_figure(configuration: Configuration, artifact: str, summary: Sequence[Mapping]) -> Figure:
    """Pairs of annotated grids, one pair per panel: ours (means over seeds) above, the paper's below.

    Args:
        summary: the rows that scripts/summarise.py writes, as text by column.

    Raises:
        UserError: nothing is published for a panel, it has no runs, or a finished run did not measure its metric.
    """
    entry = configuration.artifacts[artifact]
    published = load_published(entry["published"])
    panels = []
    for panel in entry["panels"]:
        row = published_row(configuration, published, panel, f"published/{entry['published']}")
        panels.append(panel_of(configuration, panel, row, summary))
    runs = [run for panel in panels for run in panel.runs]
    with matplotlib.rc_context(STYLE):
        figure, body = page(
            entry,
            subtitle=subtitle_of(configuration, runs),
            width=max(6.8, PANEL_WIDTH * len(panels)),
            height=6.6,
            handles=[],
            notes=notes_of(configuration, panels, published["notes"]),
        )
        axes = body.subplots(2, len(panels), squeeze=False)
        for (above, below), panel in zip(axes.T, panels, strict=True):
            draw_grid(above, panel.ours, panel, gid="ours")
            draw_grid(below, panel.theirs, panel, gid="published")
            describe_panel(above, below, configuration, panel)
    return figure


def panel_of(
    configuration: Configuration, panel: Mapping[str, str], published: Mapping[str, Any], summary: Sequence[Mapping]
) -> Panel:
    """Both grids of a panel: what the runs measured, and what is published."""
    runs = [run for run in summary if (run["task"], run["model"]) == (panel["task"], panel["model"])]
    if not runs:
        raise UserError(f"the summary has no run of {panel['model']} on {panel['task']}: run snakemake again.")
    by_size = configuration.tasks[panel["task"]]["models"][panel["model"]].get("by_size", {})
    places: dict[tuple[float, float], list[Mapping]] = {}
    for run in runs:
        places.setdefault(place_of(run, by_size, panel), []).append(run)
    cells = {place: cell_of(shown, panel["metric"], UNITS[published["unit"]]) for place, shown in places.items()}
    return Panel(panel, runs, Grid(panel["rows"], panel["columns"], cells), grid_of(published), published)


def grid_of(published: Mapping[str, Any]) -> Grid:
    """A published row as a grid."""
    (rows, row_values), (columns, column_values) = (next(iter(published[key].items())) for key in ("rows", "columns"))
    places = [(float(row), float(column)) for row in row_values for column in column_values]
    values = [float(value) for row in published["values"] for value in row]
    return Grid(rows, columns, {place: Cell(value) for place, value in zip(places, values, strict=True)})


def published_row(
    configuration: Configuration, published: Mapping[str, Any], panel: Mapping[str, str], origin: str
) -> Mapping[str, Any]:
    """The row of a published file that holds the panel's grid."""
    task = published_task(configuration, panel["task"])
    for row in published["rows"]:
        if (row["task"], row["model"], row["metric"]) == (task, panel["model"], panel["metric"]):
            return row
    raise UserError(
        f"{origin} has no grid of {panel['metric']} for {panel['model']} on {task}: "
        "add it there, or leave the panel out of config/artifacts.yaml."
    )


def place_of(run: Mapping[str, str], by_size: Mapping[str, Mapping], panel: Mapping[str, str]) -> tuple[float, float]:
    """(row value, column value) of a run: the hyperparameters that its place in the configured grid gives it."""
    try:
        given = by_size[run["paper_size"]]["hyperparameters"]
        return float(given[panel["rows"]]), float(given[panel["columns"]])
    except KeyError:
        raise UserError(
            f"{panel['task']}, {panel['model']}: '{run['paper_size']}' is no place in a grid of {panel['rows']} and "
            f"{panel['columns']} in config/tasks.yaml: run snakemake again."
        ) from None


def cell_of(runs: Sequence[Mapping[str, str]], metric: str, unit: float) -> Cell:
    """The mean of what the finished runs measured where they report, and how many of the runs diverged.

    A run that finished without anything to report, because no evaluation gave a finite number, is no finite number.
    """
    finished = [measured(run, metric) * unit for run in runs if run["status"] == "finished"]
    return Cell(sum(finished) / len(finished) if finished else math.nan, len(runs), len(runs) - len(finished))


def measured(run: Mapping[str, str], metric: str) -> float:
    if run["metric"] == run["measured"] == "":
        return math.nan
    try:
        return float(json.loads(run["measured"])[metric])
    except (KeyError, TypeError, ValueError):
        raise UserError(f"{run['directory']}: its summary has no {metric}: run snakemake again.") from None


def draw_grid(ax: Axes, grid: Grid, panel: Panel, gid: str) -> None:
    """The cells in colour, each with its text, the values of rows and columns, and a scale of colours."""
    published = panel.published
    values = np.ma.masked_invalid([[cell.value for cell in row] for row in grid.cells])
    texts = [[cell.text(published["decimals"]) for cell in row] for row in grid.cells]
    colours, norm = colours_of(values.compressed(), published["better"], panel.colour_scale)
    image = ax.imshow(values, cmap=colours, norm=norm, aspect="auto", gid=gid)
    size = font_size([text for row in texts for text in row], values.shape)
    for i, j in np.ndindex(values.shape):
        colour = colours(norm(values[i, j])) if np.isfinite(grid.cells[i][j].value) else None
        name = f"{gid} {grid.row_values[i]:g} {grid.column_values[j]:g}"
        draw_cell(ax, j, i, texts[i][j], colour, fontsize=size, gid=name)
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


def draw_cell(ax: Axes, x: int, y: int, text: str, colour: Sequence[float] | None, **options: Any) -> None:
    """The text of a cell, in an ink that its colour lets be read; hatched where it has no number to colour it by."""
    style: dict[str, Any] = {"ha": "center", "va": "center", **options}
    if colour is None:
        ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fc="white", ec="0.7", hatch="////", lw=0, gid="hatch"))
        style["bbox"] = {"fc": "white", "ec": "none", "pad": 1.5}
    elif luminance(colour) < 0.45:
        style["color"] = "white"
    if text:
        ax.text(x, y, text, **style)


def colours_of(values: NDArray, better: str, scale: str = "linear") -> tuple[Colormap, Normalize]:
    """Yellow to green with green the better end.

    Args:
        values: (n,), finite.
        better: "higher" or "lower".
        scale: "linear", or "log" for values that differ by factors; linear where one of them is not above 0.
    """
    low, high = (values.min(), values.max()) if values.size else (0.0, 1.0)
    logarithmic = scale == "log" and low > 0
    if low == high:  # one colour: neither end of the scale
        low, high = (low / 2, low * 2) if logarithmic else (low - 0.5, high + 0.5)
    colours = matplotlib.colormaps["YlGn" if better == "higher" else "YlGn_r"]
    return colours, (LogNorm if logarithmic else Normalize)(low, high)


def luminance(colour: Sequence[float]) -> float:
    red, green, blue = colour[:3]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def font_size(texts: Sequence[str], shape: tuple[int, int]) -> float:
    """The largest size, in points and between 4 and 9, at which every text fits its cell."""
    lines = [text.split("\n") for text in texts]
    width = max((len(line) for text in lines for line in text), default=1) * 0.68
    height = max((len(text) for text in lines), default=1) * 1.3
    return float(np.clip(min(72 * GRID_WIDTH / shape[1] / width, 72 * GRID_HEIGHT / shape[0] / height), 4, 9))


def describe_panel(above: Axes, below: Axes, configuration: Configuration, panel: Panel) -> None:
    """Titles and labels of a pair: the metric, the task, sizes and seeds, and the data that were really used."""
    task, metric = panel.entry["task"], panel.published["title"]
    seeds = len({run["seed"] for run in panel.runs})
    about = [f"Ours: {metric}", sizes_of(panel.runs), f"mean of {seeds} seeds" if seeds > 1 else "1 seed"]
    parts = [", ".join(filter(None, about)), task_title(configuration, task, panel.runs)]
    parts.append(data_of(configuration, task, panel.runs))
    above.set_title("\n".join(line for part in parts for line in textwrap.wrap(part, TITLE)), linespacing=1.3)
    dataset = papers_task(panel.published["task"]).get("dataset", "")
    title = configuration.datasets.get(dataset, {}).get("title", panel.published["task"])
    text = f"Published: {metric}, N = {panel.published['size']}, {title}"
    below.set_title("\n".join(textwrap.wrap(text, TITLE)), linespacing=1.3)


def notes_of(configuration: Configuration, panels: Sequence[Panel], published: Sequence[str]) -> list[str]:
    """The caption, by paragraph; `published` are the notes on all the published grids."""
    runs = [run for panel in panels for run in panel.runs]
    rules = dict.fromkeys((run["rule"], run["metric"]) for run in runs if run["metric"])
    chosen = " or ".join(f"{RULES.get(rule, rule)} {metric.replace('_', ' ')}" for rule, metric in rules)
    when = f", each run at its evaluation with the {chosen}" if chosen else ""
    logarithmic = " and ".join(panel.published["title"] for panel in panels if panel.colour_scale == "log")
    text = (
        f"Above: ours, means over seeds{when}; below: the paper's. Each grid has its own colours, green for the better "
        f"end{f', by the logarithm for {logarithmic}' if logarithmic else ''}."
    )
    if any(run["status"] == "diverged" for run in runs):
        text += " n/m div.: n of m seeds diverged and are not in the mean."
    if any(not math.isfinite(cell.value) for panel in panels for cell in panel.ours.by_place.values()):
        text += " Hatched: no number, because every seed diverged or the number of one that finished is not finite."
    grids = [f"{panel.published['title']}: {' '.join(panel.published['notes'])}" for panel in panels]
    return [
        " ".join(scale_notes(configuration)),
        text,
        " ".join(["Published:", *published, *grids]),
        made_note(runs),
    ]
