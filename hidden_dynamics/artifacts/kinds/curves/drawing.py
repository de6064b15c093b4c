"""Training curves: a line per model with its band over seeds, panel by panel."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import Normal, Stroke
from numpy.typing import NDArray

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.errors import UserError
from hidden_dynamics.artifacts.notes import divergence_notes, scale_notes
from hidden_dynamics.artifacts.sheet import STYLE, page, plain_numbers
from hidden_dynamics.artifacts.figure_notes import (
    data_of,
    is_papers,
    made_note,
    sizes_of,
    subtitle_of,
    task_title,
)
from hidden_dynamics.papers.published import PUBLISHED, load_published, published_task

DASHES = ["solid", (0, (7, 1.5)), (0, (4, 1, 1, 1)), (0, (2.5, 1)), (0, (8, 1, 1, 1, 1, 1))]


@dataclass(frozen=True)
class Curve:
    """One model in one panel: arrays (points,), x ascending; low and high are nan where there is no band."""

    panel: int
    model: str
    x: NDArray
    mean: NDArray
    low: NDArray
    high: NDArray
    n: NDArray
    baseline: float


@dataclass(frozen=True)
class Panel:
    """What one panel shows: entry in the configuration, rows of the summary, curves, the paper's final values."""

    entry: Mapping[str, Any]
    runs: Sequence[Mapping[str, str]]
    curves: Sequence[Curve]
    published: Mapping[str, float]

    @property
    def task(self) -> str:
        return self.entry["task"]


def curves_figure(
    configuration: Configuration, artifact: str, summary: Sequence[Mapping], curves: Sequence[Mapping]
) -> Figure:
    """A figure of training curves: one panel per configured panel, a line with its 95 % band per model, one legend.

    Args:
        summary: the rows that scripts/summarise.py writes, one per run, as text by column.
        curves: the rows of its curves, one per point.

    Raises:
        UserError: the curves lack a column, or one holds something else than expected.
    """
    models = list(dict.fromkeys(row["model"] for row in summary))
    panels = panels_of(configuration, artifact, summary, group_curves(curves, f"the curves of {artifact}"))
    limits = [y_limits(configuration, panel) for panel in panels]
    columns = min(len(panels), 2)
    rows = math.ceil(len(panels) / columns)
    with matplotlib.rc_context(STYLE):
        figure, body = page(
            configuration.artifacts[artifact],
            subtitle=subtitle_of(configuration, [run for panel in panels for run in panel.runs]),
            width=9.6 if columns == 2 else 6.8,
            height=3.1 * rows,
            handles=legend_handles(configuration, models, panels),
            notes=curve_notes(configuration, panels, limits),
        )
        axes = body.subplots(rows, columns, squeeze=False).ravel()
        for ax, panel, limit in zip(axes, panels, limits, strict=False):
            draw_curves(ax, configuration, panel, models, limit)
            describe_panel(ax, configuration, panel)
        for ax in axes[len(panels) :]:
            ax.set_axis_off()
        body.align_ylabels(axes)
    return figure


def panels_of(
    configuration: Configuration, artifact: str, summary: Sequence[Mapping], curves: Sequence[Curve]
) -> list[Panel]:
    """What the panels of a figure show, as the configuration lists them."""
    panels = []
    for index, entry in enumerate(configuration.artifacts[artifact]["panels"]):
        runs = runs_of_panel(entry, summary)
        published = published_values(configuration, artifact, entry, runs)
        panels.append(Panel(entry, runs, [curve for curve in curves if curve.panel == index], published))
    return panels


def draw_curves(
    ax: Axes, configuration: Configuration, panel: Panel, models: Sequence[str], limits: tuple[float, float] | None
) -> None:
    """The lines of one panel (curves, the loss without memory, published final values), its scales and its limits."""
    ax.set_xscale(panel.entry["x_scale"])
    ax.set_yscale(panel.entry["y_scale"])
    if panel.entry["y_scale"] == "log":
        plain_numbers(ax.yaxis)
    if panel.entry["x_scale"] == "log" and panel.entry["against"] == "epoch":
        plain_numbers(ax.xaxis)
    ax.set_xmargin(0.01)
    for curve in panel.curves:
        style = line_style(configuration, curve.model, models)
        front = 10 + len(models) - models.index(curve.model)
        alpha = 0.12 if np.max(curve.n) > 2 else 0.05  # the band of two seeds covers everything: let it be faint
        band = {"color": style["color"], "alpha": alpha, "linewidth": 0, "gid": f"band {curve.model}"}
        ax.fill_between(curve.x, curve.low, curve.high, **band)
        ax.plot(curve.x, curve.mean, **style, zorder=front, gid=f"curve {curve.model}")
        ends = divergences(curve, panel)
        if ends and limits:
            seen = np.clip(curve.mean[ends], *limits)
            cross = {"color": style["color"], "mew": 2, "gid": f"diverged {curve.model}"}
            ax.plot(curve.x[ends], seen, "x", **cross, zorder=front, clip_on=False)
    for level in baselines(panel):
        ax.axhline(level, color="grey", linestyle="dashed", linewidth=1, zorder=5, gid="baseline")
    for rank, (model, value) in enumerate(panel.published.items()):
        colour = line_style(configuration, model, models)["color"]
        shape = {"marker": "<", "ms": max(9 - 3 * rank, 3), "mec": "0.2", "mew": 0.7, "color": colour}
        ax.plot([1.015], [value], transform=ax.get_yaxis_transform(), clip_on=False, gid=f"published {model}", **shape)
    if limits:
        ax.set_ylim(*limits)
    if not any(curve.x.size for curve in panel.curves):
        ax.text(0.5, 0.5, "no run got as far as a value here", transform=ax.transAxes, ha="center", color="0.4")
    if "x_limits" in panel.entry and is_papers(configuration, panel.task, panel.runs):
        ax.set_xlim(*panel.entry["x_limits"])


def y_limits(configuration: Configuration, panel: Panel) -> tuple[float, float] | None:
    """The configured limits where the data are the paper's, else ones that fit; None where there is nothing to show."""
    if "y_limits" in panel.entry and is_papers(configuration, panel.task, panel.runs):
        return tuple(panel.entry["y_limits"])
    marks = [*panel.published.values(), *baselines(panel)]
    return robust_limits(panel.curves, marks, panel.entry["x_scale"], panel.entry["y_scale"])


def baselines(panel: Panel) -> list[float]:
    """The loss of the best answer without memory, where the panel shows it: one value, unless its runs disagree."""
    shown = panel.curves if panel.entry.get("baseline") else []
    return sorted({curve.baseline for curve in shown if math.isfinite(curve.baseline)})


def describe_panel(ax: Axes, configuration: Configuration, panel: Panel) -> None:
    """Title and axis labels of a panel: the task, the size and the data that were really used, what else to know."""
    split, note = panel.entry["split"], panel.entry.get("note", "")
    about = [f"{task_title(configuration, panel.task, panel.runs)}: {split} loss", sizes_of(panel.runs)]
    data = data_of(configuration, panel.task, panel.runs)
    lines = [", ".join(filter(None, about)), *textwrap.wrap(data, 66), *textwrap.wrap(note, 66)]
    ax.set_title("\n".join(lines), linespacing=1.3)
    ax.set_xlabel(panel.entry["against"].capitalize())
    ax.set_ylabel(panel.entry.get("label", f"{split.capitalize()} loss"))


def published_values(
    configuration: Configuration, artifact: str, panel: Mapping, runs: Sequence[Mapping]
) -> dict[str, float]:
    """The paper's final losses by model, from published/<paper>/<figure>.yaml; none on other data or at other sizes."""
    name = configuration.artifacts[artifact].get("published", f"{artifact.replace('_', '/', 1)}.yaml")
    theirs = is_papers(configuration, panel["task"], runs) and all(run["size"] == run["paper_size"] for run in runs)
    content = load_published(name, PUBLISHED) if theirs and (PUBLISHED / name).exists() else {}
    if content.get("metric") != f"{panel['split']}_loss":
        return {}
    task = published_task(configuration, panel["task"])
    shown = {run["model"] for run in runs}
    return {row["model"]: row["value"] for row in content["rows"] if row["task"] == task and row["model"] in shown}


def runs_of_panel(panel: Mapping, summary: Sequence[Mapping]) -> list[Mapping]:
    """The summary's rows of a panel's task and size."""
    size = "" if panel.get("size") is None else str(panel["size"])
    return [run for run in summary if (run["task"], run["paper_size"]) == (panel["task"], size)]


def group_curves(rows: Sequence[Mapping], origin: str) -> list[Curve]:
    """The rows of a curves file, one per point, as curves."""
    groups: dict[tuple[int, str], list[Mapping]] = {}
    try:
        for row in rows:
            groups.setdefault((int(row["panel"]), row["model"]), []).append(row)
        return [
            Curve(
                panel,
                model,
                *(numbers(group, name) for name in ("x", "mean", "low", "high", "n")),
                numbers(group, "baseline")[0],
            )
            for (panel, model), group in groups.items()
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{origin}: not as expected ({type(error).__name__}: {error}); run snakemake again.") from None


def numbers(rows: Sequence[Mapping], name: str) -> NDArray:
    """A column as numbers; an empty cell is nan."""
    return np.array([float(row[name] or "nan") for row in rows])


def divergences(curve: Curve, panel: Panel) -> list[int]:
    """Indices of the points at which a seed of this curve diverged: n falls after them, or the last seed ends there."""
    runs = [run for run in panel.runs if run["model"] == curve.model]
    diverged = [int(run["diverged_at"]) for run in runs if run["status"] == "diverged"]
    ends = falls(curve) if diverged else []
    if panel.entry["against"] == "iteration":  # n falls too where a seed finishes before the others
        ends = [i for i in ends if any(curve.x[i] <= end <= curve.x[i + 1] for end in diverged)]
    return ends + [curve.n.size - 1] * (len(diverged) == len(runs))


def falls(curve: Curve) -> list[int]:
    """Indices of the points after which fewer seeds go on."""
    return np.flatnonzero(np.diff(curve.n) < 0).tolist()


def robust_limits(
    curves: Sequence[Curve], marks: Sequence[float], x_scale: str, y_scale: str
) -> tuple[float, float] | None:
    """Limits of a y axis that spikes do not flatten.

    They take in what is below Tukey's upper fence, and at least the median of every curve.

    Args:
        curves: weighed by the width that they take on the x axis.
        marks: other values that must be seen.
        x_scale, y_scale: "linear" or "log".

    Returns:
        (low, high), or None where there is nothing to show.
    """
    evenly = [evenly_spaced(curve, x_scale) for curve in curves if curve.x.size]
    if not evenly:
        return None
    values = np.concatenate(evenly)
    lower, upper = np.quantile(values, [0.25, 0.75])
    inside = values[values <= upper + 1.5 * (upper - lower)]
    high = max([inside.max(), *(np.median(part) for part in evenly), *marks])
    seen = np.concatenate([inside, *(curve.mean for curve in curves), marks])
    if y_scale == "log":
        low = min(seen[seen > 0], default=1.0)
        return float(low / 1.3), float(max(high, low) * 1.3)
    low = seen.min()
    margin = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return float(max(0.0, low - margin) if low >= 0 else low - margin), float(high + margin)


def evenly_spaced(curve: Curve, x_scale: str) -> NDArray:
    """The mean at 400 places that are evenly spaced on the axis."""
    if x_scale == "linear":
        return np.interp(np.linspace(curve.x[0], curve.x[-1], 400), curve.x, curve.mean)
    start = curve.x[curve.x > 0].min(initial=curve.x[-1])
    return np.interp(np.geomspace(start, curve.x[-1], 400), curve.x, curve.mean)


def line_style(configuration: Configuration, model: str, models: Sequence[str]) -> dict[str, Any]:
    """The model's colour, a dash of its own for who cannot tell it, and an outline where it is too light on white."""
    colour = configuration.models[model].get("colour", "black")
    red, green, blue = to_rgb(colour)
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.7
    outline = {"path_effects": [Stroke(linewidth=2.4, foreground="0.35"), Normal()]} if light else {}
    return {"color": colour, "linestyle": DASHES[models.index(model) % len(DASHES)], **outline}


def legend_handles(configuration: Configuration, models: Sequence[str], panels: Sequence[Panel]) -> list[Line2D]:
    """One entry per model, with its diverged runs, then one for each kind of mark that the panels show."""
    handles = []
    for model in models:
        runs = list({run["directory"]: run for panel in panels for run in panel.runs if run["model"] == model}.values())
        label = runs[0]["label"] + divergence_note(runs)
        handles.append(Line2D([], [], **line_style(configuration, model, models), label=label))
    if any(baselines(panel) for panel in panels):
        handles.append(Line2D([], [], color="grey", linestyle="dashed", linewidth=1, label="best without memory"))
    if any(panel.published for panel in panels):
        handles.append(
            Line2D([], [], color="white", marker="<", mec="0.2", linestyle="none", label="published final value")
        )
    return handles


def divergence_note(runs: Sequence[Mapping]) -> str:
    """For a legend: " (1 of 2 seeds diverged)", by task where a model is shown on several; empty where none did."""
    notes = []
    tasks = list(dict.fromkeys((run["task"], run["paper_size"]) for run in runs))
    for task in tasks:
        status = [run["status"] for run in runs if (run["task"], run["paper_size"]) == task]
        if "diverged" in status:
            where = f" on {task[0]}" if len(tasks) > 1 else ""
            notes.append(f"{status.count('diverged')} of {len(status)} seeds diverged{where}")
    return f" ({'; '.join(notes)})" if notes else ""


def curve_notes(configuration: Configuration, panels: Sequence[Panel], limits: Sequence) -> list[str]:
    """The caption of a figure of curves, by paragraph."""
    runs = [run for panel in panels for run in panel.runs]
    seeds = len({run["seed"] for run in runs})
    band = "95 % t band over seeds" + (" (wide: with 2 seeds t = 12.7)" if seeds == 2 else "")
    lines = f"Lines: mean of {seeds} seeds; band: {band}" if seeds > 1 else "Lines: 1 seed, so no band"
    if any(run["status"] == "diverged" for run in runs):
        lines += "; ×: a seed diverged here and the others, if any, go on"
    if any(set(falls(curve)) - set(divergences(curve, panel)) for panel in panels for curve in panel.curves):
        lines += "; a seed with fewer iterations than the others ends before them, and they go on"
    cut = any(
        limit and (curve.mean > limit[1]).any()
        for panel, limit in zip(panels, limits, strict=True)
        for curve in panel.curves
    )
    return [
        " ".join(scale_notes(configuration)),
        f"{lines}. Smoothing: {smoothing_note(panels)}.{' Lines are cut where they leave an axis.' if cut else ''}",
        *divergence_notes(runs),
        made_note(runs),
    ]


def smoothing_note(panels: Sequence[Panel]) -> str:
    """Which curves were smoothed how, for instance "triangular moving average of 30 points (train), none (test)".

    Where a split is smoothed in several ways, each names its tasks: "30 points (train, mnist)".
    """
    by_split: dict[str, dict[int, list[str]]] = {}
    for panel in panels:
        windows = by_split.setdefault(panel.entry["split"], {})
        windows.setdefault(panel.entry.get("window", 1), []).append(panel.task)
    if all(list(windows) == [1] for windows in by_split.values()):
        return "none"
    parts = []
    for split, windows in by_split.items():
        for window, tasks in windows.items():
            where = f"{split}, {' and '.join(dict.fromkeys(tasks))}" if len(windows) > 1 else split
            parts.append(f"{f'{window} points' if window > 1 else 'none'} ({where})")
    return f"triangular moving average of {', '.join(parts)}"
