"""Forecasts of a few test series: what was observed, and the mean and band that each model predicts; in no paper."""

import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from hidden_dynamics.artifacts.figure_notes import (
    data_of,
    made_note,
    scale_note,
    sizes_of,
    subtitle_of,
    task_title,
    weights_note,
)
from hidden_dynamics.artifacts.kinds.series_forecasts import SeriesForecasts
from hidden_dynamics.artifacts.notes import divergence_notes
from hidden_dynamics.artifacts.sheet import STYLE, Styles, line_styles, page, write_instead
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.reading import mistake
from hidden_dynamics.configuration.runs import PREDICTIONS
from hidden_dynamics.errors import UserError
from hidden_dynamics.results.predictions import Predictions
from hidden_dynamics.results.rows import Row
from hidden_dynamics.results.run_files import RunFiles

TITLE = 130  # characters in a line above the panels
DEVIATIONS = 1.96  # of a normal distribution, whose middle 95 % are within
MARKS = {
    "given": {"marker": "o", "ms": 3, "color": "0.15", "mew": 0},
    "withheld": {"marker": "o", "ms": 3.6, "color": "0.45", "mfc": "white", "mew": 0.8},
    "target": {"marker": "D", "ms": 4.6, "color": "black", "mfc": "gold", "mew": 0.8},
}
END = {"color": "0.4", "linestyle": (0, (1, 1)), "linewidth": 1.1}
LAST = {"color": "0.35", "linestyle": (0, (5, 3)), "linewidth": 1}
LABELS = {"given": "observed, given", "withheld": "observed, withheld", "target": "withheld, a target"}


@dataclass(frozen=True)
class Forecast:
    """A model's run with the first seed (its row of the summary), and its predictions; None where it has none."""

    run: Row
    predictions: Predictions | None

    @property
    def shown(self) -> NDArray:
        """Which times of the grid are drawn, (g,) bool: those to which a network that goes in steps makes whole ones.

        A prediction is read at the nearest time of the network's way. At the time of a step it is the state before the
        observations since the step before, at an observation's own the state after: both together would be a zigzag.
        """
        grid, step = self.predictions.grid, json.loads(self.run["hyperparameters"]).get("delta")
        if step is None:
            return np.ones(grid.shape, bool)
        number = grid.astype(np.float64) / step
        whole = np.abs(number - np.round(number)) < 0.01
        return whole if whole.sum() > 1 else np.ones(grid.shape, bool)


def draw(artifact: SeriesForecasts, sources: Sources) -> Figure:
    """A column per series, a row per feature; all models in each panel, over as much time before `until` as after it.

    Raises:
        UserError: a file is missing, damaged, or of other series than the others, or there is no such feature.
    """
    forecasts = [read_forecast(sources, model) for model in artifact.settings.models]
    made, runs = [one for one in forecasts if one.predictions is not None], [one.run for one in forecasts]
    check_alike(artifact, sources, made)
    series = made[0].predictions.series if made else np.zeros(1)
    features, styles = artifact.settings.features, line_styles(artifact.configuration, runs)
    with matplotlib.rc_context(STYLE):
        figure, body = page(
            artifact.settings,
            subtitle=subtitle_of(artifact.configuration, runs),
            width=9.6 if len(series) > 1 else 6.8,
            height=0.7 + 2.1 * len(features),
            handles=legend_handles(forecasts, styles),
            notes=notes_of(artifact.configuration, forecasts),
        )
        body.suptitle("\n".join(heading_of(artifact.configuration, runs)), fontsize=STYLE["axes.titlesize"])
        axes = body.subplots(len(features), len(series), sharex=True, sharey="row", squeeze=False)
        for panels, feature in zip(axes, features, strict=True):
            panels[0].set_ylabel(feature_name(artifact.configuration, runs[0], feature))
            if made:
                panels[0].set_ylim(heights_of(made, feature))
            for place, ax in enumerate(panels):
                draw_panel(ax, made, styles, place, feature)
        for ax, name in zip(axes[0], series, strict=True):
            ax.set_title(f"Series {name}" if made else "")
        for ax in axes[-1]:
            ax.set_xlabel("Time")
        if made:
            start, end = shown_time(made[0].predictions)
            axes[0, 0].set_xlim(start, end + 0.02 * (end - start))
        axes[0, 0].xaxis.set_major_locator(MaxNLocator(5, prune="both"))  # labels of neighbours do not touch
        body.align_ylabels(axes)
    return figure


def read_forecast(sources: Sources, model: str) -> Forecast:
    """A model's run with the first seed.

    Raises:
        UserError: there is no such run, or its file is missing or damaged.
    """
    run = sources.first_run(model)
    finished = run["status"] == "finished"
    return Forecast(run, RunFiles(sources.root / run["directory"]).predictions() if finished else None)


def check_alike(artifact: SeriesForecasts, sources: Sources, made: Sequence[Forecast]) -> None:
    """Refuse predictions of other series than the first model's, and features that there are none of."""
    for one in made:
        path = sources.root / one.run["directory"] / PREDICTIONS
        if not np.array_equal(one.predictions.row_id, made[0].predictions.row_id):
            text = f"{path}: its series are not those of {made[0].run['label']}, which has the same seed: remove it and"
            raise UserError(f"{text} run snakemake again.", file=path)
        if max(artifact.settings.features) >= one.predictions.features:
            text = f"there is no feature {max(artifact.settings.features)}: {path} has {one.predictions.features}"
            raise mistake(f"{artifact.configured_at}.features", text)


def draw_panel(ax: Axes, made: Sequence[Forecast], styles: Styles, place: int, feature: int) -> None:
    """One feature of one series: bands, lines, observations, and where those that are given end."""
    if not made:
        write_instead(ax, "no run predicted anything")
        return
    first = made[0].predictions
    for one in made:
        style, model = styles[one.run["model"]], one.run["model"]
        grid, mean, low, high = course(one, place, feature)
        ax.fill_between(grid, low, high, color=style["color"], alpha=0.13, linewidth=0, gid=f"band {model}")
        ax.plot(grid, mean, **style | {"linewidth": 1.2}, gid=f"curve {model}")
    for kind, points in observations(first, place, feature).items():
        ax.plot(*points, linestyle="none", **MARKS[kind], zorder=4, gid=f"{kind} {feature}")
    times, values = observations(first, place, feature)["given"]
    if len(times):
        ax.plot([times[-1], first.grid[-1]], [values[-1]] * 2, **LAST, zorder=3, gid="naive last value")
    ax.axvline(first.until, **END, zorder=1, gid="until")


def course(one: Forecast, place: int, feature: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Times, mean, lower and upper end of the band, (times,) each; nan where one is not finite."""
    made, shown = one.predictions, one.shown
    mean = made.grid_mean[place, shown, feature].astype(np.float64)
    width = DEVIATIONS * np.sqrt(made.grid_variance[place, shown, feature].astype(np.float64))
    mean, low, high = (np.where(np.isfinite(values), values, np.nan) for values in (mean, mean - width, mean + width))
    return made.grid[shown], mean, low, high


def observations(predictions: Predictions, place: int, feature: int) -> dict[str, tuple[NDArray, NDArray]]:
    """(times, values) of a feature's observations in a series, by what they are: given, withheld, or a target."""
    name = predictions.series[place]
    rows = (predictions.row_id == name) & predictions.row_mask[:, feature]
    times, values = predictions.row_time[rows], predictions.row_value[rows, feature]
    given = times <= np.float32(predictions.until)
    target = np.isin(times, predictions.time[predictions.id == name])
    kinds = {"given": given, "withheld": ~given & ~target, "target": target}
    return {kind: (times[chosen], values[chosen]) for kind, chosen in kinds.items()}


def shown_time(predictions: Predictions) -> tuple[float, float]:
    """From as long before `until` as the grid goes on after it, to its end."""
    first, last = float(predictions.grid[0]), float(predictions.grid[-1])
    return max(first, 2 * predictions.until - last), last


def heights_of(made: Sequence[Forecast], feature: int) -> tuple[float, float]:
    """Limits for all panels of a feature: lines and observations are seen whole, bands as far as leaves these large."""
    start, _ = shown_time(made[0].predictions)
    seen, bands = [], []
    for one in made:
        for place in range(len(one.predictions.series)):
            times, *lines = course(one, place, feature)
            mean, low, high = (values[times >= start] for values in lines)
            seen.append(mean)
            bands += [low, high]
            seen += [values[times >= start] for times, values in observations(one.predictions, place, feature).values()]
    low, high = _extent(np.concatenate(seen))
    span = high - low or 1.0
    lowest, highest = _extent(np.concatenate([[low, high], *bands]))
    return max(lowest, low - span) - 0.05 * span, min(highest, high + span) + 0.05 * span


def _extent(values: NDArray) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)


def feature_name(configuration: Configuration, run: Row, feature: int) -> str:
    """A feature's name where the dataset's entry names its features, or the data's settings do; else its number."""
    names = json.loads(run["data"]).get("elements") or configuration.datasets[run["dataset"]].features
    return names[feature] if feature < len(names) else f"feature {feature}"


def heading_of(configuration: Configuration, runs: Sequence[Row]) -> list[str]:
    """Above all panels: task, size and seed, then the data that were really used."""
    about = [task_title(configuration, runs), sizes_of(configuration, runs), f"seed {runs[0]['seed']}"]
    return [", ".join(filter(None, about)), *textwrap.wrap(data_of(configuration, runs), TITLE)]


def legend_handles(forecasts: Sequence[Forecast], styles: Styles) -> list[Line2D]:
    """One entry per model, or why it has no line, then one for each kind of mark."""
    lines = [
        Line2D([], [], **styles[one.run["model"]], label=f"{one.run['label']}{_missing(one)}") for one in forecasts
    ]
    marks = [Line2D([], [], linestyle="none", **style, label=LABELS[kind]) for kind, style in MARKS.items()]
    others = [Line2D([], [], **END, label="end of what is given"), Line2D([], [], **LAST, label="naive: last value")]
    return [*lines, *marks, *others]


def _missing(one: Forecast) -> str:
    if one.predictions is not None:
        return ""
    return " (diverged)" if one.run["status"] == "diverged" else " (no predictions)"


def notes_of(configuration: Configuration, forecasts: Sequence[Forecast]) -> list[str]:
    """The caption, by paragraph."""
    runs = [one.run for one in forecasts]
    made = [one.predictions for one in forecasts if one.predictions is not None]
    drawn = [drawn_note(made[0]) if made else "", weights_note(configuration, runs)]
    return [
        scale_note(configuration, runs),
        " ".join(filter(None, drawn)),
        *divergence_notes(runs),
        made_note(runs),
    ]


def drawn_note(predictions: Predictions) -> str:
    """What lines, bands and marks are."""
    start, until = shown_time(predictions)[0], predictions.until
    return (
        f"Drawn: the first {len(predictions.series)} series of the test set by id, from time {start:g} on; values are "
        f"those of the prepared data. Lines: the predicted mean, given what was observed until {until:g}. Before "
        "that, a network that goes along the series follows the observations as it passes them, from its next step on "
        "where it goes in steps; one that encodes the whole series first rests on later ones, too. Bands: mean ± "
        f"{DEVIATIONS:g} predicted standard deviations. Targets: the first rows after that time, of which the test "
        "errors are."
    )
