"""Squared errors of predictions over time, a line per model (ACE-NODE, Figures 5 to 7)."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.artifacts import lines, sheet
from hidden_dynamics.artifacts.base import SideBySide, SideBySideSettings
from hidden_dynamics.artifacts.notes import about, figure_notes, reported_note, subtitle_of
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import PREDICTIONS, resampled
from hidden_dynamics.results.curves import Curve
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.record import RunRecord
from hidden_dynamics.results.seeds import FEWEST, mean_band

MOST_BINS = 12
FEWEST_ENTRIES = 20  # of a run in a bin, on average
BLOCK = 4  # rows of a block in the paper's figure
NOTHING = "No picture is drawn: no run predicted anything."
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
    settings: Settings
    summarised = True
    run_files = (PREDICTIONS,)
    floored = True


def draw(artifact: ErrorOverTime, evidence: Evidence) -> "sheet.Page":
    """A `UserError` where a file is missing or damaged."""
    configuration, settings, runs = artifact.configuration, artifact.settings, evidence.runs
    metric = configuration.metrics[settings.metric]
    read = [(run, run.files.predictions()) for run in runs if run.status == "finished"]
    made = [(run, arrays) for run, arrays in read if arrays and arrays.get("mask", np.ones(1)).any()]
    curves = curves_of(configuration, made, metric.factor) if made else []
    styles = sheet.line_styles(configuration, runs)
    scores = lines.baselines(runs, settings.metric, metric.sign, metric.factor)
    by_row = {run.model: blocks(arrays) for run, arrays in made if run.seed == runs[0].seed and settings.over_rows}
    across = lines.baseline_styles(scores)
    title = about(configuration, runs, f"{runs[0].task_title}: mean squared error of observed entries")
    figure, body = sheet.page(
        settings,
        subtitle_of(configuration, runs),
        width=8.2,
        height=6.4 if settings.over_rows else 3.6,
        notes=figure_notes(artifact, runs, settings.note, reported_note(configuration, runs)),
        handles=[*lines.model_entries(runs, styles), *lines.baseline_entries(across)],
        instead="" if curves else NOTHING,
        data=rows_of(curves, by_row, scores),
    )
    axes = body.subplots(1 + settings.over_rows, 1, squeeze=False)[:, 0]
    axes[0].set_title("\n".join(title), linespacing=1.3)
    axes[0].set_xlabel(settings.time)
    axes[0].set_ylabel("Mean squared error" + (f", {metric.unit}" if metric.factor != 1 else ""))
    if curves:
        draw_over_time(axes[0], curves, {**styles, **across}, scores)
    if settings.over_rows:
        draw_over_rows(axes[1], by_row, styles)
    body.align_ylabels(axes)
    return figure


def errors_of(answers: Sequence[Arrays], factor: float) -> tuple[NDArray, NDArray]:
    """The mean squared errors of runs in the bins that they recorded, or else in bins for their targets.

    Bins in which no run has an entry are left out.

    Args:
        factor: to the unit that is shown.

    Returns:
        Where the bins are drawn (bins,), and the means (runs, bins): nan without entries, or where one is not finite.
    """
    if "error_time" in answers[0]:
        edges = answers[0]["error_time"]
        times = (edges[:-1] + edges[1:]) / 2
        sums, counts = (np.array([arrays[f"error_{name}"] for arrays in answers]) for name in ("sum", "count"))
    else:
        edges, times = bins_for(answers)
        placed = [(np.searchsorted(edges[1:-1], at, side="right"), squares) for at, squares in map(observed, answers)]
        counts = np.array([np.bincount(places, minlength=times.size) for places, _ in placed])
        sums = np.array([np.bincount(*pair, minlength=times.size) for pair in placed])
    seen = counts.any(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = factor * (sums[:, seen] / counts[:, seen])
    return times[seen], np.where(np.isfinite(means), means, np.nan)


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


def curves_of(configuration: Configuration, made: Sequence[tuple[RunRecord, Arrays]], factor: float) -> list[Curve]:
    """Of each model the mean over its runs, with its band or the runs' own lines."""
    times, errors = errors_of([arrays for _, arrays in made], factor)
    curves = []
    for model in dict.fromkeys(run.model for run, _ in made):
        values = errors[[run.model == model for run, _ in made]]
        seeds = [run.seed for run, _ in made if run.model == model]
        band = mean_band(values, resampled=resampled(configuration, made[0][0].task, model))
        few = dict(zip(seeds, values, strict=True)) if 1 < len(values) < FEWEST else {}
        curves.append(Curve(model, times, *band, few))
    return curves


def rows_of(
    curves: Sequence[Curve], by_row: Mapping[str, tuple[NDArray, NDArray]], scores: Mapping[str, float]
) -> list[dict[str, object]]:
    """A row for each point that is drawn, over time and over row numbers, and for each baseline."""
    rows: list[dict[str, object]] = [point for curve in curves for point in lines.points_of(curve, axis="time")]
    for model, points in by_row.items():
        place = {"axis": "row", "model": model, "line": "first seed"}
        rows += [{**place, "x": x, "mean": mean} for x, mean in zip(*points, strict=True)]
    return rows + [{"axis": "time", "line": name, "mean": score} for name, score in scores.items()]


def draw_over_time(
    ax: "sheet.Axes", curves: Sequence[Curve], styles: sheet.Styles, scores: Mapping[str, float]
) -> None:
    """Each model's mean with its band or its runs' own lines; a wide band does not flatten the lines."""
    means = np.concatenate([values for curve in curves for values in (curve.mean, *curve.seeds.values())])
    bands = np.concatenate([end for curve in curves for end in (curve.low, curve.high)])
    for rank, curve in enumerate(curves):
        look = {**styles[curve.model], "marker": "o", "ms": 3.5}
        lines.draw_line(ax, curve, look, shift=rank - (len(curves) - 1) / 2)
    lines.draw_across(ax, scores, styles)
    ax.set_xlim(*lines.padded(np.concatenate([curve.x for curve in curves])))
    least, top = np.nanmin(means), np.nanmax(means)
    seen = np.concatenate([means, bands.clip(least / 2, 2 * top), lines.in_sight(scores, top)])
    low, high = lines.padded(seen[np.isfinite(seen)])
    ax.set_ylim(max(0.0, low), high)


def draw_over_rows(ax: "sheet.Axes", by_row: Mapping[str, tuple[NDArray, NDArray]], styles: sheet.Styles) -> None:
    """Each model's mean over blocks of rows, of its run with the first seed."""
    ax.set_title("As in the paper: over row numbers, which its figure labels “Testing Time”")
    ax.set_xlabel("Number of the target’s row (rows sorted by series, then time)")
    ax.set_ylabel(f"Mean over {BLOCK} rows × all features,\nnot observed: 0")
    for model, points in by_row.items():
        ax.plot(*points, **{**styles[model], "linewidth": 1.1}, gid=f"curve {model}")
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
