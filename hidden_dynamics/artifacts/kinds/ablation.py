"""Grids over two hyperparameters, ours above the paper's (MomentumRNN, Figure 7: momentum mu by step size s)."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hidden_dynamics.artifacts import sheet
from hidden_dynamics.artifacts.base import REQUIRED, ArtifactSettings, InPanels
from hidden_dynamics.artifacts.notes import about, figure_notes, subtitle_of
from hidden_dynamics.artifacts.tables import number
from hidden_dynamics.configuration import Case, Configuration, Entry, mistake
from hidden_dynamics.configuration.schema import Metric
from hidden_dynamics.papers.published import GridRow, published_task
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.record import RunRecord
from hidden_dynamics.results.seeds import best, mean_scores

if TYPE_CHECKING:
    from matplotlib.colors import Colormap, Normalize

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


class Ablation(InPanels):
    settings: Settings
    summarised = True
    with_extras = False  # the grids are of the paper's models alone

    def cases_of(self, panel: PanelSettings) -> list[Case]:
        task = self.configuration.tasks.get(panel.task)
        entry = task.models.get(panel.model) if task else None
        if entry is None or entry.grid is None:
            text = f"an ablation of {panel.model} on {panel.task} needs a grid in config/tasks.yaml."
            raise mistake(self.configured_at, text)
        return [Case(panel.task, panel.model, size) for size in entry.run_sizes]


@dataclass(frozen=True)
class Panel:
    """A pair of grids of a model's runs on a task.

    Attributes:
        squares: a row for each place that ran or is printed: the values of both hyperparameters by name, `ours`, the
            mean over the finished runs, and `published`, nan without; how many `runs` there are, and how many
            `diverged` or `failed`; whether ours is no better than the best naive baseline (`naive`).
    """

    metric: Metric
    runs: Sequence[RunRecord]
    published: GridRow
    squares: Sequence[Mapping[str, Any]]


def draw(artifact: Ablation, evidence: Evidence) -> "sheet.Page":
    """Pairs of annotated grids, one pair per panel: ours (means over seeds) above, the paper's below. A `UserError`
    where nothing is published for a panel."""
    configuration = artifact.configuration
    panels = [panel_of(artifact, evidence, settings) for settings in artifact.panels]
    runs = [run for panel in panels for run in panel.runs]
    grids = [f"{panel.published.title}: {' '.join(panel.published.notes)}" for panel in panels]
    figure, body = sheet.page(
        artifact.settings,
        subtitle_of(configuration, runs),
        width=max(6.8, PANEL_WIDTH * len(panels)),
        height=6.6,
        notes=figure_notes(artifact, runs, " ".join(["Published:", *artifact.published.notes, *grids])),
        data=[square for panel in panels for square in panel.squares],
    )
    for (above, below), panel in zip(body.subplots(2, len(panels), squeeze=False).T, panels, strict=True):
        draw_grid(above, panel, "ours")
        draw_grid(below, panel, "published")
        describe(above, below, configuration, panel)
    return figure


def panel_of(artifact: Ablation, evidence: Evidence, settings: PanelSettings) -> Panel:
    """A `UserError` where the paper has no such grid."""
    configuration = artifact.configuration
    metric, task = configuration.metrics[settings.metric], published_task(configuration, settings.task)
    published = artifact.published.grid(task, settings.model, settings.metric)
    if published is None:
        text = f"it has no grid of {settings.metric} for {settings.model} on {task}: add it, or leave out the panel"
        raise mistake(f"published/{artifact.settings.published}", text)
    runs = [run for run in evidence.on(settings.task) if run.model == settings.model]
    naive = best({settings.metric: mean_scores(runs, settings.metric, metric.factor)}, settings.metric, metric.sign)
    printed, names = published.places(), published.names
    places = {run.run.id: (float(run.hyperparameters[names[0]]), float(run.hyperparameters[names[1]])) for run in runs}
    rows = []
    for place in dict.fromkeys([*places.values(), *printed]):
        ran = [run for run in runs if places[run.run.id] == place]
        values = [run.value(settings.metric) * metric.factor for run in ran if run.status == "finished"]
        ours = sum(values) / len(values) if values else math.nan
        about = {"task": settings.task, "metric": settings.metric, **dict(zip(names, place, strict=True))}
        lost = {how: sum(run.status == how for run in ran) for how in ("diverged", "failed")}
        idle = naive is not None and metric.sign * (ours - naive[1]) <= 0
        numbers = {"ours": ours, "published": printed.get(place, math.nan), "runs": len(ran)}
        rows.append({**about, **numbers, **lost, "naive": idle})
    return Panel(metric, runs, published, rows)


def draw_grid(ax: "sheet.Axes", panel: Panel, of: str) -> None:
    """The squares of "ours" or "published" in colour, each with its text, the largest row value on top, and a scale of
    colours."""
    from matplotlib.colors import to_rgb

    names = panel.published.names
    squares = [square for square in panel.squares if (square["runs"] if of == "ours" else not math.isnan(square[of]))]
    rows, columns = (sorted({square[name] for square in squares}) for name in names)
    rows.reverse()
    grid = np.full((len(rows), len(columns)), np.nan)
    for square in squares:
        grid[rows.index(square[names[0]]), columns.index(square[names[1]])] = square[of]
    values = np.ma.masked_invalid(grid)
    colours, norm = colours_of(values.compressed(), panel.metric.better)
    image = ax.imshow(values, cmap=colours, norm=norm, aspect="auto", gid=of)
    for square in squares:
        row, column = (square[name] for name in names)
        text = ours_text(square, panel.metric.decimals) if of == "ours" else number(square[of], panel.metric.decimals)
        colour = to_rgb(colours(norm(square[of]))) if math.isfinite(square[of]) else None
        draw_square(ax, columns.index(column), rows.index(row), text, colour, gid=f"{of} {row:g} {column:g}")
    ax.set_xticks(range(len(columns)), [f"{value:g}" for value in columns])
    ax.set_yticks(range(len(rows)), [f"{value:g}" for value in rows])
    ax.set_ylabel(NAMES.get(names[0], names[0]))
    ax.set_xlabel(NAMES.get(names[1], names[1]))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if values.count():
        bar = ax.figure.colorbar(image, ax=ax, pad=0.02, aspect=25)
        if bar.ax.get_yscale() == "log":
            sheet.plain_numbers(bar.ax.yaxis)


def ours_text(square: Mapping[str, Any], decimals: int) -> str:
    """The text of a square of ours: the mean, or that it is not finite, and how many runs were lost."""
    lost = {how: f"{square[how]}/{square['runs']}" for how in ("diverged", "failed") if square[how]}
    if square["diverged"] + square["failed"] == square["runs"]:
        return "\n".join(f"{how}\n{share}" for how, share in lost.items())
    text = number(square["ours"], decimals) if math.isfinite(square["ours"]) else "not finite"
    shares = [f"{share} {'div.' if how == 'diverged' else how}" for how, share in lost.items()]
    return "\n".join([text + NAIVE * square["naive"], *shares])


def draw_square(ax: "sheet.Axes", x: int, y: int, text: str, colour: Sequence[float] | None, gid: str) -> None:
    """The text of a square, in an ink that its colour lets be read; hatched where it has no number to colour it by."""
    look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8, "gid": gid}
    if colour is None:
        ax.bar(x, 1, 1, y - 0.5, fc="white", ec="0.7", hatch="////", lw=0, gid="hatch")
        look["bbox"] = {"fc": "white", "ec": "none", "pad": 1.5}
    elif sheet.luminance(colour) < 0.45:
        look["color"] = "white"
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


def describe(above: "sheet.Axes", below: "sheet.Axes", configuration: Configuration, panel: Panel) -> None:
    """Titles of a pair: metric, task, sizes and seeds, data other than the paper's; metric, size and data."""
    title, seeds = panel.published.title, len({run.seed for run in panel.runs})
    mean = f"mean of {seeds} seeds" if seeds > 1 else "1 seed"
    lines = about(configuration, panel.runs, f"Ours: {title}", panel.runs[0].task_title, mean)
    above.set_title("\n".join(part for line in lines for part in textwrap.wrap(line, TITLE)), linespacing=1.3)
    data = configuration.title_of(configuration.papers_tasks[panel.runs[0].task].dataset)
    text = f"Published: {title}, N = {panel.published.size}, {data}"
    below.set_title("\n".join(textwrap.wrap(text, TITLE)), linespacing=1.3)
