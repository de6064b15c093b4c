"""Training curves: a line per model with its band over seeds, or with the lines of two seeds, panel by panel."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from hidden_dynamics.artifacts import naive_baselines
from hidden_dynamics.artifacts.figure_notes import band_text, legend_label, made_note, scale_note, subtitle_of
from hidden_dynamics.artifacts.kinds.curves import Curves, PanelSettings
from hidden_dynamics.artifacts.kinds.curves.content import Curve, CurvesPanel, divergences, falls, panels_of
from hidden_dynamics.artifacts.notes import divergence_notes, no_momentum_notes
from hidden_dynamics.artifacts.sheet import NO_VALUE, STYLE, Styles, line_styles, page, plain_numbers, write_instead
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.configuration import Configuration

POINTS_APART = 14.0  # of an inch's 72


def draw(artifact: Curves, sources: Sources) -> Figure:
    """A figure of training curves: one panel per configured panel, a line per model with its 95 % band, one legend."""
    panels, styles = panels_of(artifact, sources), line_styles(artifact.configuration, sources.summary)
    names = naive_names(panels)
    columns = min(len(panels), 2)
    rows = math.ceil(len(panels) / columns)
    with matplotlib.rc_context(STYLE):
        figure, body = page(
            artifact.settings,
            subtitle=subtitle_of(artifact.configuration, [run for panel in panels for run in panel.runs]),
            width=9.6 if columns == 2 else 6.8,
            height=3.1 * rows,
            handles=[*legend_handles(panels, styles), *naive_baselines.handles(names)],
            notes=curve_notes(artifact.configuration, panels),
        )
        axes = body.subplots(rows, columns, squeeze=False).ravel()
        for ax, panel in zip(axes, panels, strict=False):
            draw_curves(ax, panel, styles, names)
            ax.set_title("\n".join(panel.title), linespacing=1.3)
        for ax in axes[len(panels) :]:
            ax.set_axis_off()
        body.align_ylabels(axes)
    return figure


def draw_curves(ax: Axes, panel: CurvesPanel, styles: Styles, names: Sequence[str]) -> None:
    """One panel but for its title: curves, naive baselines, published final values, scales, limits, labels."""
    set_scales(ax, panel.settings)
    for place, curve in enumerate(panel.curves):
        front = 10 + len(styles) - list(styles).index(curve.model)
        if curve.x.size == 1:
            aside = POINTS_APART * (place - (len(panel.curves) - 1) / 2)
            draw_point(ax, curve, styles[curve.model], front, aside)
        else:
            draw_curve(ax, curve, panel, styles[curve.model], front)
    naive_baselines.draw(ax, panel.naive, names)
    for rank, (model, value) in enumerate(panel.published.items()):
        shape = {"marker": "<", "ms": max(9 - 3 * rank, 3), "mec": "0.2", "mew": 0.7, "color": styles[model]["color"]}
        ax.plot([1.015], [value], transform=ax.get_yaxis_transform(), clip_on=False, gid=f"published {model}", **shape)
    if panel.y_limits:
        ax.set_ylim(*panel.y_limits)
    if not any(curve.x.size for curve in panel.curves):
        write_instead(ax, NO_VALUE)
    if panel.curves and all(curve.x.size == 1 for curve in panel.curves):
        places = sorted({curve.x[0] for curve in panel.curves})
        ax.set_xlim(places[0] / 2, places[-1] * 2)
        ax.set_xticks(places)
        ax.set_xticks([], minor=True)
    if panel.x_limits:
        ax.set_xlim(*panel.x_limits)


def set_scales(ax: Axes, settings: PanelSettings) -> None:
    ax.set_xscale(settings.x_scale)
    ax.set_yscale(settings.y_scale)
    if settings.y_scale == "log":
        plain_numbers(ax.yaxis)
    if settings.x_scale == "log" and settings.against == "epoch":
        plain_numbers(ax.xaxis)
    ax.set_xmargin(0.01)
    ax.set_xlabel(settings.against.capitalize())
    ax.set_ylabel(settings.label or f"{settings.split.capitalize()} loss")


def draw_curve(ax: Axes, curve: Curve, panel: CurvesPanel, style: Mapping[str, Any], front: int) -> None:
    """A model's line, its band or its seeds' own lines, and × where a seed diverged."""
    if np.isfinite(curve.low).any():
        band = {"color": style["color"], "alpha": 0.12, "linewidth": 0, "gid": f"band {curve.model}"}
        ax.fill_between(curve.x, curve.low, curve.high, **band)
    alone = curve.learned is not None
    for values in curve.seeds:
        own = np.isfinite(values)
        thin = {"alpha": 0.9 if alone else 0.45, "linewidth": 0.7, "gid": f"seed {curve.model}"}
        ax.plot(curve.x[own], values[own], **(style if alone else {"color": style["color"]}) | thin, zorder=front - 0.5)
    if not alone:
        ax.plot(curve.x, curve.mean, **style, zorder=front, gid=f"curve {curve.model}")
    ends = divergences(curve, panel)
    if ends and panel.y_limits:
        seen = np.clip(curve.mean[ends], *panel.y_limits)
        cross = {"color": style["color"], "mew": 2, "gid": f"diverged {curve.model}"}
        ax.plot(curve.x[ends], seen, "x", **cross, zorder=front, clip_on=False)


def draw_point(ax: Axes, curve: Curve, style: Mapping[str, Any], front: int, aside: float) -> None:
    """A model that was evaluated once: a point with its band as a bar, or its seeds as small points.

    Args:
        aside: how far to the right of its x it is drawn, in points: models that were evaluated at once stand in a row.
    """
    shifted = ax.transData + ScaledTranslation(aside / 72, 0, ax.get_figure(root=True).dpi_scale_trans)
    colour = {"color": style["color"], "transform": shifted}
    if np.isfinite(curve.low).all():
        ax.vlines(curve.x, curve.low, curve.high, **colour, linewidth=1.4, alpha=0.6, gid=f"band {curve.model}")
    for values in curve.seeds:
        ax.plot(curve.x, values, "o", **colour, alpha=0.45, ms=3, mew=0, gid=f"seed {curve.model}")
    if curve.learned is None:
        ax.plot(curve.x, curve.mean, "o", **colour, ms=6, mec="0.2", mew=0.5, zorder=front, gid=f"curve {curve.model}")


def legend_handles(panels: Sequence[CurvesPanel], styles: Styles) -> list[Line2D]:
    """One entry per model, with its diverged runs, then one for each kind of mark that the panels show."""
    handles = []
    for model, style in styles.items():
        runs = list({run["directory"]: run for panel in panels for run in panel.runs if run["model"] == model}.values())
        handles.append(Line2D([], [], **style, label=legend_label(runs)))
    if any(panel.published for panel in panels):
        handles.append(
            Line2D([], [], color="white", marker="<", mec="0.2", linestyle="none", label="published final value")
        )
    return handles


def naive_names(panels: Sequence[CurvesPanel]) -> list[str]:
    return list(dict.fromkeys(name for panel in panels for name in panel.naive))


def learned_note(panels: Sequence[CurvesPanel]) -> str:
    """The models of which some seeds have learned something and others nothing; empty where there are none."""
    texts = []
    for panel in panels:
        labels = {run["model"]: (run["label"], run["task_title"]) for run in panel.runs}
        for curve in panel.curves:
            if curve.learned is not None:
                text = f"{curve.learned} of {len(curve.seeds)}"
                texts.append(f"{', '.join(labels[curve.model])}: {text}")
    return f"; thin lines without a mean: some seeds learned ({'; '.join(dict.fromkeys(texts))})" if texts else ""


def curve_notes(configuration: Configuration, panels: Sequence[CurvesPanel]) -> list[str]:
    """The caption of a figure of curves, by paragraph."""
    runs = [run for panel in panels for run in panel.runs]
    lines = {1: "Lines: 1 seed", 2: "Thick lines: mean of 2 seeds; thin: each of them"}
    seeds = len({run["seed"] for run in runs})
    lines = lines.get(seeds, f"Lines: mean of {seeds} seeds; band: {band_text(configuration, runs)}")
    if any(run["status"] == "diverged" for run in runs):
        lines += "; ×: a seed diverged here and the others, if any, go on"
    if any(set(falls(curve)) - set(divergences(curve, panel)) for panel in panels for curve in panel.curves):
        lines += "; a seed with fewer iterations than the others ends before them, and they go on"
    if any(curve.x.size == 1 for panel in panels for curve in panel.curves):
        lines += "; a model that was evaluated once is a point, beside the others' points, and its band a bar"
    lines += learned_note(panels)
    if naive_names(panels):
        lines += "; dashed: naive baselines on the same data, where they are on the axis"
    cut = any(panel.y_limits and (curve.lines > panel.y_limits[1]).any() for panel in panels for curve in panel.curves)
    return [
        scale_note(configuration, runs),
        f"{lines}. Smoothing: {smoothing_note(panels)}.{' Lines are cut where they leave an axis.' if cut else ''}",
        *no_momentum_notes(runs),
        *divergence_notes(runs),
        made_note(runs),
    ]


def smoothing_note(panels: Sequence[CurvesPanel]) -> str:
    """The smoothing of the curves, for instance "triangular moving average of 30 points (train), none (test)".

    Where a split is smoothed in several ways, each names its tasks: "30 points (train, mnist)".
    """
    by_split: dict[str, dict[int, list[str]]] = {}
    for panel in panels:
        windows = by_split.setdefault(panel.settings.split, {})
        window = max((curve.window for curve in panel.curves), default=panel.settings.window)
        windows.setdefault(window, []).append(panel.settings.task)
    if all(list(windows) == [1] for windows in by_split.values()):
        return "none"
    parts = []
    for split, windows in by_split.items():
        for window, tasks in windows.items():
            where = f"{split}, {' and '.join(dict.fromkeys(tasks))}" if len(windows) > 1 else split
            parts.append(f"{f'{window} points' if window > 1 else 'none'} ({where})")
    return f"triangular moving average of {', '.join(parts)}"
