"""Squared errors of forecasts: above over time, below over row numbers, as the paper has it (ACE-NODE, Figure 5)."""

from collections.abc import Mapping
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hidden_dynamics.artifacts import naive_baselines
from hidden_dynamics.artifacts.figure_notes import sizes_of, splits_note, task_title
from hidden_dynamics.artifacts.kinds.error_over_time import ErrorOverTime
from hidden_dynamics.artifacts.kinds.error_over_time.mean_errors import BLOCK, Bins, bins_of, blocks
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
from hidden_dynamics.results.departures import listed
from hidden_dynamics.results.naive import mean_scores
from hidden_dynamics.results.predictions import Predictions
from hidden_dynamics.results.run_files import RunFiles

METRIC = "test_mse"  # the mean of what is drawn over time
PAPERS_MODELS = ("gru_ode_bayes", "ace_gru_ode_bayes")  # the two lines of the paper's figure


def draw(artifact: ErrorOverTime, sources: Sources) -> Figure:
    """Two panels, one above the other, a line per model.

    Raises:
        UserError: a file is missing or damaged.
    """
    answers = answers_of(sources, read_predictions)
    bins = bins_of([one.answer for one in answers.answered]) if answers.answered else None
    naive = mean_scores(sources.summary, METRIC)
    panels = [time_panel(answers, bins, naive), rows_panel(answers)]
    decimals = artifact.configuration.metrics[METRIC].decimals
    above = " ".join(filter(None, [time_note(answers, bins), naive_baselines.note(naive, decimals)]))
    return lines_figure(artifact.settings, answers, panels, [above, rows_note(answers)], naive)


def read_predictions(files: RunFiles) -> Predictions | None:
    """A run's predictions; None where there are none of what was observed."""
    predictions = files.predictions()
    return predictions if predictions is not None and predictions.mask.any() else None


def time_panel(answers: Answers, bins: Bins | None, naive: Mapping[str, float]) -> Panel:
    configuration, runs = answers.configuration, answers.runs
    about = "Over time: mean squared error of the observed targets"
    title = title_of(answers, about, sizes_of(configuration, runs), task_title(configuration, runs))
    return Panel(title, partial(draw_over_time, answers=answers, bins=bins, naive=naive))


def rows_panel(answers: Answers) -> Panel:
    """Its title names the seed and its split, with the paper's where that is another one: the first."""
    seed = answers.runs[0]["seed"]
    split = seed if splits_note(answers.configuration, answers.runs) else "0"
    title = (
        "As in the paper: over row numbers, which its figure labels “Testing Time”; "
        f"seed {seed}, split {split}{'' if split == '0' else ' (paper: 0)'}"
    )
    return Panel([title], partial(draw_over_rows, answers=answers))


def draw_over_time(ax: Axes, answers: Answers, bins: Bins | None, naive: Mapping[str, float]) -> None:
    ax.set_xlabel("Time of the target")
    ax.set_ylabel("Mean squared error")
    if bins is None:
        write_instead(ax, NO_VALUE)
        return
    draw_models(ax, bins.times, answers, bins.means, naive)


def draw_over_rows(ax: Axes, answers: Answers) -> None:
    """Each model's mean over blocks of rows, of its run with the first seed."""
    ax.set_xlabel("Number of the target’s row (rows sorted by series, then time)")
    ax.set_ylabel(f"Mean over {BLOCK} rows × all features,\nnot observed: 0")
    for model, style in answers.styles.items():
        for one in answers.of(model):
            if one.run["seed"] == answers.runs[0]["seed"]:
                ax.plot(*blocks(one.answer), **style | {"linewidth": 1.1}, gid=f"curve {model}")
    if not ax.has_data():
        write_instead(ax, NO_VALUE)
        return
    ax.set_ylim(bottom=0)
    ax.set_xmargin(0.01)


def time_note(answers: Answers, bins: Bins | None) -> str:
    """The first panel: its bins, what is averaged in them, its lines and bands."""
    if bins is None:
        return ""
    counts = np.array([bins.counts(one.answer) for one in answers.answered])
    means = np.array([bins.means(one.answer) for one in answers.answered])
    gaps = " A line has a gap where an error is not finite." if np.isnan(means[counts > 0]).any() else ""
    few, many, number = counts.min(), counts.max(), bins.times.size
    places = f"{number} bins of time, as even as equal times allow" if number > 1 else "one bin"
    return (
        f"Above: the observed entries of a run’s targets on its test set, in {places} "
        f"({few if few == many else f'{few} to {many}'} in a bin), which stand at their mean time. "
        f"{lines_note(answers)}{gaps}"
    )


def rows_note(answers: Answers) -> str:
    """The second panel: what the paper draws, and what its axis is."""
    added = [label for model, label in answers.models.items() if model not in PAPERS_MODELS]
    shape = f" × {answers.answered[0].answer.features}" if answers.answered else " × D"
    return (
        f"Below: the rows of the targets, sorted by series, then time, in groups of {BLOCK}; at the number of a "
        f"group’s first row, the mean over its {BLOCK}{shape} entries, those not observed with an error of 0. The "
        "paper’s axis is labelled “Testing Time”, but its released script draws these row numbers: from left to right, "
        "one series follows another, all of about the same times."
        + (f" Added to the paper’s lines: {listed(added)}." if added else "")
    )
