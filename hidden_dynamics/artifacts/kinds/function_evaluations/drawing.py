"""Function evaluations of the solvers while neural ODEs train, and the accuracy that they go with; in no paper."""

import csv
import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.errors import UserError
from hidden_dynamics.results.seals import check, remedy
from hidden_dynamics.artifacts.notes import divergence_notes, scale_notes
from hidden_dynamics.artifacts.kinds.ablation.drawing import RULES
from hidden_dynamics.artifacts.kinds.curves.drawing import divergence_note
from hidden_dynamics.artifacts.sheet import STYLE, page, plain_numbers
from hidden_dynamics.artifacts.figure_notes import data_of, made_note, sizes_of, subtitle_of, task_title
from hidden_dynamics.configuration.runs import find
from hidden_dynamics.models.continuous.solver import ADAPTIVE, Solver
from hidden_dynamics.results.statistics import mean_and_std

DIRECTIONS = {"forward": "solid", "backward": "dashed"}
MARKERS = "osD^vP"


@dataclass(frozen=True)
class Counts:
    """The function evaluations of one run; `run` is its row of the summary.

    Attributes:
        epochs: of the evaluations, (k,), ascending.
        means: by direction, (k,): of a training iteration, the mean since the evaluation before.
    """

    run: Mapping[str, str]
    epochs: NDArray
    means: Mapping[str, NDArray]


def function_evaluations_figure(
    configuration: Configuration, artifact: str, summary: Sequence[Mapping], root: Path = Path()
) -> Figure:
    """A column per task: above, function evaluations against the epoch; below, the test accuracy against them.

    Args:
        summary: the rows that scripts/summarise.py writes, as text by column.
        root: what the rows' `directory` is relative to.

    Raises:
        UserError: a run's metrics.csv is missing or damaged.
    """
    counted = [counts for counts in (read_counts(root, run) for run in summary) if counts is not None]
    tasks = configuration.artifacts[artifact]["tasks"]
    models = list(dict.fromkeys(counts.run["model"] for counts in counted))
    with matplotlib.rc_context(STYLE):
        figure, body = page(
            configuration.artifacts[artifact],
            subtitle=subtitle_of(configuration, summary),
            width=max(6.8, 3.7 * len(tasks)),
            height=6.2,
            handles=legend_handles(configuration, models, [counts.run for counts in counted]),
            notes=notes_of(configuration, summary, [counts.run for counts in counted]),
        )
        axes = body.subplots(2, len(tasks), squeeze=False)
        for task, above, below in zip(tasks, *axes, strict=True):
            shown = [counts for counts in counted if counts.run["task"] == task]
            for model in models:
                seeds = [counts for counts in shown if counts.run["model"] == model]
                if seeds:
                    draw_counts(above, seeds, style_of(configuration, model, models))
                    draw_ends(below, [counts.run for counts in seeds], style_of(configuration, model, models))
            describe(configuration, task, [run for run in summary if run["task"] == task], above, below)
        for ax in axes[0, 1:]:
            ax.sharey(axes[0, 0])
        axes[0, 0].autoscale_view(scalex=False)
        axes[0, 0].set_ylabel("Function evaluations\nof a training iteration")
        axes[1, 0].set_ylabel("Test accuracy (%)")
        body.align_ylabels(axes)
    return figure


def read_counts(root: Path, run: Mapping[str, str]) -> Counts | None:
    """What a run counted; None for one whose network has no solver, or that diverged before its first evaluation.

    Raises:
        UserError: its metrics.csv is missing or damaged.
    """
    path = root / run["directory"] / "metrics.csv"
    again = remedy(path)
    check(path)
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            rows = list(csv.DictReader(handle))
        if not rows or "nfe_forward" not in rows[0]:
            return None
        epochs, *means = (
            np.array([float(row[name]) for row in rows]) for name in ("epoch", "nfe_forward", "nfe_backward")
        )
    except FileNotFoundError:
        raise UserError(f"{path} is missing: its run has not finished, or was removed; {again}") from None
    except (KeyError, TypeError, ValueError, csv.Error) as error:
        raise UserError(f"{path} is not readable ({type(error).__name__}: {error}): {again}") from None
    return Counts(run, epochs, dict(zip(DIRECTIONS, means, strict=True)))


def style_of(configuration: Configuration, model: str, models: Sequence[str]) -> dict[str, Any]:
    """The model's colour, and a marker of its own for who cannot tell it."""
    colour = configuration.models[model].get("colour", "black")
    return {"color": colour, "marker": MARKERS[models.index(model) % len(MARKERS)]}


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


def draw_ends(ax: Axes, runs: Sequence[Mapping], style: Mapping[str, Any]) -> None:
    """One model's reported evaluations: a small mark per seed, a large one with bars for mean ± standard deviation."""
    ends = [json.loads(run["measured"]) for run in runs if run["status"] == "finished" and run["measured"]]
    if not ends:
        return
    x, y = [end["nfe_forward"] for end in ends], [100 * end["test_accuracy"] for end in ends]
    ax.plot(x, y, **style, linestyle="none", ms=3, alpha=0.5, mew=0)
    (x_mean, x_std), (y_mean, y_std) = mean_and_std(x), mean_and_std(y)
    bars = {"xerr": x_std, "yerr": y_std} if len(ends) > 1 else {}
    container = ax.errorbar([x_mean], [y_mean], **bars, **style, linestyle="none", ms=6, elinewidth=1, capsize=2)
    container.lines[0].set_gid(f"end {runs[0]['model']}")


def describe(configuration: Configuration, task: str, runs: Sequence[Mapping], above: Axes, below: Axes) -> None:
    """Titles, scales and labels of a task's two panels."""
    about = [task_title(configuration, task, runs), sizes_of(runs), data_of(configuration, task, runs)]
    above.set_title("\n".join(line for text in about for line in textwrap.wrap(text, 50)), linespacing=1.3)
    above.set_xlabel("Epoch")
    below.set_xlabel("Forward evaluations of an iteration")
    above.set_yscale("log")
    below.set_xscale("log")
    above.xaxis.set_major_locator(MaxNLocator(integer=True))
    plain_numbers(above.yaxis)
    plain_numbers(below.xaxis)
    for ax in (above, below):
        if not ax.has_data():
            ax.text(0.5, 0.5, "no run got as far as a value here", transform=ax.transAxes, ha="center", color="0.4")


def legend_handles(configuration: Configuration, models: Sequence[str], runs: Sequence[Mapping]) -> list[Line2D]:
    """One entry per model, with its diverged runs, then one per direction."""
    handles = []
    for model in models:
        own = [run for run in runs if run["model"] == model]
        label = own[0]["label"] + divergence_note(own)
        handles.append(Line2D([], [], **style_of(configuration, model, models), label=label))
    return handles + [
        Line2D([], [], color="0.2", linestyle=dashes, label=f"{direction}s") for direction, dashes in DIRECTIONS.items()
    ]


def notes_of(configuration: Configuration, summary: Sequence[Mapping], counted: Sequence[Mapping]) -> list[str]:
    """The caption, by paragraph; `counted` are the runs that have a solver."""
    rules = dict.fromkeys((run["rule"], run["metric"]) for run in counted if run["metric"])
    chosen = " or ".join(f"{RULES.get(rule, rule)} {metric.replace('_', ' ')}" for rule, metric in rules)
    drawn = (
        "Above: function evaluations of a training iteration, the mean since the evaluation before; thin: seeds, "
        "thick: their mean (a dashed line may lie on a solid one); ×: a seed diverged after this. Below: test accuracy "
        f"and function evaluations at each seed's evaluation with the {chosen or 'reported number'} (small), their "
        "mean ± sample standard deviation (large); without diverged seeds."
    )
    specs = {(run["task_title"], run["label"]): spec_of(configuration, run) for run in counted}
    return [
        " ".join(scale_notes(configuration)),
        drawn,
        " ".join(filter(None, (turn_note(specs), solver_note(specs)))),
        *divergence_notes(summary),
        made_note(summary),
    ]


def spec_of(configuration: Configuration, run: Mapping[str, str]) -> Mapping[str, Any]:
    return find(configuration, run["task"], run["variant"], int(run["seed"])).spec


def turn_note(specs: Mapping[tuple[str, str], Mapping]) -> str:
    """Which models train in turn, and what that does to their counts; `specs` by task and model. Empty without any."""
    labels = dict.fromkeys(label for (_, label), spec in specs.items() if spec["training"].get("alternating"))
    if not labels:
        return ""
    return (
        f"{', '.join(labels)}: trained in turn (Algorithm 1), so an iteration solves twice forwards and twice "
        "backwards; both count."
    )


def solver_note(specs: Mapping[tuple[str, str], Mapping]) -> str:
    """The solvers by task: "Solvers: MNIST images: dopri5, ... (ODE-Net); rk4, ... (RKNet). SVHN: ..."."""
    by_task: dict[str, dict[str, list[str]]] = {}
    for (task, label), spec in specs.items():
        if "solver" not in spec["hyperparameters"]:  # a network of the user's own may say it in another way
            continue
        text = solver_text(spec["hyperparameters"]["solver"])
        by_task.setdefault(task, {}).setdefault(text, []).append(label)
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
