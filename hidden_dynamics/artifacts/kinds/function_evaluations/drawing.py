"""Function evaluations of the solvers while neural ODEs train, and the accuracy that they go with; in no paper."""

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from hidden_dynamics.artifacts.figure_notes import (
    chosen_note,
    data_of,
    legend_label,
    made_note,
    scale_note,
    sizes_of,
    subtitle_of,
    task_title,
)
from hidden_dynamics.artifacts.kinds.function_evaluations import FunctionEvaluations
from hidden_dynamics.artifacts.notes import divergence_notes
from hidden_dynamics.artifacts.sheet import NO_VALUE, STYLE, page, plain_numbers, write_instead
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.models.solver import ADAPTIVE, Solver
from hidden_dynamics.results.rows import Row
from hidden_dynamics.results.run_files import RunFiles
from hidden_dynamics.results.statistics import mean_and_std

DIRECTIONS = {"forward": "solid", "backward": "dashed"}
MARKERS = "osD^vP"
ACCURACY = "test_accuracy"

Styles = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Counts:
    """The function evaluations of one run; `run` is its row of the summary.

    Attributes:
        epochs: of the evaluations, (k,), ascending.
        means: by direction, (k,): of a training iteration, the mean since the evaluation before.
    """

    run: Row
    epochs: NDArray
    means: Mapping[str, NDArray]


def draw(artifact: FunctionEvaluations, sources: Sources) -> Figure:
    """A column per task: above, function evaluations against the epoch; below, the test accuracy against them."""
    configuration, summary = artifact.configuration, sources.summary
    counted = [counts for run in summary if (counts := read_counts(sources, run)) is not None]
    runs = [counts.run for counts in counted]
    styles, tasks = styles_of(configuration, runs), list(dict.fromkeys(run["task"] for run in summary))
    with matplotlib.rc_context(STYLE):
        figure, body = page(
            artifact.settings,
            subtitle=subtitle_of(configuration, summary),
            width=max(6.8, 3.7 * len(tasks)),
            height=6.2,
            handles=legend_handles(counted, styles),
            notes=notes_of(configuration, summary, runs),
        )
        axes = body.subplots(2, len(tasks), squeeze=False)
        for task, above, below in zip(tasks, *axes, strict=True):
            draw_task(configuration, above, below, [counts for counts in counted if counts.run["task"] == task], styles)
            describe(configuration, [run for run in summary if run["task"] == task], above, below)
        share_scale(axes[0])
        axes[0, 0].set_ylabel("Function evaluations\nof a training iteration")
        axes[1, 0].set_ylabel(f"{configuration.metrics[ACCURACY].title} (%)")
        body.align_ylabels(axes)
    return figure


def read_counts(sources: Sources, run: Row) -> Counts | None:
    """A run's counts; None where its network has no solver, or where it diverged before its first evaluation.

    Raises:
        UserError: its metrics.csv is missing or damaged.
    """
    files = RunFiles(sources.root / run["directory"])
    if not any("nfe_forward" in row for row in files.metrics()):
        return None
    (epochs, forward), (_, backward) = (files.evaluations(f"nfe_{direction}", "epoch") for direction in DIRECTIONS)
    return Counts(run, epochs, {"forward": forward, "backward": backward})


def styles_of(configuration: Configuration, runs: Sequence[Row]) -> Styles:
    """Each model's colour, and a marker of its own for who cannot tell it, in the order of the legend."""
    return {
        model: {"color": configuration.models[model].colour, "marker": MARKERS[place % len(MARKERS)]}
        for place, model in enumerate(dict.fromkeys(run["model"] for run in runs))
    }


def draw_task(configuration: Configuration, above: Axes, below: Axes, shown: Sequence[Counts], styles: Styles) -> None:
    for model, style in styles.items():
        seeds = [counts for counts in shown if counts.run["model"] == model]
        if seeds:
            draw_counts(above, seeds, style)
            draw_ends(below, [counts.run for counts in seeds], style, configuration.metrics[ACCURACY].factor)


def draw_counts(ax: Axes, seeds: Sequence[Counts], style: Mapping[str, Any]) -> None:
    """One model's function evaluations: a thin line per seed, × where it diverged, and their mean."""
    for direction, dashes in DIRECTIONS.items():
        line = {"color": style["color"], "linestyle": dashes}
        for counts in seeds:
            x, y = counts.epochs, positive(counts.means[direction])
            ax.plot(x, y, **line, linewidth=0.7, alpha=0.35)
            if counts.run["status"] == "diverged":
                ax.plot(x[-1:], y[-1:], "x", color=style["color"], mew=1.5, zorder=5, gid="diverged")
        x, y = mean_over_seeds([(counts.epochs, positive(counts.means[direction])) for counts in seeds])
        ax.plot(x, y, **line, gid=f"{direction} {seeds[0].run['model']}")


def positive(values: NDArray) -> NDArray:
    """nan instead of 0: without the adjoint problem nothing is evaluated backwards, and the axis is logarithmic."""
    return np.where(values > 0, values, np.nan)


def mean_over_seeds(curves: Sequence[tuple[NDArray, NDArray]]) -> tuple[NDArray, NDArray]:
    """x, ascending, and at each the mean of the curves (x, y) that have it."""
    x = np.unique(np.concatenate([x for x, _ in curves]))
    return x, np.array([np.mean([y[own == here][0] for own, y in curves if here in own]) for here in x])


def draw_ends(ax: Axes, runs: Sequence[Row], style: Mapping[str, Any], factor: float) -> None:
    """One model's reported evaluations: a small mark per seed, a large one with bars for mean ± standard deviation."""
    ends = [json.loads(run["measured"]) for run in runs if run["status"] == "finished" and run["measured"]]
    if not ends:
        return
    x, y = [end["nfe_forward"] for end in ends], [factor * end[ACCURACY] for end in ends]
    ax.plot(x, y, **style, linestyle="none", ms=3, alpha=0.5, mew=0)
    (x_mean, x_std), (y_mean, y_std) = mean_and_std(x), mean_and_std(y)
    bars = {"xerr": x_std, "yerr": y_std} if len(ends) > 1 else {}
    container = ax.errorbar([x_mean], [y_mean], **bars, **style, linestyle="none", ms=6, elinewidth=1, capsize=2)
    container.lines[0].set_gid(f"end {runs[0]['model']}")


def describe(configuration: Configuration, runs: Sequence[Row], above: Axes, below: Axes) -> None:
    """Titles, scales and labels of a task's two panels."""
    about = [task_title(configuration, runs), sizes_of(configuration, runs), data_of(configuration, runs)]
    above.set_title("\n".join(line for text in about for line in textwrap.wrap(text, 50)), linespacing=1.3)
    above.set_xlabel("Epoch")
    below.set_xlabel("Forward evaluations of an iteration")
    above.set_yscale("log")
    below.set_xscale("log")
    above.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    plain_numbers(above.yaxis)
    plain_numbers(below.xaxis)
    for ax in (above, below):
        if not ax.has_data():
            write_instead(ax, NO_VALUE)


def share_scale(axes: Sequence[Axes]) -> None:
    """One scale of function evaluations for all tasks."""
    for ax in axes[1:]:
        ax.sharey(axes[0])
    axes[0].autoscale_view(scalex=False)


def legend_handles(shown: Sequence[Counts], styles: Styles) -> list[Line2D]:
    """One entry per model, with its diverged runs, then one per direction in which a solver was used."""
    models = [
        Line2D([], [], **style, label=legend_label([counts.run for counts in shown if counts.run["model"] == model]))
        for model, style in styles.items()
    ]
    return models + [
        Line2D([], [], color="0.2", linestyle=dashes, label=f"{direction}s")
        for direction, dashes in DIRECTIONS.items()
        if any((counts.means[direction] > 0).any() for counts in shown)
    ]


def notes_of(configuration: Configuration, summary: Sequence[Row], counted: Sequence[Row]) -> list[str]:
    """The caption, by paragraph; `counted` are the runs that have a solver."""
    chosen = chosen_note(configuration, counted) or "reported evaluation"
    drawn = (
        "Above: function evaluations of a training iteration, the mean since the evaluation before; thin: seeds, "
        "thick: their mean (a line may lie on another); ×: a seed diverged after this. Below: test accuracy "
        f"and function evaluations at each seed's {chosen} (small), their mean ± sample standard "
        "deviation (large); without diverged seeds."
    )
    return [
        scale_note(configuration, summary),
        drawn,
        " ".join(filter(None, (turn_note(counted), solver_note(counted)))),
        *divergence_notes(summary),
        made_note(summary),
    ]


def turn_note(runs: Sequence[Row]) -> str:
    """The models that trained in turn, and the effect on their counts; empty without any."""
    labels = dict.fromkeys(run["label"] for run in runs if json.loads(run["training"]).get("alternating"))
    if not labels:
        return ""
    return (
        f"{', '.join(labels)}: trained in turn (Algorithm 1), so an iteration solves twice forwards and twice "
        "backwards; both count."
    )


def solver_note(runs: Sequence[Row]) -> str:
    """The solvers by task: "Solvers: MNIST images: dopri5, ... (ODE-Net); rk4, ... (RKNet). SVHN: ..."."""
    by_task: dict[str, dict[str, dict[str, None]]] = {}
    for run in runs:
        settings = json.loads(run["hyperparameters"]).get("solver")
        if settings is not None:  # a network of the user's own may say it in another way
            labels = by_task.setdefault(run["task_title"], {}).setdefault(solver_text(settings), {})
            labels[run["label"]] = None
    same: dict[str, list[str]] = {}
    for task, solvers in by_task.items():
        text = "; ".join(f"{solver} ({', '.join(labels)})" for solver, labels in solvers.items())
        same.setdefault(text, []).append(task)
    return "Solvers: " + " ".join(f"{' and '.join(tasks)}: {text}." for text, tasks in same.items()) if same else ""


def solver_text(settings: Mapping[str, Any]) -> str:
    """A solver in words: "dopri5, rtol 1e-05, atol 1e-05, adjoint"."""
    solver = Solver(**settings)
    if solver.method in ADAPTIVE:
        how = f"rtol {solver.rtol:g}, atol {solver.atol:g}"
    else:
        how = "one step" if solver.step_size is None else f"steps of {solver.step_size:g}"
    return f"{solver.method}, {how}, {'adjoint' if solver.adjoint else 'backpropagation through the solver'}"
