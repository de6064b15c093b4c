"""Figures of lines of what runs answered: a model's mean over its runs with a band, panel by panel."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from hidden_dynamics.artifacts import naive_baselines
from hidden_dynamics.artifacts.base import ArtifactSettings
from hidden_dynamics.artifacts.figure_notes import (
    band_text,
    data_of,
    legend_label,
    made_note,
    scale_note,
    splits_note,
    subtitle_of,
    weights_note,
)
from hidden_dynamics.artifacts.notes import divergence_notes
from hidden_dynamics.artifacts.sheet import STYLE, Styles, line_styles, page
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import resampled
from hidden_dynamics.results.rows import Row
from hidden_dynamics.results.run_files import RunFiles
from hidden_dynamics.results.statistics import FEWEST, mean_band

TITLE = 110  # characters in a line of a panel's title


@dataclass(frozen=True)
class Answered:
    """A run that finished (its row of the summary), and what it answered."""

    run: Row
    answer: Any


@dataclass(frozen=True)
class Answers:
    """
    Attributes:
        runs: all rows of the summary.
        answered: the finished runs that answered something.
    """

    configuration: Configuration
    runs: Sequence[Row]
    answered: Sequence[Answered]

    @property
    def models(self) -> dict[str, str]:
        """The label of each model, in the order of the runs."""
        return {run["model"]: run["label"] for run in self.runs}

    @property
    def styles(self) -> Styles:
        """The style of each model's line, in the same order."""
        return line_styles(self.configuration, self.runs)

    def of(self, model: str) -> list[Answered]:
        return [one for one in self.answered if one.run["model"] == model]


@dataclass(frozen=True)
class Panel:
    """
    Attributes:
        title: by line.
        draw: draws all but the title into axes.
    """

    title: Sequence[str]
    draw: Callable[[Axes], None]


def lines_figure(
    settings: ArtifactSettings,
    answers: Answers,
    panels: Sequence[Panel],
    notes: Sequence[str],
    naive: Mapping[str, float],
) -> Figure:
    """Panels of such lines, one above the other, with one legend.

    Args:
        naive: the scores of the naive baselines that are drawn, by name.
        notes: the caption's paragraphs on what is drawn there, the first of them on lines that are means.
    """
    with matplotlib.rc_context(STYLE):
        figure, body = page(
            settings,
            subtitle=subtitle_of(answers.configuration, answers.runs),
            width=8.2,
            height=3.6 + 2.8 * (len(panels) - 1),
            handles=[*legend_handles(answers), *naive_baselines.handles(naive)],
            notes=caption(answers, *notes),
        )
        axes = body.subplots(len(panels), 1, squeeze=False)[:, 0]
        for ax, panel in zip(axes, panels, strict=True):
            panel.draw(ax)
            ax.set_title("\n".join(panel.title), linespacing=1.3)
        body.align_ylabels(axes)
    return figure


def caption(answers: Answers, means: str, *others: str) -> list[str]:
    """By paragraph: what is drawn, and what is said of all such runs."""
    configuration, runs = answers.configuration, answers.runs
    paragraphs = [
        scale_note(configuration, runs),
        " ".join(filter(None, [means, splits_note(configuration, runs), weights_note(configuration, runs)])),
        *others,
        missing_note(answers),
        *divergence_notes(runs),
        made_note(runs),
    ]
    return [paragraph for paragraph in paragraphs if paragraph]


def answers_of(sources: Sources, read: Callable[[RunFiles], Any]) -> Answers:
    """What the finished runs answered; without those for which `read` gives None.

    Raises:
        UserError: a file is missing or damaged.
    """
    finished = [run for run in sources.summary if run["status"] == "finished"]
    found = [Answered(run, read(RunFiles(sources.root / run["directory"]))) for run in finished]
    answered = [one for one in found if one.answer is not None]
    return Answers(sources.artifact.configuration, sources.summary, answered)


def title_of(answers: Answers, *about: str) -> list[str]:
    """A panel's title: what it is about, then the data that were really used."""
    data = data_of(answers.configuration, answers.runs)
    return [", ".join(filter(None, about)), *textwrap.wrap(data, TITLE)]


def draw_models(
    ax: Axes, x: NDArray, answers: Answers, values_of: Callable[[Any], NDArray], naive: Mapping[str, float]
) -> None:
    """Each model's mean over its runs, with its band, or its runs' own lines where they are few; and the axis' height.

    Args:
        values_of: gives the values (points,) of an answer, nan where there is none.
        naive: the scores of naive baselines, by name.
    """
    heights = [0.0]
    for model, style in answers.styles.items():
        values = [values_of(one.answer) for one in answers.of(model)]
        if values:
            share = resampled(answers.configuration, answers.runs[0]["task"], model)
            heights.append(draw_means(ax, x, np.array(values), share, model, style))
    naive_baselines.draw(ax, naive)
    ax.set_ylim(0, 1.08 * max(heights + naive_baselines.in_sight(naive, max(heights))) or 1.0)


def draw_means(ax: Axes, x: NDArray, values: NDArray, share: float, model: str, style: Mapping[str, Any]) -> float:
    """A model's values (runs, points), nan where there is none, and their band (`resampled` of `mean_band`: share).

    Returns:
        the height that the axis should have: of lines and band, but of a band no more than twice the lines'.
    """
    mean, low, high = mean_band(values, resampled=share)
    if len(values) >= FEWEST:
        ax.fill_between(x, low, high, color=style["color"], alpha=0.12, linewidth=0, gid=f"band {model}")
    elif len(values) > 1:
        for own in values:
            ax.plot(x, own, color=style["color"], alpha=0.45, linewidth=0.7, gid=f"seed {model}")
    ax.plot(x, mean, **style, marker="o", ms=3.5, gid=f"curve {model}")
    top = _highest(values if len(values) < FEWEST else mean)
    return min(max(top, _highest(high)), 2 * top)


def lines_note(answers: Answers) -> str:
    """What lines and bands are, which depends on how many runs of a model answered."""
    numbers = sorted({len(answers.of(model)) for model in answers.models} - {0})
    band = f"{band_text(answers.configuration, answers.runs)}, cut where it leaves the axis"
    if len(numbers) == 1:
        one = {1: "Lines: 1 seed", 2: "Thick lines: mean of 2 seeds; thin: each of them"}
        return f"{one.get(numbers[0], f'Lines: mean of {numbers[0]} seeds; band: {band}')}."
    parts = [f"Lines: mean of a model’s {numbers[0]} to {numbers[-1]} seeds"]
    parts += ["thin, of a model with 2: each of them"] if 2 in numbers else []
    parts += [f"band, of a model with {FEWEST} or more: {band}"] if numbers[-1] >= FEWEST else []
    return f"{'; '.join(parts)}."


def legend_handles(answers: Answers) -> list[Line2D]:
    """One entry per model, with its diverged runs."""
    return [
        Line2D([], [], **style, label=legend_label([run for run in answers.runs if run["model"] == model]))
        for model, style in answers.styles.items()
    ]


def missing_note(answers: Answers) -> str:
    """The finished runs that predicted nothing; empty without any."""
    answered = {one.run["directory"] for one in answers.answered}
    runs = [run for run in answers.runs if run["status"] == "finished" and run["directory"] not in answered]
    texts = [f"{run['label']}, seed {run['seed']}" for run in runs]
    return f"Without predictions: {'; '.join(texts)}." if texts else ""


def _highest(values: NDArray) -> float:
    """The greatest number; 0 where all are nan."""
    return float(np.max(values[~np.isnan(values)], initial=0.0))
