"""Squared errors of extrapolated series by the hour (ACE-NODE, Figures 6 and 7): a line per model."""

from collections.abc import Mapping
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator
from numpy.typing import NDArray

from hidden_dynamics.artifacts import naive_baselines
from hidden_dynamics.artifacts.figure_notes import sizes_of, task_title
from hidden_dynamics.artifacts.kinds.extrapolation_error import ExtrapolationError
from hidden_dynamics.artifacts.mean_lines import (
    Answers,
    Panel,
    answers_of,
    draw_models,
    lines_figure,
    lines_note,
    title_of,
)
from hidden_dynamics.artifacts.sheet import NO_VALUE, write_instead
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.configuration.runs import PREDICTIONS
from hidden_dynamics.errors import UserError
from hidden_dynamics.results.naive import mean_scores
from hidden_dynamics.results.run_files import RunFiles

METRIC = "test_extrapolation_mse_observed"  # the mean of what is drawn
THOUSANDTHS = 1000.0  # the errors' unit, as in the paper's tables


def draw(artifact: ExtrapolationError, sources: Sources) -> Figure:
    """One panel.

    Raises:
        UserError: a file is missing, damaged, or has other hours than the others.
    """
    answers, metric = read_answers(sources), artifact.configuration.metrics[METRIC]
    naive = mean_scores(sources.summary, METRIC, metric.factor)
    drawn = " ".join(filter(None, [drawn_note(answers), naive_baselines.note(naive, metric.decimals)]))
    return lines_figure(artifact.settings, answers, [panel_of(answers, naive)], [drawn], naive)


def read_answers(sources: Sources) -> Answers:
    """The errors of the finished runs, all in the same bins of time.

    Raises:
        UserError: a file is missing or damaged, or its bins are others than the first run's.
    """
    answers = answers_of(sources, RunFiles.courses)
    for one in answers.answered:
        first = answers.answered[0]
        if not np.array_equal(one.answer.error_time, first.answer.error_time):
            path = sources.root / one.run["directory"] / PREDICTIONS
            other = f"{first.run['label']}, seed {first.run['seed']}"
            text = f"{path}: its errors are of other hours than those of {other}: remove it and run snakemake again."
            raise UserError(text, file=path)
    return answers


def panel_of(answers: Answers, naive: Mapping[str, float]) -> Panel:
    configuration, runs = answers.configuration, answers.runs
    about = [task_title(configuration, runs), sizes_of(configuration, runs), "mean squared error of observed entries"]
    return Panel(title_of(answers, *about), partial(draw_errors, answers=answers, naive=naive))


def draw_errors(ax: Axes, answers: Answers, naive: Mapping[str, float]) -> None:
    """Lines over the hours; those in which nothing was observed are left out."""
    ax.set_xlabel("Hours after admission")
    ax.set_ylabel("Mean squared error, 10⁻³")
    counts = counts_of(answers)
    if not counts.any():
        write_instead(ax, NO_VALUE)
        return
    edges, seen = answers.answered[0].answer.error_time, counts.any(axis=0)
    draw_models(ax, middles(edges)[seen], answers, lambda answer: THOUSANDTHS * answer.errors[seen], naive)
    ax.set_xlim(edges[0], edges[-1])
    ax.xaxis.set_major_locator(MultipleLocator(4))


def counts_of(answers: Answers) -> NDArray:
    """(runs, b) int64: how many entries of each run's test set were observed in each bin."""
    return np.array([one.answer.error_count for one in answers.answered])


def middles(edges: NDArray) -> NDArray:
    """(b,) the middle of each bin of (b + 1,) edges."""
    return (edges[:-1] + edges[1:]) / 2


def drawn_note(answers: Answers) -> str:
    """What is averaged, and over which entries; what lines and bands are."""
    if not answers.answered:
        return ""
    first, counts = answers.answered[0].answer, counts_of(answers)
    seen = counts.any(axis=0)
    few, many = (counts[:, seen].min(), counts.max()) if seen.any() else (0, 0)
    errors = np.array([one.answer.errors for one in answers.answered])[:, seen]
    gaps = "" if seen.all() else " Hours in which nothing was observed have no point."
    gaps += " A line has a gap where an error is not finite." if np.isnan(errors).any() else ""
    width = float(first.error_time[1] - first.error_time[0])
    return (
        f"Drawn: squared errors on a run’s test set, given what was measured in the first {first.until:g} hours, on "
        "the scale on which the networks are trained, averaged over samples and over what was observed of all features "
        f"within {width:g} h ({few if few == many else f'{few} to {many}'} entries); a point is at the middle. The "
        "paper does not say how its figure averages, and no code of it was released. "
        f"{lines_note(answers)}{gaps}"
    )
