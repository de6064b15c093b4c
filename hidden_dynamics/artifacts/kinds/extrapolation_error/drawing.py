"""Squared errors of extrapolated series by the hour (ACE-NODE, Figures 6 and 7): a line per model."""

import textwrap
from functools import partial

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator
from numpy.typing import NDArray

from hidden_dynamics.artifacts.figure_notes import (
    data_of,
    made_note,
    scale_note,
    sizes_of,
    splits_note,
    subtitle_of,
    task_title,
    weights_note,
)
from hidden_dynamics.artifacts.kinds.extrapolation_error import ExtrapolationError
from hidden_dynamics.artifacts.mean_lines import (
    Answers,
    answers_of,
    draw_means,
    legend_handles,
    lines_note,
    missing_note,
)
from hidden_dynamics.artifacts.notes import divergence_notes
from hidden_dynamics.artifacts.panels import Panel, Panels, keys_of
from hidden_dynamics.artifacts.sheet import NO_VALUE, STYLE, Styles, line_styles, page, write_instead
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import PREDICTIONS, resampled
from hidden_dynamics.errors import UserError
from hidden_dynamics.results.run_files import RunFiles

TITLE = 110  # characters in a line of the panel's title
THOUSANDTHS = 1000.0  # the errors' unit, as in the paper's tables


def draw(artifact: ExtrapolationError, sources: Sources) -> Figure:
    """One panel.

    Raises:
        UserError: a file is missing, damaged, or has other hours than the others.
    """
    configuration, answers = artifact.configuration, read_answers(sources)
    styles = line_styles(configuration, answers.runs)
    with matplotlib.rc_context(STYLE):
        figure, body = page(
            artifact.settings,
            subtitle=subtitle_of(configuration, answers.runs),
            width=8.2,
            height=3.6,
            handles=legend_handles(answers, styles),
            notes=notes_of(configuration, answers),
        )
        ax = body.subplots()
        panel = panel_of(configuration, answers, styles)
        panel.draw(ax)
        ax.set_title("\n".join(panel.title), linespacing=1.3)
    return figure


def taken_apart(artifact: ExtrapolationError, sources: Sources) -> Panels:
    """The same figure for the page."""
    configuration, answers = artifact.configuration, read_answers(sources)
    styles = line_styles(configuration, answers.runs)
    return Panels(
        subtitle=subtitle_of(configuration, answers.runs),
        panels=[panel_of(configuration, answers, styles)],
        keys=keys_of(styles, legend_handles(answers, styles)),
        marks=[],
        notes=notes_of(configuration, answers),
    )


def read_answers(sources: Sources) -> Answers:
    """The errors of the finished runs, all in the same bins of time.

    Raises:
        UserError: a file is missing or damaged, or its bins are others than the first run's.
    """
    answered = answers_of(sources, RunFiles.courses)
    for one in answered:
        if not np.array_equal(one.answer.error_time, answered[0].answer.error_time):
            path = sources.root / one.run["directory"] / PREDICTIONS
            first = f"{answered[0].run['label']}, seed {answered[0].run['seed']}"
            text = f"{path}: its errors are of other hours than those of {first}: remove it and run snakemake again."
            raise UserError(text, file=path)
    return Answers(sources.summary, answered)


def panel_of(configuration: Configuration, answers: Answers, styles: Styles) -> Panel:
    runs = answers.runs
    about = [task_title(configuration, runs), sizes_of(configuration, runs), "mean squared error of observed entries"]
    title = [", ".join(filter(None, about)), *textwrap.wrap(data_of(configuration, runs), TITLE)]
    return Panel(title, partial(draw_errors, configuration=configuration, answers=answers, styles=styles))


def draw_errors(ax: Axes, configuration: Configuration, answers: Answers, styles: Styles) -> None:
    """Each model's mean over its runs, with its band, or its runs' own lines where they are few; bins in which nothing
    was observed are left out."""
    ax.set_xlabel("Hours after admission")
    ax.set_ylabel("Mean squared error, 10⁻³")
    counts = counts_of(answers)
    if not counts.any():
        write_instead(ax, NO_VALUE)
        return
    edges, seen = answers.answered[0].answer.error_time, counts.any(axis=0)
    heights = [0.0]
    for model, style in styles.items():
        values = [THOUSANDTHS * one.answer.errors[seen] for one in answers.of(model)]
        if values:
            share = resampled(configuration, answers.runs[0]["task"], model)
            heights.append(draw_means(ax, middles(edges)[seen], np.array(values), share, model, style))
    ax.set_xlim(edges[0], edges[-1])
    ax.xaxis.set_major_locator(MultipleLocator(4))
    ax.set_ylim(0, 1.08 * max(heights) or 1.0)


def counts_of(answers: Answers) -> NDArray:
    """(runs, b) int64: how many entries of each run's test set were observed in each bin."""
    return np.array([one.answer.error_count for one in answers.answered])


def middles(edges: NDArray) -> NDArray:
    """(b,) the middle of each bin of (b + 1,) edges."""
    return (edges[:-1] + edges[1:]) / 2


def notes_of(configuration: Configuration, answers: Answers) -> list[str]:
    """The caption, by paragraph."""
    runs = answers.runs
    drawn = [drawn_note(configuration, answers), splits_note(configuration, runs), weights_note(configuration, runs)]
    paragraphs = [
        scale_note(configuration, runs),
        " ".join(filter(None, drawn)),
        missing_note(answers),
        *divergence_notes(runs),
        made_note(runs),
    ]
    return [paragraph for paragraph in paragraphs if paragraph]


def drawn_note(configuration: Configuration, answers: Answers) -> str:
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
        f"{lines_note(configuration, answers)}{gaps}"
    )
