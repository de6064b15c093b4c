"""Squared errors of predictions over time, a line per model (ACE-NODE, Figures 5 to 7)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.artifacts.base import SideBySide, SideBySideSettings
from hidden_dynamics.artifacts.lines import draw_line, draw_naive, in_sight, model_entries, naive_entries
from hidden_dynamics.artifacts.notes import about, figure_notes, reported_note, subtitle_of
from hidden_dynamics.artifacts.sheet import Styles, line_styles, page, style, write_instead
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import PREDICTIONS, resampled
from hidden_dynamics.results.rows import Row
from hidden_dynamics.results.run_files import RunFiles
from hidden_dynamics.results.seeds import FEWEST, mean_band, mean_scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_BINS = 12
FEWEST_ENTRIES = 20  # of a run in a bin, on average
BLOCK = 4  # rows of a block in the paper's figure
Arrays = Mapping[str, NDArray]


class Settings(SideBySideSettings):
    """
    Attributes:
        metric: that of which what is drawn is the mean over entries.
        time: the label of the time's axis.
        over_rows: whether the errors are drawn over row numbers, too, as the paper's Figure 5 has them.
        note: what else is to be known of the errors.
    """

    metric: str
    time: str
    over_rows: bool = False
    note: str


class ErrorOverTime(SideBySide):
    Settings = Settings
    summarised = True
    run_files = (PREDICTIONS,)
    floored = True

    def chosen_metrics(self) -> list[str]:
        return [self.settings.metric]


def draw(artifact: ErrorOverTime, sources: Sources) -> "Figure":
    """A `UserError` where a file is missing or damaged."""
    configuration, settings, summary = artifact.configuration, artifact.settings, sources.summary
    metric = configuration.metrics[settings.metric]
    finished = [run for run in summary if run["status"] == "finished"]
    read = [(run, RunFiles.of_row(run, sources.root).predictions()) for run in finished]
    made = [(run, arrays) for run, arrays in read if arrays and arrays.get("mask", np.ones(1)).any()]
    errors = errors_of(made, metric.factor) if made else None
    naive, styles = mean_scores(summary, settings.metric, metric.factor), line_styles(configuration, summary)
    title = about(configuration, summary, f"{summary[0]['task_title']}: mean squared error of observed entries")
    with style():
        figure, body = page(
            settings,
            subtitle_of(configuration, summary),
            width=8.2,
            height=6.4 if settings.over_rows else 3.6,
            notes=figure_notes(configuration, summary, settings.note, reported_note(configuration, summary)),
            handles=[*model_entries(summary, styles), *naive_entries(naive)],
        )
        axes = body.subplots(1 + settings.over_rows, 1, squeeze=False)[:, 0]
        axes[0].set_title("\n".join(title), linespacing=1.3)
        axes[0].set_xlabel(settings.time)
        axes[0].set_ylabel("Mean squared error" + (f", {metric.unit}" if metric.factor != 1 else ""))
        if errors:
            draw_over_time(axes[0], configuration, errors, styles, naive)
        if settings.over_rows:
            draw_over_rows(axes[1], [one for one in made if one[0]["seed"] == summary[0]["seed"]], styles)
        for ax in axes:
            if not ax.has_data():
                write_instead(ax)
        body.align_ylabels(axes)
    return figure


@dataclass(frozen=True)
class Errors:
    """Squared errors of the runs that predicted something, in bins of time.

    Attributes:
        runs: their rows of the summary.
        times: (bins,), where the bins are drawn.
        sums, counts: (runs, bins), of the observed entries.
        factor: to the unit that is shown.
    """

    runs: Sequence[Row]
    times: NDArray
    sums: NDArray
    counts: NDArray
    factor: float

    def of(self, model: str) -> NDArray:
        """(the model's runs, bins), the means; nan without entries, or where one is not finite."""
        own = [run["model"] == model for run in self.runs]
        with np.errstate(invalid="ignore", divide="ignore"):
            means = self.factor * (self.sums[own] / self.counts[own])
        return np.where(np.isfinite(means), means, np.nan)


def errors_of(made: Sequence[tuple[Row, Arrays]], factor: float) -> Errors:
    """The errors of runs in the bins that they recorded, or else in bins for their targets.

    Bins in which no run has an entry are left out.
    """
    runs, answers = [run for run, _ in made], [arrays for _, arrays in made]
    if "error_time" in answers[0]:
        edges = answers[0]["error_time"]
        times = (edges[:-1] + edges[1:]) / 2
        sums, counts = (np.array([arrays[f"error_{name}"] for arrays in answers]) for name in ("sum", "count"))
    else:
        edges, times = bins_for(answers)
        entries = [observed(arrays) for arrays in answers]
        places = [np.searchsorted(edges[1:-1], own, side="right") for own, _ in entries]
        counts = np.array([np.bincount(place, minlength=times.size) for place in places])
        squares = [own for _, own in entries]
        sums = np.array([np.bincount(*pair, minlength=times.size) for pair in zip(places, squares, strict=True)])
    seen = counts.any(axis=0)
    return Errors(runs, times[seen], sums[:, seen], counts[:, seen], factor)


def bins_for(answers: Sequence[Arrays]) -> tuple[NDArray, NDArray]:
    """Edges (bins + 1,) and mean times (bins,) of bins with about equally many of the observed targets of all runs.

    At most MOST_BINS, and so few that a run has FEWEST_ENTRIES entries in each, on average; equal times stay together.
    A bin has its lower edge, and the last one its upper edge, too.
    """
    times = np.concatenate([observed(arrays)[0] for arrays in answers])
    number = np.clip(times.size / len(answers) // FEWEST_ENTRIES, 1, MOST_BINS)
    distinct, place, counts = np.unique(times, return_inverse=True, return_counts=True)
    share = (np.cumsum(counts) - counts / 2) / times.size  # of the targets, before the middle of those at this time
    _, first, bin_of = np.unique(np.floor(number * share), return_index=True, return_inverse=True)
    return np.append(distinct[first], distinct[-1]), np.bincount(bin_of[place], times) / np.bincount(bin_of[place])


def observed(arrays: Arrays) -> tuple[NDArray, NDArray]:
    """Time and squared error of each observed entry of a run's targets: (m,) float64 each."""
    mask = arrays["mask"]
    return np.broadcast_to(arrays["time"][:, None], mask.shape)[mask].astype(np.float64), squares_of(arrays)[mask]


def squares_of(arrays: Arrays) -> NDArray:
    """(n, D) float64."""
    with np.errstate(invalid="ignore", over="ignore"):
        return (arrays["value"].astype(np.float64) - arrays["mean"]) ** 2


def draw_over_time(
    ax: "Axes", configuration: Configuration, errors: Errors, styles: Styles, naive: Mapping[str, float]
) -> None:
    """Each model's mean over its runs, with its band or the runs' own lines; a wide band does not flatten the lines."""
    highest = [0.0]
    for model, look in styles.items():
        values = errors.of(model)
        if len(values):
            share = resampled(configuration, errors.runs[0]["task"], model)
            mean, low, high = mean_band(values, resampled=share)
            few = values if 1 < len(values) < FEWEST else ()
            draw_line(ax, model, look, errors.times, mean, (low, high), few, marker="o", ms=3.5)
            top = np.nanmax(np.stack([mean, *few]), initial=0.0)
            highest.append(min(np.nanmax(high, initial=top), 2 * top))
    draw_naive(ax, naive, naive)
    ax.set_ylim(0, 1.08 * max(highest + in_sight(naive, max(highest))) or 1.0)


def draw_over_rows(ax: "Axes", made: Sequence[tuple[Row, Arrays]], styles: Styles) -> None:
    """Each model's mean over blocks of rows, of its run with the first seed."""
    ax.set_title("As in the paper: over row numbers, which its figure labels “Testing Time”")
    ax.set_xlabel("Number of the target’s row (rows sorted by series, then time)")
    ax.set_ylabel(f"Mean over {BLOCK} rows × all features,\nnot observed: 0")
    for run, arrays in made:
        ax.plot(*blocks(arrays), **{**styles[run["model"]], "linewidth": 1.1}, gid=f"curve {run['model']}")
    ax.set_ylim(bottom=0)
    ax.set_xmargin(0.01)


def blocks(arrays: Arrays) -> tuple[NDArray, NDArray]:
    """The paper's figure: row number 4 i, and the mean over block i of 4 rows and all D features.

    What was not observed counts as an error of 0, and the rows left over after the last whole block are left out, as in
    the released paper_plotting.py.

    Returns:
        (blocks,) float64 each; a mean is nan where an error is not finite.
    """
    squares = np.where(arrays["mask"], squares_of(arrays), 0.0)
    count = len(squares) // BLOCK
    means = squares[: BLOCK * count].reshape(count, BLOCK * squares.shape[1]).mean(axis=1)
    return BLOCK * np.arange(count, dtype=np.float64), np.where(np.isfinite(means), means, np.nan)
