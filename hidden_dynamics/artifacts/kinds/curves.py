"""Training curves: a line per model with its band over seeds, or with the lines of two seeds, panel by panel.

Where all models of a panel were evaluated once, a row of dots per model instead.
"""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from hidden_dynamics.artifacts import lines, sheet
from hidden_dynamics.artifacts.base import ArtifactSettings, InPanels, Models
from hidden_dynamics.artifacts.notes import about, figure_notes, no_momentum_notes, subtitle_of
from hidden_dynamics.configuration import Case, Configuration, Entry
from hidden_dynamics.configuration.schema import Number, Size, Whole
from hidden_dynamics.papers.deviations import deviations
from hidden_dynamics.papers.logs import load_logs
from hidden_dynamics.results.curves import Curve, curves_of
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.record import RunRecord

BELOW = 0.3  # of a row of dots: where the authors' own losses stand under ours
LOGGED: sheet.Look = {"color": "0.5"}  # of the authors' own losses
TITLE = 66  # characters in a line of a panel's title
NOTHING = "No picture is drawn: no run has a loss."

Limits = Annotated[list[Number], Field(min_length=2, max_length=2)]


class PanelSettings(Entry):
    """
    Attributes:
        window: points of a triangular moving average; of a curve shorter than ten windows, a tenth of its points.
        label: of the y axis; by default, the split's loss.
        note: what is to be known of this panel; it stands below its title.
    """

    task: str
    size: Size | None = None
    split: Literal["train", "validation", "test"]
    against: Literal["iteration", "epoch"]
    window: Whole = 1
    x_scale: Literal["linear", "log"]
    y_scale: Literal["linear", "log"]
    y_limits: Limits | None = None
    x_limits: Limits | None = None
    label: str | None = None
    note: str | None = None

    @model_validator(mode="after")
    def _train_losses_are_of_iterations(self) -> "PanelSettings":
        if self.split == "train" and self.against != "iteration":
            raise ValueError("expected against: iteration, because a train loss is a minibatch's")
        return self


class Settings(ArtifactSettings):
    """`logs`: the file of published/ with the authors' losses, drawn behind those of runs that share their settings."""

    models: Models
    panels: Annotated[list[PanelSettings], Field(min_length=1)]
    logs: str | None = None


class Curves(InPanels):
    settings: Settings
    summarised = True
    run_files = ("metrics.csv", "train_loss.npy")
    floored = True

    def cases_of(self, panel: PanelSettings) -> list[Case]:
        return [Case(panel.task, model, panel.size) for model in self.settings.models]

    def logged(self, panel: PanelSettings, ours: Sequence[Curve]) -> dict[str, Curve]:
        """The authors' own losses behind a panel's curves, as far as ours go and to the next logged epoch; beside dots,
        those of the same epoch; by model."""
        runs = {run.model: run for run in self.case_runs if (run.task, run.paper_size) == (panel.task, panel.size)}
        logs: dict[str, Curve] = {}
        for curve in ours if self.settings.logs and panel.against == "epoch" else ():
            log = load_logs(self.settings.logs).of(self.configuration, runs[curve.model]) or ()
            if in_dots(ours):
                log = [point for point in log if point.epoch == curve.x[0]]
            if log and log[0].split == panel.split:
                log = log[: max(2, 1 + sum(point.epoch <= curve.x[-1] for point in log))]
                points = [(point.epoch, point.mean, point.least, point.greatest) for point in log]
                x, mean, low, high = np.transpose(points)
                logs[curve.model] = Curve(f"logged {curve.model}", x, mean, low, high, {})
        return logs


def draw(artifact: Curves, evidence: Evidence) -> "sheet.Page":
    """One panel per configured panel, a line per model, one legend. A `UserError` where a file of a run is missing or
    damaged."""
    configuration = artifact.configuration
    panels = [panel_of(artifact, settings, evidence) for settings in artifact.panels]
    runs, styles = [run for panel in panels for run in panel.runs], sheet.line_styles(configuration, evidence.runs)
    across = lines.baseline_styles(dict.fromkeys(name for panel in panels for name in panel.baselines))
    columns = min(len(panels), 2)
    rows = math.ceil(len(panels) / columns)
    figure, body = sheet.page(
        artifact.settings,
        subtitle_of(configuration, runs),
        width=9.6 if columns == 2 else 6.8,
        height=3.1 * rows,
        notes=figure_notes(artifact, runs, smoothing_note(panels), *no_momentum_notes(runs)),
        handles=[*lines.model_entries(runs, styles), *mark_entries(panels), *lines.baseline_entries(across)],
        instead="" if any(panel.curves for panel in panels) else NOTHING,
        data=rows_of(panels),
    )
    axes = body.subplots(rows, columns, squeeze=False).ravel()
    for ax, panel in zip(axes, panels, strict=False):
        (draw_dots if in_dots(panel.curves) else draw_lines)(ax, panel, {**styles, **across})
        if not panel.curves:
            sheet.write_instead(ax, "no run got as far as a value here")
        describe(ax, configuration, panel)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    body.align_ylabels([ax for ax in axes if ax.get_ylabel()])
    return figure


@dataclass(frozen=True)
class Panel:
    """The content of one panel.

    Attributes:
        published: the paper's final values by model; none where the runs deviate from the paper.
        baselines: the losses of the naive ones and of the best classical one, by their names in the legend.
        logged: the authors' own losses, by model.
        x_limits, y_limits: the configured ones where the runs are as the paper's; else ones that fit, or None.
    """

    settings: PanelSettings
    runs: Sequence[RunRecord]
    curves: Sequence[Curve]
    published: Mapping[str, float]
    baselines: Mapping[str, float]
    logged: Mapping[str, Curve]
    x_limits: Sequence[float] | None
    y_limits: Sequence[float] | None


def panel_of(artifact: Curves, settings: PanelSettings, evidence: Evidence) -> Panel:
    runs, curves = evidence.on(settings.task, settings.size), curves_of(evidence, settings)
    papers = not deviations(artifact.configuration, runs)
    metric, models = f"{settings.split}_loss", dict.fromkeys(run.model for run in (runs if papers else ()))
    printed = {model: artifact.number(Case(settings.task, model, settings.size), metric) for model in models}
    published = {model: number.value for model, number in printed.items() if number is not None}
    scores = lines.baselines(runs, metric, -1)
    logged, limits = artifact.logged(settings, curves), settings.y_limits if papers else None
    if limits is None:
        marks = [*published.values(), *chain(*((*log.low, *log.high) for log in logged.values()))]
        limits = robust_limits(curves, marks, settings.x_scale, settings.y_scale)
        if limits:
            marks += lines.in_sight(scores, limits[1])
            limits = robust_limits(curves, marks, settings.x_scale, settings.y_scale)
    x_limits = settings.x_limits if papers else None
    return Panel(settings, runs, curves, published, scores, logged, x_limits, limits)


def rows_of(panels: Sequence[Panel]) -> list[dict[str, Any]]:
    """A row for each point that is drawn: the panel, the model and the kind of line, x, the mean with its band or the
    seed's value; of a published number or a baseline without x."""
    rows: list[dict[str, Any]] = []
    for panel in panels:
        place = {name: getattr(panel.settings, name) for name in ("task", "size", "split")}
        rows += [point for curve in panel.curves for point in lines.points_of(curve, **place)]
        for model, log in panel.logged.items():
            rows += lines.points_of(replace(log, model=model), "authors", **place)
        rows += [{**place, "line": "published", "model": model, "mean": of} for model, of in panel.published.items()]
        rows += [{**place, "line": name, "mean": score} for name, score in panel.baselines.items()]
    return rows


def in_dots(curves: Sequence[Curve]) -> bool:
    """Whether no curve has more than one point."""
    return bool(curves) and all(curve.x.size == 1 for curve in curves)


def lines_of(curve: Curve) -> list[NDArray]:
    """(points,) each: the mean, or the seeds' own values where it has none; of a single point, all around it."""
    if curve.x.size == 1:
        around = np.concatenate([curve.mean, curve.low, curve.high, *curve.seeds.values()])
        return list(around[np.isfinite(around)][:, None])
    return [curve.mean] if curve.learned is None else list(curve.seeds.values())


def robust_limits(
    curves: Sequence[Curve], marks: Sequence[float], x_scale: str, y_scale: str
) -> tuple[float, float] | None:
    """Limits of a y axis that spikes do not flatten; None where there is nothing to show.

    They take in what is below Tukey's upper fence, by the width that curves take on the x axis, at least the median of
    every curve, and the marks.
    """
    evenly = [evenly_spaced(curve.x, line, x_scale) for curve in curves for line in lines_of(curve)]
    if not evenly:
        return None
    values = np.concatenate(evenly)
    lower, upper = np.quantile(values, [0.25, 0.75])
    inside = values[values <= upper + 1.5 * (upper - lower)]
    high = max([inside.max(), *(np.median(part) for part in evenly), *marks])
    seen = np.concatenate([inside, *(line[np.isfinite(line)] for curve in curves for line in lines_of(curve)), marks])
    return lines.padded(np.append(seen[seen <= high], high), y_scale)


def evenly_spaced(x: NDArray, line: NDArray, x_scale: str) -> NDArray:
    """A line at 400 places that are evenly spaced on the axis, those that it has."""
    start = x[x > 0].min(initial=x[-1])
    places = np.linspace(x[0], x[-1], 400) if x_scale == "linear" else np.geomspace(start, x[-1], 400)
    values = np.interp(places, x, line)
    return values[np.isfinite(values)]


def draw_lines(ax: "sheet.Axes", panel: Panel, styles: sheet.Styles) -> None:
    """Scales, curves, baselines, published final values, limits; `styles` are those of models and baselines."""
    ax.set_xscale(panel.settings.x_scale)
    ax.set_yscale(panel.settings.y_scale)
    middle = -1 if panel.logged else (len(panel.curves) - 1) / 2  # the authors' stand at the epoch itself
    for rank, curve in enumerate(panel.curves):
        lines.draw_line(ax, curve, styles[curve.model], front=10 - rank, shift=rank - middle)
    for model, log in panel.logged.items():
        lines.draw_line(ax, log, {**LOGGED, "linestyle": styles[model]["linestyle"]}, front=0.5)
    lines.draw_across(ax, panel.baselines, styles)
    for rank, (model, value) in enumerate(panel.published.items()):
        shape = {"marker": "<", "ms": max(9 - 3 * rank, 3), "mec": "0.2", "mew": 0.7, "color": styles[model]["color"]}
        ax.plot([1.015], [value], transform=ax.get_yaxis_transform(), clip_on=False, gid=f"published {model}", **shape)
    if panel.y_limits:
        ax.set_ylim(*panel.y_limits)
    if panel.x_limits:
        ax.set_xlim(*panel.x_limits)
    elif panel.curves:
        places = np.concatenate([curve.x for curve in (*panel.curves, *panel.logged.values())])
        ax.set_xlim(*lines.padded(places, panel.settings.x_scale))


def draw_dots(ax: "sheet.Axes", panel: Panel, styles: sheet.Styles) -> None:
    """A row per model: a dot per seed, their mean with its interval; below, in grey, what the authors logged."""
    ax.set_xscale(panel.settings.y_scale)
    if panel.settings.y_scale == "linear":
        ax.locator_params(axis="x", nbins=6)
    labels = {run.model: run.label for run in panel.runs}
    ax.set_yticks(range(len(panel.curves)), [labels[curve.model] for curve in panel.curves])
    ax.set_ylim(len(panel.curves) - 0.4, -0.6)
    for row, curve in enumerate(panel.curves):
        model, colour = curve.model, styles[curve.model]["color"]
        draw_dot(ax, row, curve, {"color": colour, "mec": "0.2", "mew": 0.7, "ms": 6})
        for value in curve.seeds.values():
            ax.plot(value, [row], "o", ms=4, color=colour, alpha=0.5, mew=0, gid=f"seed {model}")
        if model in panel.logged:
            draw_dot(ax, row + BELOW, panel.logged[model], {**LOGGED, "ms": 5})
    lines.draw_across(ax, panel.baselines, styles, upright=True)
    if panel.y_limits:
        ax.set_xlim(*panel.y_limits)


def draw_dot(ax: "sheet.Axes", row: float, curve: Curve, look: sheet.Look) -> None:
    """The mean of a single evaluation, where it has one, with its interval."""
    if np.isfinite(curve.low[0]):
        ax.plot([curve.low[0], curve.high[0]], [row, row], color=look["color"], lw=1, gid=f"band {curve.model}")
    if curve.learned is None:
        ax.plot(curve.mean, [row], "D", **look, gid=f"curve {curve.model}")


def mark_entries(panels: Sequence[Panel]) -> "list[sheet.Line2D]":
    """Of a legend: what is printed or logged by the authors, where a panel has some."""
    published = {"color": "white", "marker": "<", "mec": "0.2", "linestyle": "none", "label": "published final value"}
    marks = [published] if any(panel.published for panel in panels) else []
    marks += [{**LOGGED, "label": "authors’ logs"}] if any(panel.logged for panel in panels) else []
    return [sheet.legend_entry(**mark) for mark in marks]


def describe(ax: "sheet.Axes", configuration: Configuration, panel: Panel) -> None:
    """Labels, numbers of logarithmic axes, and the title: task, size and split, other data, what else to know."""
    settings = panel.settings
    dots, loss = in_dots(panel.curves), settings.label or f"{settings.split.capitalize()} loss"
    if settings.y_scale == "log":
        sheet.plain_numbers(ax.xaxis if dots else ax.yaxis)
    if settings.x_scale == "log" and settings.against == "epoch" and not dots:
        sheet.plain_numbers(ax.xaxis)
    places = " and ".join(dict.fromkeys(f"{curve.x[0]:g}" for curve in panel.curves if dots))
    ax.set_xlabel(f"{loss} at {settings.against} {places}" if dots else settings.against.capitalize())
    ax.set_ylabel("" if dots else loss)
    texts = about(configuration, panel.runs, f"{panel.runs[0].task_title}: {settings.split} loss")
    wrapped = [part for text in (*texts, settings.note or "") for part in textwrap.wrap(text, TITLE)]
    ax.set_title("\n".join(wrapped), linespacing=1.3)


def smoothing_note(panels: Sequence[Panel]) -> str:
    windows = [(max((curve.window for curve in panel.curves), default=1), panel.settings) for panel in panels]
    smoothed = ", ".join(f"{window} ({panel.task} {panel.split})" for window, panel in windows if window > 1)
    return f"Smoothing: {f'triangular moving average, points: {smoothed}' if smoothed else 'none'}."
