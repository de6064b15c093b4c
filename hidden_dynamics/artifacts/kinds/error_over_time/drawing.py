"""Squared errors of forecasts: above over time, below over row numbers, as the paper has it (ACE-NODE, Figure 5)."""

import textwrap
from dataclasses import dataclass
from functools import partial

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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
from hidden_dynamics.artifacts.kinds.error_over_time import ErrorOverTime
from hidden_dynamics.artifacts.kinds.error_over_time.mean_errors import BLOCK, Bins, bins_of, blocks
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
from hidden_dynamics.configuration.runs import resampled
from hidden_dynamics.results.departures import listed
from hidden_dynamics.results.run_files import RunFiles

PAPERS_MODELS = ("gru_ode_bayes", "ace_gru_ode_bayes")  # the two lines of the paper's figure
TITLE = 110  # characters in a line of a panel's title


@dataclass(frozen=True)
class Content(Answers):
    """What the figure shows; `bins` is None where no run answered."""

    bins: Bins | None

    @property
    def seed(self) -> str:
        """The first one, whose rows the second panel shows."""
        return self.runs[0]["seed"]


def draw(artifact: ErrorOverTime, sources: Sources) -> Figure:
    """Two panels, one above the other, a line per model."""
    configuration, content = artifact.configuration, read_content(sources)
    styles = line_styles(configuration, content.runs)
    with matplotlib.rc_context(STYLE):
        figure, body = page(
            artifact.settings,
            subtitle=subtitle_of(configuration, content.runs),
            width=8.2,
            height=6.4,
            handles=legend_handles(content, styles),
            notes=notes_of(configuration, content),
        )
        axes = body.subplots(2, 1)
        for ax, panel in zip(axes, panels_of(configuration, content, styles), strict=True):
            panel.draw(ax)
            ax.set_title("\n".join(panel.title), linespacing=1.3)
        body.align_ylabels(axes)
    return figure


def taken_apart(artifact: ErrorOverTime, sources: Sources) -> Panels:
    """The same figure, panel by panel."""
    configuration, content = artifact.configuration, read_content(sources)
    styles = line_styles(configuration, content.runs)
    return Panels(
        subtitle=subtitle_of(configuration, content.runs),
        panels=panels_of(configuration, content, styles),
        keys=keys_of(styles, legend_handles(content, styles)),
        marks=[],
        notes=notes_of(configuration, content),
    )


def read_content(sources: Sources) -> Content:
    """The predictions of the finished runs, and the bins of their times.

    Raises:
        UserError: a file is missing or damaged.
    """
    answered = [one for one in answers_of(sources, RunFiles.predictions) if one.answer.mask.any()]
    return Content(sources.summary, answered, bins_of([one.answer for one in answered]) if answered else None)


def panels_of(configuration: Configuration, content: Content, styles: Styles) -> list[Panel]:
    runs = content.runs
    about = [sizes_of(configuration, runs), task_title(configuration, runs)]
    above = ["Over time: mean squared error of the observed targets", *about]
    below = "As in the paper: over row numbers, which its figure labels “Testing Time”"
    return [
        Panel(
            [", ".join(filter(None, above)), *textwrap.wrap(data_of(configuration, runs), TITLE)],
            partial(draw_over_time, configuration=configuration, content=content, styles=styles),
        ),
        Panel(
            [f"{below}; {split_of(configuration, content)}"], partial(draw_over_rows, content=content, styles=styles)
        ),
    ]


def split_of(configuration: Configuration, content: Content) -> str:
    """The seed of the second panel and its split, with the paper's where that is another one: the first."""
    split = content.seed if splits_note(configuration, content.runs) else "0"
    return f"seed {content.seed}, split {split}{'' if split == '0' else ' (paper: 0)'}"


def draw_over_time(ax: Axes, configuration: Configuration, content: Content, styles: Styles) -> None:
    """Each model's mean over its runs in bins of time, with its band, or its runs' own lines where they are few."""
    ax.set_xlabel("Time of the target")
    ax.set_ylabel("Mean squared error")
    if content.bins is None:
        write_instead(ax, NO_VALUE)
        return
    heights = [0.0]
    for model, style in styles.items():
        values = [content.bins.means(one.answer) for one in content.of(model)]
        if values:
            share = resampled(configuration, content.runs[0]["task"], model)
            heights.append(draw_means(ax, content.bins.times, np.array(values), share, model, style))
    ax.set_ylim(0, 1.08 * max(heights) or 1.0)


def draw_over_rows(ax: Axes, content: Content, styles: Styles) -> None:
    """Each model's mean over blocks of rows, of its run with the first seed."""
    ax.set_xlabel("Number of the target’s row (rows sorted by series, then time)")
    ax.set_ylabel(f"Mean over {BLOCK} rows × all features,\nnot observed: 0")
    for model, style in styles.items():
        for one in content.of(model):
            if one.run["seed"] == content.seed:
                ax.plot(*blocks(one.answer), **style | {"linewidth": 1.1}, gid=f"curve {model}")
    if not ax.has_data():
        write_instead(ax, NO_VALUE)
        return
    ax.set_ylim(bottom=0)
    ax.set_xmargin(0.01)


def notes_of(configuration: Configuration, content: Content) -> list[str]:
    """The caption, by paragraph."""
    runs = content.runs
    above = [time_note(configuration, content), splits_note(configuration, runs), weights_note(configuration, runs)]
    paragraphs = [
        scale_note(configuration, runs),
        " ".join(filter(None, above)),
        rows_note(content),
        missing_note(content),
        *divergence_notes(runs),
        made_note(runs),
    ]
    return [paragraph for paragraph in paragraphs if paragraph]


def time_note(configuration: Configuration, content: Content) -> str:
    """The first panel: its bins, what is averaged in them, its lines and bands."""
    if content.bins is None:
        return ""
    counts = np.array([content.bins.counts(one.answer) for one in content.answered])
    means = np.array([content.bins.means(one.answer) for one in content.answered])
    gaps = " A line has a gap where an error is not finite." if np.isnan(means[counts > 0]).any() else ""
    few, many, number = counts.min(), counts.max(), content.bins.times.size
    bins = f"{number} bins of time, as even as equal times allow" if number > 1 else "one bin"
    return (
        f"Above: the observed entries of a run’s targets on its test set, in {bins} "
        f"({few if few == many else f'{few} to {many}'} in a bin), which stand at their mean time. "
        f"{lines_note(configuration, content)}{gaps}"
    )


def rows_note(content: Content) -> str:
    """The second panel: what the paper draws, and what its axis is."""
    added = [label for model, label in content.models.items() if model not in PAPERS_MODELS]
    shape = f" × {content.answered[0].answer.features}" if content.answered else " × D"
    return (
        f"Below: the rows of the targets, sorted by series, then time, in groups of {BLOCK}; at the number of a "
        f"group’s first row, the mean over its {BLOCK}{shape} entries, those not observed with an error of 0. The "
        "paper’s axis is labelled “Testing Time”, but its released script draws these row numbers: from left to right, "
        "one series follows another, all of about the same times."
        + (f" Added to the paper’s lines: {listed(added)}." if added else "")
    )
