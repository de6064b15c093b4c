"""The content of figures of curves, panel by panel: averaged curves, the paper's final values, titles and limits."""

import json
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.artifacts.figure_notes import data_of, is_papers, sizes_of, task_title
from hidden_dynamics.artifacts.kinds.curves import Curves, PanelSettings
from hidden_dynamics.artifacts.naive_baselines import in_sight
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.results.departures import departures
from hidden_dynamics.results.rows import Row

TITLE = 66  # characters in a line of a panel's title

Limits = tuple[float, float]


@dataclass(frozen=True)
class Curve:
    """One model in one panel: arrays (points,), x ascending.

    Attributes:
        low, high: the band; nan where there is none.
        window: the points that it is smoothed over; 1: none.
        seeds: (seeds, points), the seeds' own values where there is no band; else none. nan: no value.
        learned: how many of the seeds have learned something, where the others have not: it has no mean; else None.
        naive: the losses of the naive baselines, by name.
    """

    panel: int
    model: str
    x: NDArray
    mean: NDArray
    low: NDArray
    high: NDArray
    n: NDArray
    seeds: NDArray
    learned: int | None
    naive: Mapping[str, float]
    window: int

    @property
    def lines(self) -> NDArray:
        """(lines, points): the mean, or the seeds' own values where it has none."""
        return self.mean[None] if self.learned is None else self.seeds


@dataclass(frozen=True)
class CurvesPanel:
    """The content of one panel.

    Attributes:
        runs: rows of the summary, as text by column.
        published: the paper's final values by model; none where the runs depart from the paper.
        naive: the losses of the naive baselines, by name.
        title: task, size and split; then the data that were really used; then what else to know.
        x_limits, y_limits: the configured ones where the data are the paper's; else ones that fit, or None.
    """

    settings: PanelSettings
    runs: Sequence[Row]
    curves: Sequence[Curve]
    published: Mapping[str, float]
    naive: Mapping[str, float]
    title: Sequence[str]
    x_limits: Limits | None
    y_limits: Limits | None


def panels_of(artifact: Curves, sources: Sources) -> list[CurvesPanel]:
    """The content of a figure's panels, in the order of the configuration."""
    curves = group_curves(sources)
    return [
        panel_of(artifact, settings, sources.summary, [curve for curve in curves if curve.panel == index])
        for index, settings in enumerate(artifact.panels)
    ]


def panel_of(artifact: Curves, settings: PanelSettings, summary: Sequence[Row], curves: Sequence[Curve]) -> CurvesPanel:
    size = "" if settings.size is None else str(settings.size)
    runs = [run for run in summary if (run["task"], run["paper_size"]) == (settings.task, size)]
    papers = is_papers(artifact.configuration, runs)
    comparable = papers and not departures(artifact.configuration, runs)
    published = published_values(artifact, settings, runs) if comparable else {}
    naive = {name: score for curve in curves for name, score in curve.naive.items()}
    y_limits = settings.y_limits if papers else None
    if y_limits is None:
        marks = [*published.values(), *around_points(curves)]
        y_limits = robust_limits(curves, marks, settings.x_scale, settings.y_scale)
        if y_limits:
            marks += in_sight(naive, y_limits[1])
            y_limits = robust_limits(curves, marks, settings.x_scale, settings.y_scale)
    return CurvesPanel(
        settings,
        runs,
        curves,
        published,
        naive,
        title=title_of(artifact.configuration, settings, runs),
        x_limits=settings.x_limits if papers else None,
        y_limits=y_limits,
    )


def group_curves(sources: Sources) -> list[Curve]:
    """The rows of a curves file, one per point, as curves.

    Raises:
        UserError: the file is missing or damaged.
    """
    groups: dict[tuple[int, str], list[Mapping]] = {}
    try:
        for row in sources.curves:
            groups.setdefault((int(row["panel"]), row["model"]), []).append(row)
        return [
            Curve(
                panel,
                model,
                *(numbers(group, name) for name in ("x", "mean", "low", "high", "n")),
                np.array([json.loads(row["seeds"] or "[]") for row in group], dtype=np.float64).T,
                int(group[0]["learned"]) if group[0]["learned"] else None,
                json.loads(group[0]["naive"]),
                int(group[0]["window"]),
            )
            for (panel, model), group in groups.items()
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise sources.wrong("curves", f"not as expected ({type(error).__name__}: {error})") from None


def numbers(rows: Sequence[Row], name: str) -> NDArray:
    """A column as numbers; an empty cell is nan."""
    return np.array([float(row[name] or "nan") for row in rows])


def title_of(configuration: Configuration, settings: PanelSettings, runs: Sequence[Row]) -> list[str]:
    about = [f"{task_title(configuration, runs)}: {settings.split} loss", sizes_of(configuration, runs)]
    data, note = data_of(configuration, runs), settings.note or ""
    return [", ".join(filter(None, about)), *textwrap.wrap(data, TITLE), *textwrap.wrap(note, TITLE)]


def published_values(artifact: Curves, settings: PanelSettings, runs: Sequence[Row]) -> dict[str, float]:
    """The paper's final losses by model."""
    models = dict.fromkeys(run["model"] for run in runs)
    metric = f"{settings.split}_loss"
    printed = {model: artifact.number(Cell(settings.task, model, settings.size), metric) for model in models}
    return {model: number.value for model, number in printed.items() if number is not None}


def around_points(curves: Sequence[Curve]) -> list[float]:
    """The ends of the bands and the seeds of curves that are a single point."""
    around = [np.concatenate([curve.low, curve.high, *curve.seeds]) for curve in curves if curve.x.size == 1]
    return [float(value) for values in around for value in values if math.isfinite(value)]


def robust_limits(curves: Sequence[Curve], marks: Sequence[float], x_scale: str, y_scale: str) -> Limits | None:
    """Limits of a y axis that spikes do not flatten.

    They take in what is below Tukey's upper fence, and at least the median of every curve.

    Args:
        curves: weighed by the width that they take on the x axis.
        marks: other values that must be seen.
        x_scale, y_scale: "linear" or "log".

    Returns:
        (low, high), or None where there is nothing to show.
    """
    evenly = [evenly_spaced(curve.x, line, x_scale) for curve in curves if curve.x.size for line in curve.lines]
    if not evenly:
        return None
    values = np.concatenate(evenly)
    lower, upper = np.quantile(values, [0.25, 0.75])
    inside = values[values <= upper + 1.5 * (upper - lower)]
    high = max([inside.max(), *(np.median(part) for part in evenly), *marks])
    seen = np.concatenate([inside, *(line[np.isfinite(line)] for curve in curves for line in curve.lines), marks])
    if y_scale == "log":
        low = min(seen[seen > 0], default=1.0)
        return float(low / 1.3), float(max(high, low) * 1.3)
    low = seen.min()
    margin = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return float(max(0.0, low - margin) if low >= 0 else low - margin), float(high + margin)


def evenly_spaced(x: NDArray, line: NDArray, x_scale: str) -> NDArray:
    """A line at 400 places that are evenly spaced on the axis, those that it has."""
    start = x[x > 0].min(initial=x[-1])
    places = np.linspace(x[0], x[-1], 400) if x_scale == "linear" else np.geomspace(start, x[-1], 400)
    values = np.interp(places, x, line)
    return values[np.isfinite(values)]


def divergences(curve: Curve, panel: CurvesPanel) -> list[int]:
    """Indices of the points at which a seed of this curve diverged: n falls after them, or the last seed ends there."""
    runs = [run for run in panel.runs if run["model"] == curve.model]
    diverged = [int(run["diverged_at"]) for run in runs if run["status"] == "diverged"]
    ends = falls(curve) if diverged else []
    if panel.settings.against == "iteration":  # n falls too where a seed finishes before the others
        ends = [i for i in ends if any(curve.x[i] <= end <= curve.x[i + 1] for end in diverged)]
    return ends + [curve.n.size - 1] * (len(diverged) == len(runs))


def falls(curve: Curve) -> list[int]:
    """Indices of the points after which fewer seeds go on."""
    return np.flatnonzero(np.diff(curve.n) < 0).tolist()
