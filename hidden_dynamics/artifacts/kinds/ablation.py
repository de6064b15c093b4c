"""Grids over two hyperparameters, ours above the paper's (MomentumRNN, Figure 7: momentum mu by step size s)."""

import json
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hidden_dynamics.artifacts.base import REQUIRED, ArtifactSettings, BesidePublished, InPanels
from hidden_dynamics.artifacts.notes import about, figure_notes, subtitle_of
from hidden_dynamics.artifacts.sheet import luminance, page, plain_numbers, style
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import number
from hidden_dynamics.configuration import Configuration, Entry
from hidden_dynamics.configuration.entries import mistake
from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.configuration.schema import Metric
from hidden_dynamics.papers.published import GridRow, published_task
from hidden_dynamics.results.rows import Row
from hidden_dynamics.results.run_files import measured_of
from hidden_dynamics.results.seeds import best, mean_scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.figure import Figure

NAIVE = "†"
NAMES = {"mu": "momentum μ", "s": "step size s"}
PANEL_WIDTH = 4.2  # inches
TITLE = 62  # characters in a line of a panel's title


class PanelSettings(Entry):
    task: str
    model: str
    rows: str
    columns: str
    metric: str
    colour_scale: Literal["linear", "log"] = "linear"


class Settings(ArtifactSettings):
    published: str = REQUIRED
    panels: Annotated[list[PanelSettings], Field(min_length=1)]


class Ablation(BesidePublished, InPanels):
    Settings = Settings
    summarised = True
    with_extras = False  # the grids are of the paper's models alone
    ranked_as = "cells of the grid"

    def cases_of(self, panel: PanelSettings) -> list[Case]:
        task = self.configuration.tasks.get(panel.task)
        entry = task.models.get(panel.model) if task else None
        if entry is None or entry.grid is None:
            text = f"an ablation of {panel.model} on {panel.task} needs a grid in config/tasks.yaml."
            raise mistake(self.configured_at, text)
        return [Case(panel.task, panel.model, size) for size in entry.run_sizes]

    def chosen_metrics(self) -> list[str]:
        return list(dict.fromkeys(panel.metric for panel in self.settings.panels))

    def metrics(self) -> list[str]:
        return self.chosen_metrics()

    def published_grid(self, panel: PanelSettings) -> GridRow:
        """A `UserError` where the paper has no such grid."""
        task = published_task(self.configuration, panel.task)
        row = self.published.grid(task, panel.model, panel.metric)
        if row is None:
            text = f"it has no grid of {panel.metric} for {panel.model} on {task}: add it, or leave out the panel"
            raise mistake(f"published/{self.settings.published}", text)
        return row

    def rankings(self) -> Iterator[tuple[str, str, Mapping[Case, float]]]:
        for panel in self.settings.panels:
            grid = self.published_grid(panel)
            values = {
                Case(panel.task, panel.model, f"{grid.row_name}{row}-{grid.column_name}{column}"): value
                for (row, column), value in grid.places().items()
            }
            configured = self.cases_of(panel)
            yield panel.task, panel.metric, {cell: value for cell, value in values.items() if cell in configured}


def draw(artifact: Ablation, sources: Sources) -> "Figure":
    """Pairs of annotated grids, one pair per panel: ours (means over seeds) above, the paper's below. A `UserError`
    where nothing is published for a panel, or it has no runs."""
    configuration = artifact.configuration
    panels = [panel_of(artifact, sources, settings) for settings in artifact.panels]
    runs = [run for panel in panels for run in panel.runs]
    grids = [f"{panel.published.title}: {' '.join(panel.published.notes)}" for panel in panels]
    with style():
        figure, body = page(
            artifact.settings,
            subtitle_of(configuration, runs),
            width=max(6.8, PANEL_WIDTH * len(panels)),
            height=6.6,
            notes=figure_notes(configuration, runs, " ".join(["Published:", *artifact.published.notes, *grids])),
        )
        for (above, below), panel in zip(body.subplots(2, len(panels), squeeze=False).T, panels, strict=True):
            draw_grid(above, panel.ours, panel, gid="ours")
            draw_grid(below, panel.theirs, panel, gid="published")
            describe(above, below, configuration, panel)
    return figure


@dataclass(frozen=True)
class Square:
    """One place of a grid: the mean over the finished runs (nan without any), how many of the runs diverged or
    failed, and whether it is no better than the best naive baseline."""

    value: float = math.nan
    runs: int = 0
    diverged: int = 0
    failed: int = 0
    naive: bool = False

    def text(self, decimals: int) -> str:
        """The text in the square; empty where nothing was run."""
        lost = {"diverged": self.diverged, "failed": self.failed}
        if math.isnan(self.value) and sum(lost.values()) == self.runs:
            return "\n".join(f"{how}\n{count}/{self.runs}" for how, count in lost.items() if count)
        text = number(self.value, decimals) if math.isfinite(self.value) else "not finite"
        text += NAIVE if self.naive else ""
        text += f"\n{self.diverged}/{self.runs} div." if self.diverged else ""
        return f"{text}\n{self.failed}/{self.runs} failed" if self.failed else text


@dataclass(frozen=True)
class Panel:
    """A pair of grids.

    Attributes:
        runs: rows of the summary.
        ours, theirs: the squares by (row value, column value).
    """

    settings: PanelSettings
    metric: Metric
    runs: Sequence[Row]
    ours: Mapping[tuple[float, float], Square]
    theirs: Mapping[tuple[float, float], Square]
    published: GridRow


def panel_of(artifact: Ablation, sources: Sources, settings: PanelSettings) -> Panel:
    """Both grids of a panel: the measured one and the published one."""
    runs = [run for run in sources.summary if (run["task"], run["model"]) == (settings.task, settings.model)]
    if not runs:
        raise sources.wrong("runs", f"there is no run of {settings.model} on {settings.task}")
    metric, published = artifact.configuration.metrics[settings.metric], artifact.published_grid(settings)
    naive = best({settings.metric: mean_scores(runs, settings.metric, metric.factor)}, settings.metric, metric.sign)
    places: dict[tuple[float, float], list[Row]] = {}
    for run in runs:
        had = json.loads(run["hyperparameters"])
        places.setdefault((float(had[settings.rows]), float(had[settings.columns])), []).append(run)
    ours = {}
    for place, shown in places.items():
        finished = [run for run in shown if run["status"] == "finished"]
        values = [measured_of(run)[settings.metric] * metric.factor if run["metric"] else math.nan for run in finished]
        value = sum(values) / len(values) if values else math.nan
        idle = naive is not None and metric.sign * (value - naive[1]) <= 0
        diverged, failed = (sum(run["status"] == how for run in shown) for how in ("diverged", "failed"))
        ours[place] = Square(value, len(shown), diverged, failed, idle)
    theirs = {place: Square(value) for place, value in published.places().items()}
    return Panel(settings, metric, runs, ours, theirs, published)


def draw_grid(ax: "Axes", by_place: Mapping[tuple[float, float], Square], panel: Panel, gid: str) -> None:
    """The squares in colour, each with its text, the largest row value on top, and a scale of colours."""
    rows = sorted({row for row, _ in by_place}, reverse=True)
    columns = sorted({column for _, column in by_place})
    squares = [[by_place.get((row, column), Square()) for column in columns] for row in rows]
    values = np.ma.masked_invalid([[square.value for square in line] for line in squares])
    texts = [[square.text(panel.metric.decimals) for square in line] for line in squares]
    colours, norm = colours_of(values.compressed(), panel.metric.better, panel.settings.colour_scale)
    image = ax.imshow(values, cmap=colours, norm=norm, aspect="auto", gid=gid)
    for i, j in np.ndindex(values.shape):
        colour = colours(norm(squares[i][j].value)) if np.isfinite(squares[i][j].value) else None
        draw_square(ax, j, i, texts[i][j], colour, fontsize=8, gid=f"{gid} {rows[i]:g} {columns[j]:g}")
    ax.set_xticks(range(len(columns)), [f"{value:g}" for value in columns])
    ax.set_yticks(range(len(rows)), [f"{value:g}" for value in rows])
    ax.set_xlabel(NAMES.get(panel.settings.columns, panel.settings.columns))
    ax.set_ylabel(NAMES.get(panel.settings.rows, panel.settings.rows))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if values.count():
        bar = ax.figure.colorbar(image, ax=ax, pad=0.02, aspect=25)
        if bar.ax.get_yscale() == "log":
            plain_numbers(bar.ax.yaxis)


def draw_square(ax: "Axes", x: int, y: int, text: str, colour: Sequence[float] | None, **options: object) -> None:
    """The text of a square, in an ink that its colour lets be read; hatched where it has no number to colour it by."""
    look: dict[str, Any] = {"ha": "center", "va": "center", **options}
    if colour is None:
        ax.bar(x, 1, 1, y - 0.5, fc="white", ec="0.7", hatch="////", lw=0, gid="hatch")
        look["bbox"] = {"fc": "white", "ec": "none", "pad": 1.5}
    elif luminance(colour) < 0.45:
        look["color"] = "white"
    if text:
        ax.text(x, y, text, **look)


def colours_of(
    values: NDArray, better: Literal["higher", "lower"], scale: Literal["linear", "log"]
) -> "tuple[Colormap, Normalize]":
    """Yellow to green with green the better end.

    Args:
        values: (n,), finite.
        scale: "log" for values that differ by factors; linear where one of them is not above 0.
    """
    import matplotlib
    from matplotlib.colors import LogNorm, Normalize

    low, high = (values.min(), values.max()) if values.size else (0.0, 1.0)
    logarithmic = scale == "log" and low > 0
    if low == high:  # one colour: neither end of the scale
        low, high = (low / 2, low * 2) if logarithmic else (low - 0.5, high + 0.5)
    colours = matplotlib.colormaps["YlGn" if better == "higher" else "YlGn_r"]
    return colours, (LogNorm if logarithmic else Normalize)(low, high)


def describe(above: "Axes", below: "Axes", configuration: Configuration, panel: Panel) -> None:
    """Titles of a pair: metric, task, sizes and seeds, data other than the paper's; metric, size and data."""
    title, seeds = panel.published.title, len({run["seed"] for run in panel.runs})
    mean = f"mean of {seeds} seeds" if seeds > 1 else "1 seed"
    lines = about(configuration, panel.runs, f"Ours: {title}", panel.runs[0]["task_title"], mean)
    above.set_title("\n".join(part for line in lines for part in textwrap.wrap(line, TITLE)), linespacing=1.3)
    data = configuration.title_of(configuration.papers_tasks[panel.settings.task].dataset)
    text = f"Published: {title}, N = {panel.published.size}, {data}"
    below.set_title("\n".join(textwrap.wrap(text, TITLE)), linespacing=1.3)
