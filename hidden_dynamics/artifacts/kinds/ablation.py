"""Grids over two hyperparameters, ours above the paper's (MomentumRNN, Figure 7: momentum mu by step size s)."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hidden_dynamics.artifacts.base import REQUIRED, ArtifactSettings, BesidePublished, InPanels
from hidden_dynamics.artifacts.notes import about, figure_notes, subtitle_of
from hidden_dynamics.artifacts.sheet import luminance, page, plain_numbers, style
from hidden_dynamics.artifacts.tables import number
from hidden_dynamics.configuration import Configuration, Entry
from hidden_dynamics.configuration.entries import mistake
from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.configuration.schema import Metric
from hidden_dynamics.papers.published import GridRow, published_task
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.record import RunRecord
from hidden_dynamics.results.seeds import best, mean_scores

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize

    from hidden_dynamics.artifacts.sheet import Page

NAIVE = "†"
NAMES = {"mu": "momentum μ", "s": "step size s"}
BY_FACTORS = 3.0  # values that differ by more have logarithmic colours
PANEL_WIDTH = 4.2  # inches
TITLE = 62  # characters in a line of a panel's title


class PanelSettings(Entry):
    task: str
    model: str
    metric: str


class Settings(ArtifactSettings):
    published: str = REQUIRED
    panels: Annotated[list[PanelSettings], Field(min_length=1)]


class Ablation(BesidePublished, InPanels):
    Settings = Settings
    summarised = True
    with_extras = False  # the grids are of the paper's models alone

    def cases_of(self, panel: PanelSettings) -> list[Case]:
        task = self.configuration.tasks.get(panel.task)
        entry = task.models.get(panel.model) if task else None
        if entry is None or entry.grid is None:
            text = f"an ablation of {panel.model} on {panel.task} needs a grid in config/tasks.yaml."
            raise mistake(self.configured_at, text)
        return [Case(panel.task, panel.model, size) for size in entry.run_sizes]

    def chosen_metrics(self) -> list[str]:
        return list(dict.fromkeys(panel.metric for panel in self.settings.panels))

    def published_grid(self, panel: PanelSettings) -> GridRow:
        """A `UserError` where the paper has no such grid."""
        task = published_task(self.configuration, panel.task)
        row = self.published.grid(task, panel.model, panel.metric)
        if row is None:
            text = f"it has no grid of {panel.metric} for {panel.model} on {task}: add it, or leave out the panel"
            raise mistake(f"published/{self.settings.published}", text)
        return row


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


Grid = Mapping[tuple[float, float], Square]  # by row value and column value


@dataclass(frozen=True)
class Panel:
    """A pair of grids of a model's runs on a task."""

    task: str
    metric: Metric
    runs: Sequence[RunRecord]
    ours: Grid
    theirs: Grid
    published: GridRow


def draw(artifact: Ablation, evidence: Evidence) -> "Page":
    """Pairs of annotated grids, one pair per panel: ours (means over seeds) above, the paper's below. A `UserError`
    where nothing is published for a panel."""
    configuration = artifact.configuration
    panels = [panel_of(artifact, evidence, settings) for settings in artifact.panels]
    runs = [run for panel in panels for run in panel.runs]
    grids = [f"{panel.published.title}: {' '.join(panel.published.notes)}" for panel in panels]
    with style():
        figure, body = page(
            artifact.settings,
            subtitle_of(configuration, runs),
            width=max(6.8, PANEL_WIDTH * len(panels)),
            height=6.6,
            notes=figure_notes(configuration, runs, " ".join(["Published:", *artifact.published.notes, *grids])),
            data=squares_of(panels),
        )
        for (above, below), panel in zip(body.subplots(2, len(panels), squeeze=False).T, panels, strict=True):
            draw_grid(above, panel.ours, panel, gid="ours")
            draw_grid(below, panel.theirs, panel, gid="published")
            describe(above, below, configuration, panel)
    return figure


def panel_of(artifact: Ablation, evidence: Evidence, settings: PanelSettings) -> Panel:
    """Both grids of a panel: the measured one and the published one."""
    runs = [run for run in evidence.on(settings.task) if run.model == settings.model]
    metric, published = artifact.configuration.metrics[settings.metric], artifact.published_grid(settings)
    naive = best({settings.metric: mean_scores(runs, settings.metric, metric.factor)}, settings.metric, metric.sign)
    places: dict[tuple[float, float], list[RunRecord]] = {}
    for run in runs:
        row, column = (float(run.hyperparameters[name]) for name in (published.row_name, published.column_name))
        places.setdefault((row, column), []).append(run)
    ours = {}
    for place, shown in places.items():
        values = [run.value(settings.metric) * metric.factor for run in shown if run.status == "finished"]
        value = sum(values) / len(values) if values else math.nan
        idle = naive is not None and metric.sign * (value - naive[1]) <= 0
        diverged, failed = (sum(run.status == how for run in shown) for how in ("diverged", "failed"))
        ours[place] = Square(value, len(shown), diverged, failed, idle)
    theirs = {place: Square(value) for place, value in published.places().items()}
    return Panel(settings.task, metric, runs, ours, theirs, published)


def squares_of(panels: Sequence[Panel]) -> "pandas.DataFrame":
    """A row for each square of ours, with the published number of the same place, then for those published alone."""
    import pandas

    rows = []
    for panel in panels:
        names, none = (panel.published.row_name, panel.published.column_name), Square()
        for place in [*panel.ours, *(place for place in panel.theirs if place not in panel.ours)]:
            square, theirs = panel.ours.get(place, none), panel.theirs.get(place, none)
            about = {"task": panel.task, "metric": panel.published.metric, **dict(zip(names, place, strict=True))}
            counts = {name: getattr(square, name) for name in ("runs", "diverged", "failed", "naive")}
            rows.append(about | {"ours": square.value, "published": theirs.value} | counts)
    return pandas.DataFrame(rows)


def draw_grid(ax: "Axes", grid: Grid, panel: Panel, gid: str) -> None:
    """The squares in colour, each with its text, the largest row value on top, and a scale of colours."""
    rows = sorted({row for row, _ in grid}, reverse=True)
    columns = sorted({column for _, column in grid})
    squares = [[grid.get((row, column), Square()) for column in columns] for row in rows]
    values = np.ma.masked_invalid([[square.value for square in line] for line in squares])
    colours, norm = colours_of(values.compressed(), panel.metric.better)
    image = ax.imshow(values, cmap=colours, norm=norm, aspect="auto", gid=gid)
    for i, j in np.ndindex(values.shape):
        square = squares[i][j]
        colour = colours(norm(square.value)) if np.isfinite(square.value) else None
        draw_square(ax, j, i, square.text(panel.metric.decimals), colour, gid=f"{gid} {rows[i]:g} {columns[j]:g}")
    ax.set_xticks(range(len(columns)), [f"{value:g}" for value in columns])
    ax.set_yticks(range(len(rows)), [f"{value:g}" for value in rows])
    ax.set_xlabel(NAMES.get(panel.published.column_name, panel.published.column_name))
    ax.set_ylabel(NAMES.get(panel.published.row_name, panel.published.row_name))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if values.count():
        bar = ax.figure.colorbar(image, ax=ax, pad=0.02, aspect=25)
        if bar.ax.get_yscale() == "log":
            plain_numbers(bar.ax.yaxis)


def draw_square(ax: "Axes", x: int, y: int, text: str, colour: Sequence[float] | None, gid: str) -> None:
    """The text of a square, in an ink that its colour lets be read; hatched where it has no number to colour it by."""
    look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8, "gid": gid}
    if colour is None:
        ax.bar(x, 1, 1, y - 0.5, fc="white", ec="0.7", hatch="////", lw=0, gid="hatch")
        look["bbox"] = {"fc": "white", "ec": "none", "pad": 1.5}
    elif luminance(colour) < 0.45:
        look["color"] = "white"
    if text:
        ax.text(x, y, text, **look)


def colours_of(values: NDArray, better: Literal["higher", "lower"]) -> "tuple[Colormap, Normalize]":
    """Yellow to green with green the better end; logarithmic where values (n,), finite, differ by large factors."""
    import matplotlib
    from matplotlib.colors import LogNorm, Normalize

    low, high = (values.min(), values.max()) if values.size else (0.0, 1.0)
    logarithmic = low > 0 and high > BY_FACTORS * low
    if low == high:  # one colour: neither end of the scale
        low, high = low - 0.5, high + 0.5
    colours = matplotlib.colormaps["YlGn" if better == "higher" else "YlGn_r"]
    return colours, (LogNorm if logarithmic else Normalize)(low, high)


def describe(above: "Axes", below: "Axes", configuration: Configuration, panel: Panel) -> None:
    """Titles of a pair: metric, task, sizes and seeds, data other than the paper's; metric, size and data."""
    title, seeds = panel.published.title, len({run.seed for run in panel.runs})
    mean = f"mean of {seeds} seeds" if seeds > 1 else "1 seed"
    lines = about(configuration, panel.runs, f"Ours: {title}", panel.runs[0].task_title, mean)
    above.set_title("\n".join(part for line in lines for part in textwrap.wrap(line, TITLE)), linespacing=1.3)
    data = configuration.title_of(configuration.papers_tasks[panel.task].dataset)
    text = f"Published: {title}, N = {panel.published.size}, {data}"
    below.set_title("\n".join(textwrap.wrap(text, TITLE)), linespacing=1.3)
