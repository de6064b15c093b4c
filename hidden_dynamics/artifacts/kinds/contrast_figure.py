"""A forest of contrasts: for each task and filter what s does and what momentum adds, in standard deviations."""

import math
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from hidden_dynamics.artifacts.comparison import Record
from hidden_dynamics.artifacts.figure_notes import figure_notes, subtitle_of
from hidden_dynamics.artifacts.kinds.contrast_table import ContrastTable
from hidden_dynamics.artifacts.sheet import legend_entry, page, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hidden_dynamics.artifacts.sources import Sources

MARKS = {  # how far below the middle of its row each difference is drawn, and its mark
    "s": (-0.17, {"color": "0.45", "marker": "s", "mfc": "white", "label": "what s does"}),
    "momentum": (0.17, {"color": "tab:blue", "marker": "o", "label": "what μ adds to it"}),
}
LINEAR = 2.0  # deviations within which the axis is linear
TICKS = (-100, -50, -20, -10, -5, -2, -1, 0, 1, 2, 5, 10, 20, 50, 100)


class ContrastFigure(ContrastTable):
    form = "figure"


KIND = ContrastFigure


def draw(artifact: ContrastFigure, sources: "Sources") -> "Figure":
    """A row for each filter, grouped by task.

    Raises:
        UserError: as `contrasts.records_of`.
    """
    from hidden_dynamics.artifacts import contrasts  # SciPy

    configuration, summary, records = artifact.configuration, sources.summary, contrasts.records_of(artifact, sources)
    scale = (
        "In standard deviations between runs (the root of the mean variance of the row's groups); above 0 is better. "
        f"The axis is linear within ±{LINEAR:g} and logarithmic beyond."
    )
    notes = figure_notes(configuration, summary, scale, *contrasts.notes(records))
    linestyle = "-" if records[0]["tests"] else "none"
    handles = [legend_entry(linestyle=linestyle, **mark) for _, mark in MARKS.values()]
    with style():
        size = 8.8, 0.9 + 0.27 * len(records)
        figure, body = page(artifact.settings, subtitle_of(configuration, summary), *size, notes, handles)
        draw_rows(body.subplots(), records)
    return figure


def draw_rows(ax: "Axes", records: Sequence[Record]) -> None:
    tasks = list(dict.fromkeys(record["task"] for record in records))
    for number, task in enumerate(tasks):
        places = [place for place, record in enumerate(records) if record["task"] == task]
        if number % 2:
            ax.axhspan(places[0] - 0.5, places[-1] + 0.5, color="0.92", linewidth=0, zorder=0)
        middle = {"xy": (1.01, fmean(places)), "xycoords": ax.get_yaxis_transform(), "va": "center"}
        ax.annotate(records[places[0]]["task_title"], **middle, fontsize=8, gid=f"task {task}")
    for place, record in enumerate(records):
        for name, (offset, mark) in MARKS.items():
            draw_difference(ax, record, name, place + offset, mark)
    ax.axvline(0, color="0.3", linewidth=0.8, zorder=1, gid="zero")
    ax.set_xscale("symlog", linthresh=LINEAR, linscale=1.0)
    ax.margins(x=0.06)
    low, high = ax.get_xlim()
    ax.set_xticks([tick for tick in TICKS if low <= tick <= high] or [0])
    ax.set_xticks([], minor=True)
    ax.xaxis.set_major_formatter(lambda tick, _: f"{tick:g}".replace("-", "−"))
    ax.set_xlabel("← worse      standard deviations      better →")
    ax.set_yticks(range(len(records)), [record["filter_label"] for record in records])
    ax.tick_params(axis="y", labelsize=7.5, length=0)
    ax.set_ylim(len(records) - 0.5, -0.5)


def draw_difference(ax: "Axes", record: Record, name: str, place: float, mark: dict) -> None:
    """A mark and, where it was tested, its interval; nothing where there is no difference."""
    pooled_std = record["pooled_std"]
    if not pooled_std > 0 or math.isnan(record[f"{name}_difference"]):
        return
    estimate, low, high = (record[f"{name}_{end}"] / pooled_std for end in ("difference", "low", "high"))
    gid = f"{name} {record['task']} {record['filter']}"
    mark = mark if record[f"{name}_learned"] else mark | {"color": "0.75"}
    if np.isfinite([low, high]).all():
        ax.plot([low, high], [place, place], color=mark["color"], linewidth=1.3, gid=f"interval {gid}")
    style = {key: value for key, value in mark.items() if key != "label"}
    ax.plot([estimate], [place], linestyle="none", ms=4.5, zorder=5, gid=f"difference {gid}", **style)
